"""Snapshots of a room, made once for all viewers where all see the same."""

import asyncio
from typing import Generic, TypeVar

from zataku.platform.identity import Identity
from zataku.realtime.rooms.behaviour import HasEpoch, RoomBehaviour

S = TypeVar("S", bound=HasEpoch)

MAX_CACHED_SNAPSHOTS = 64


class SnapshotCache(Generic[S]):
    """Makes snapshots, and keeps those of the current state.

    With `shared_snapshot`, one is made for all concurrent viewers with the same `since`.
    """

    def __init__(self, behaviour: RoomBehaviour[S]) -> None:
        self._behaviour = behaviour
        self._state: S | None = None
        self._snapshots: dict[str | None, asyncio.Task[bytes]] = {}

    async def get(self, state: S, viewer: Identity, since: str | None) -> bytes:
        """The snapshot of that state for a viewer."""
        if not self._behaviour.shared_snapshot:
            return await self._behaviour.snapshot(state, viewer, since)
        if self._state is not state or len(self._snapshots) >= MAX_CACHED_SNAPSHOTS:
            self._state, self._snapshots = state, {}
        snapshot = self._snapshots.get(since)
        if snapshot is None:
            snapshot = self._snapshots[since] = asyncio.create_task(self._behaviour.snapshot(state, viewer, since))
            snapshot.add_done_callback(lambda task: self._forget_failed(since, task))
        # A viewer who disconnects while it is made must not cancel it for the others.
        return await asyncio.shield(snapshot)

    def _forget_failed(self, since: str | None, task: asyncio.Task[bytes]) -> None:
        if (task.cancelled() or task.exception() is not None) and self._snapshots.get(since) is task:
            del self._snapshots[since]
