"""Snapshots of a room: one for everybody who asks at the same moment, where everybody sees the same."""

import asyncio
from typing import Generic, TypeVar

from zataku.platform.identity import Identity
from zataku.realtime.rooms.behaviour import HasEpoch, RoomBehaviour

S = TypeVar("S", bound=HasEpoch)

MOST_KEPT = 64


class SnapshotCache(Generic[S]):
    """Makes snapshots, and keeps the latest ones as long as the room stays as it was.

    A behaviour whose `shared_snapshot` is true is asked once for each `since`, however many thousands look at once.
    """

    def __init__(self, behaviour: RoomBehaviour[S]) -> None:
        self._behaviour = behaviour
        self._state: S | None = None
        self._made: dict[str | None, asyncio.Task[bytes]] = {}

    async def of(self, state: S, who: Identity, since: str | None) -> bytes:
        """What somebody sees of the room as it is in that state."""
        if not self._behaviour.shared_snapshot:
            return await self._behaviour.snapshot(state, who, since)
        if self._state is not state or len(self._made) >= MOST_KEPT:
            self._state, self._made = state, {}
        made = self._made.get(since)
        if made is None:
            made = self._made[since] = asyncio.create_task(self._behaviour.snapshot(state, who, since))
            made.add_done_callback(lambda task: self._forget_failed(since, task))
        # Somebody who goes away meanwhile does not take it from the others.
        return await asyncio.shield(made)

    def _forget_failed(self, since: str | None, task: asyncio.Task[bytes]) -> None:
        if (task.cancelled() or task.exception() is not None) and self._made.get(since) is task:
            del self._made[since]
