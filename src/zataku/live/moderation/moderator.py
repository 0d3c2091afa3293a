"""Executes the host's actions: each is stored together with its log entry, and then published."""

from collections.abc import Sequence
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from zataku.clock import instant_ms
from zataku.live import messages
from zataku.live.design import Comment
from zataku.live.errors import comment_not_found, not_the_host, room_busy, room_closed
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import ModerateRoomFunction
from zataku.live.limits import CommentId, Epoch, HostId, LogId
from zataku.live.moderation.actions import (
    ModerationChange,
    change_deletion,
    change_mark,
    change_pause,
    change_sender_block,
    change_sender_unblock,
    change_slow_mode,
    change_word_block,
)
from zataku.live.moderation.writes import HostAction
from zataku.live.rules.comments import find_comment
from zataku.live.rules.room_state import RoomState
from zataku.platform.identity import Identity
from zataku.realtime.rooms.behaviour import StaleRoom
from zataku.table import Store, TransactionCancelled


class ModerationOutcome(msgspec.Struct, frozen=True):
    """The outcome of an action: the room after it, the events for all subscribers, and its log entry for the host.

    Without an entry nothing has changed.
    """

    state: RoomState
    events: Sequence[messages.Event] = ()
    entry: messages.LogView | None = None


class Moderator:
    """Checks, stores and describes the actions of hosts."""

    def __init__(self, store: Store) -> None:
        self._moderate = ModerateRoomFunction(store)
        self._comments = GetRoomCommentsFunction(store)

    async def execute(
        self, state: RoomState, sender: Identity, action: messages.ModerationAction, now: float, *, is_open: bool = True
    ) -> ModerationOutcome:
        """Execute an action. In a closed room, only marks and deletions are possible, and no epoch is checked.

        Raises `RequestError` when the action is refused, `StaleRoom` when the room or the comment has changed.
        """
        host = HostId(sender.account_id)
        if host != state.room.host_id:
            raise not_the_host()
        # Entries of the log sort by their time, so each needs a time of its own.
        at = max(now, state.last_action_at + 0.001)
        host_action = HostAction(
            room_id=state.room.room_id, host_id=host, at=instant_ms(at), log_id=LogId(str(uuid4()))
        )
        change = await self._change(state, host_action, action, state.epoch if is_open else None)
        if change is None:
            return ModerationOutcome(state)
        try:
            await self._moderate(change.plan, now)
        except TransactionCancelled as cancelled:
            if cancelled.conflict:
                raise room_busy() from None
            raise StaleRoom(state.room.room_id) from cancelled
        entry = messages.LogView(
            log_id=host_action.log_id,
            at=host_action.at,
            action=change.action,
            subject=change.subject,
            about=change.about,
        )
        return ModerationOutcome(replace(change.state, last_action_at=at), change.events, entry)

    async def _change(
        self, state: RoomState, host_action: HostAction, action: messages.ModerationAction, epoch: Epoch | None
    ) -> ModerationChange | None:
        match action:
            case messages.MarkComment():
                comment = await self._find(state, action.comment_id)
                return change_mark(state, host_action, action, comment, epoch)
            case messages.DeleteComment():
                if state.moderation.has_mark("DELETED", action.comment_id):
                    return None
                return change_deletion(state, host_action, await self._find(state, action.comment_id), epoch)
            case _ if epoch is None:
                raise room_closed()
            case messages.PauseRoom():
                return change_pause(state, host_action, action.on)
            case messages.SetSlowMode():
                return change_slow_mode(state, host_action, action.seconds)
            case messages.BlockWord():
                return change_word_block(state, host_action, action)
            case messages.BlockSender():
                # From the table: the comments of a removed account have no sender there.
                comment = await self._comments.get(state.room.room_id, action.comment_id)
                if not action.on:
                    return change_sender_unblock(state, host_action, action.comment_id, comment)
                if comment is None:
                    raise comment_not_found()
                return change_sender_block(state, host_action, comment)

    async def _find(self, state: RoomState, comment_id: CommentId) -> Comment:
        comment = find_comment(state, comment_id) or await self._comments.get(state.room.room_id, comment_id)
        if comment is None:
            raise comment_not_found()
        return comment
