"""How a process comes to hold a room: it takes it, and loads all that earlier owners stored."""

import msgspec
from msgspec.structs import replace

from zataku.live import messages as said
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.rooms import CloseRoomFunction, OwnRoomFunction
from zataku.live.limits import instant_seconds
from zataku.live.moderation.design import Reactions
from zataku.live.rules.rate_limits import AT_ONCE, CommentRate
from zataku.live.rules.room_state import RECENT_COMMENTS, ReactionCounts, RoomState
from zataku.realtime.rooms.behaviour import Event, LostRoom
from zataku.table import Store

CLOSED = Event(msgspec.json.encode(said.RoomClosed()))


class Taking:
    """Takes rooms, and looks at them again."""

    def __init__(self, store: Store) -> None:
        self._own = OwnRoomFunction(store)
        self._read = GetRoomCommentsFunction(store)
        self._close = CloseRoomFunction(store)

    async def take(self, room_id: str) -> RoomState:
        """Become the owner of an open room; what earlier owners stored comes before all that this one says."""
        room = await self._own(room_id)
        assert room.epoch is not None
        standing, reactions = await self._own.standing(room.room_id)
        page = await self._read.latest(room.room_id, RECENT_COMMENTS)
        recent = tuple(reversed(page.items))
        # Whoever has to wait between two comments still has to.
        said_at = {it.sender_id: instant_seconds(it.created_at) for it in recent if it.sender_id is not None}
        paces = {sender: CommentRate(at, AT_ONCE, at) for sender, at in said_at.items()}
        return RoomState(
            room=room,
            epoch=room.epoch,
            recent=recent,
            earlier=page.cursor is not None,
            standing=standing,
            pinned=await self._read.some(room.room_id, standing.pinned),
            paces=paces,
            applause=_heard(reactions),
        )

    async def reload(self, state: RoomState) -> RoomState:
        """The room as it is now, with what became of its comments; nobody else adds any while the epoch is ours."""
        room = await self._close.now(state.room.room_id)
        if room is None or room.epoch != state.epoch:
            raise LostRoom(state.room.room_id)
        standing, _ = await self._own.standing(room.room_id)
        pinned = await self._read.some(room.room_id, standing.pinned)
        return replace(state, room=room, standing=standing, pinned=pinned)


def _heard(reactions: list[Reactions]) -> ReactionCounts:
    if not reactions:
        return ReactionCounts()
    *earlier, last = sorted(reactions, key=lambda it: it.minute)
    before = {kind: sum(getattr(it, kind) for it in earlier) for kind in ("clap", "aha", "lol")}
    return ReactionCounts(minute=last, before=before)
