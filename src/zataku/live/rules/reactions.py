"""Reactions: counted as they come, told together a few times a second, and stored minute by minute."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from zataku.live import messages as said
from zataku.live.functions.moderation import ReactFunction
from zataku.live.limits import Reaction, SenderId, instant_ms
from zataku.live.moderation.design import Reactions
from zataku.live.rules.room_state import ReactionCounts, RoomState
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import Command, Event, StaleRoom, Transient
from zataku.table import ResultUnknown, Store, TransactionCancelled

A_SECOND = 5
"""Reactions of one person that count in a second: a wave of twenty in three seconds takes two people."""

_KINDS: tuple[Reaction, ...] = ("clap", "aha", "lol")
_encode = msgspec.json.Encoder().encode


class Applauding:
    """Counts reactions, and stores the counts."""

    def __init__(self, store: Store) -> None:
        self._react = ReactFunction(store)
        self._second = 0
        self._counted: dict[AccountId, int] = {}

    def accepts(self, asked: Command, now: float) -> bool:
        """Whether one more reaction of somebody counts in this second."""
        if int(now) != self._second:
            self._second, self._counted = int(now), {}
        count = self._counted[asked.sender.account_id] = self._counted.get(asked.sender.account_id, 0) + 1
        return count <= A_SECOND

    async def flush(self, state: RoomState) -> RoomState:
        """Store the minutes that changed, whole: a count that is stored twice is still true."""
        applause = state.applause
        for minute in applause.unstored:
            try:
                await self._react(minute, state.epoch)
            except ResultUnknown:
                await self._react(minute, state.epoch)
            except TransactionCancelled as cancelled:
                if not cancelled.conflict:
                    raise StaleRoom(state.room.room_id) from cancelled
                raise
        return replace(state, applause=replace(applause, unstored=()))


def reacted(state: RoomState, asked: Command, now: float) -> Transient[RoomState]:
    """Somebody claps, understands or laughs."""
    reaction: said.React = asked.body
    kind = reaction.reaction
    if SenderId(asked.sender.account_id) in state.standing.senders:
        return Transient(state=state)
    applause = _in_minute(state, state.applause, instant_ms(now - now % 60))
    assert applause.minute is not None
    minute = replace(applause.minute, **{kind: getattr(applause.minute, kind) + 1})
    others = tuple(it for it in applause.unstored if it.minute != minute.minute)
    untold = {**applause.untold, kind: applause.untold.get(kind, 0) + 1}
    return Transient(
        state=replace(state, applause=replace(applause, untold=untold, minute=minute, unstored=(*others, minute)))
    )


def told(state: RoomState) -> Transient[RoomState]:
    """Tell how people reacted since it was last told."""
    untold = state.applause.untold
    if not untold:
        return Transient(state=state)
    event = Event(_encode(said.Reacted(**untold)))
    return Transient(state=replace(state, applause=replace(state.applause, untold={})), events=[event])


def all_of(applause: ReactionCounts) -> said.Reactions:
    """All reactions of the room that were told; those of the last moment come with the next beat."""
    counted = _sum(applause.before, applause.minute)
    return said.Reactions(**{kind: count - applause.untold.get(kind, 0) for kind, count in counted.items()})


def _in_minute(state: RoomState, applause: ReactionCounts, minute: str) -> ReactionCounts:
    if applause.minute is not None and applause.minute.minute >= minute:
        return applause
    before = _sum(applause.before, applause.minute)
    return replace(applause, before=before, minute=Reactions(room_id=state.room.room_id, minute=minute))


def _sum(before: Mapping[str, int], minute: Reactions | None) -> dict[str, int]:
    return {kind: before.get(kind, 0) + (0 if minute is None else getattr(minute, kind)) for kind in _KINDS}
