"""The host's acts, carried out: each is stored with its entry in the log, and then told to those whom it concerns."""

from uuid import uuid4

import msgspec
from msgspec.structs import replace

from zataku.live import messages as said
from zataku.live.design import Comment
from zataku.live.errors import busy, closed, no_such_comment, not_the_host
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import ModerateRoomFunction
from zataku.live.limits import CommentId, Epoch, HostId, LogId, instant_ms
from zataku.live.moderation.actions import (
    ModerationChange,
    deleting,
    keeping_out_sender,
    keeping_out_word,
    letting_in,
    marking,
    pausing,
    slowing,
)
from zataku.live.moderation.writes import HostAction
from zataku.live.rules.room_state import RoomState
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.rooms.behaviour import Event, StaleRoom
from zataku.table import Store, TransactionCancelled

_encode = msgspec.json.Encoder().encode


class Governing:
    """Does what the host asks for."""

    def __init__(self, store: Store) -> None:
        self._moderate = ModerateRoomFunction(store)
        self._read = GetRoomCommentsFunction(store)

    async def act(
        self, state: RoomState, who: Identity, command: said.ModerationAction, now: float, *, over: bool = False
    ) -> tuple[RoomState, list[Event], said.ModerationResult]:
        """Carry out an act; gives the room after it, what is told, and the answer. `over`: in a closed room."""
        host = HostId(who.account_id)
        if host != state.room.host_id:
            raise not_the_host()
        # Entries of the log are in the order of their moments.
        at = max(now, state.acted_at + 0.001)
        act = HostAction(room_id=state.room.room_id, host_id=host, at=instant_ms(at), log_id=LogId(str(uuid4())))
        deed = await self._deed(state, act, command, None if over else state.epoch)
        if deed is None:
            return state, [], said.ModerationResult()
        try:
            await self._moderate(deed.plan, now)
        except TransactionCancelled as cancelled:
            if cancelled.conflict:
                raise busy() from None
            raise StaleRoom(state.room.room_id) from cancelled
        entry = said.LogView(log_id=act.log_id, at=act.at, action=deed.action, subject=deed.subject, about=deed.about)
        for_host = Event(_encode(said.Moderated(entry=entry)), recipients=frozenset({AccountId(host)}))
        told = [Event(_encode(it), erases=isinstance(it, said.CommentRemoved)) for it in deed.told]
        return replace(deed.state, acted_at=at), [*told, for_host], said.ModerationResult(entry=entry)

    async def _deed(
        self, state: RoomState, act: HostAction, command: said.ModerationAction, epoch: Epoch | None
    ) -> ModerationChange | None:
        match command:
            case said.MarkComment():
                return marking(state, act, command, await self._comment(state, command.comment_id), epoch)
            case said.DeleteComment():
                if state.standing.has("DELETED", command.comment_id):
                    return None
                return deleting(state, act, await self._comment(state, command.comment_id), epoch)
            case _ if epoch is None:
                raise closed()
            case said.PauseRoom():
                return pausing(state, act, command.on)
            case said.SetSlowMode():
                return slowing(state, act, command.seconds)
            case said.BlockWord():
                return keeping_out_word(state, act, command)
            case said.BlockSender():
                # As it is in the table: whoever wrote it may have taken their name off it.
                comment = await self._read.one(state.room.room_id, command.comment_id)
                if not command.on:
                    return letting_in(state, act, command.comment_id, comment)
                if comment is None:
                    raise no_such_comment()
                return keeping_out_sender(state, act, comment)

    async def _comment(self, state: RoomState, comment_id: CommentId) -> Comment:
        found = state.at_hand(comment_id) or await self._read.one(state.room.room_id, comment_id)
        if found is None:
            raise no_such_comment()
        return found
