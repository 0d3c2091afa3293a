"""Taking back what one wrote, within a minute."""

import msgspec

from zataku.errors import Conflict, Forbidden, RequestError
from zataku.live import messages as said
from zataku.live.design import Comment
from zataku.live.errors import busy, no_such_comment
from zataku.live.functions.comments import GetRoomCommentsFunction, RemoveCommentFunction
from zataku.live.limits import RETRACTION_SECONDS, CommentId, Epoch, RoomId, SenderId
from zataku.live.rules.room_state import RoomState
from zataku.platform.identity import Identity
from zataku.realtime.rooms.behaviour import Command, Event, StaleRoom
from zataku.table import Store, TransactionCancelled

_encode = msgspec.json.Encoder().encode


class Retracting:
    """Deletes people's own comments."""

    def __init__(self, store: Store) -> None:
        self._remove = RemoveCommentFunction(store)
        self._read = GetRoomCommentsFunction(store)

    async def take_back(
        self, state: RoomState, asked: Command, command: said.RetractComment, now: float
    ) -> tuple[RoomState, list[Event], said.CommentRemoved]:
        """Take a comment out of a running room."""
        if asked.is_retry and command.comment_id in state.standing.deleted:
            # An earlier owner did it, and could not say so any more.
            return state, [], said.CommentRemoved(comment_id=command.comment_id, deleted=True)
        gone = await self.removed(state.room.room_id, asked.sender, command.comment_id, now, state.epoch)
        return state.without(command.comment_id), [Event(_encode(gone), erases=True)], gone

    async def removed(
        self, room_id: RoomId, who: Identity, comment_id: CommentId, now: float, epoch: Epoch | None = None
    ) -> said.CommentRemoved:
        """Delete a comment of somebody's own that is not older than a minute; without an epoch, in a closed room."""
        sender = SenderId(who.account_id)
        try:
            await self._remove(room_id, comment_id, sender, now, epoch)
        except TransactionCancelled as cancelled:
            if cancelled.conflict:
                raise busy() from None
            if cancelled.reasons[-1].code == "condition_failed":
                raise StaleRoom(room_id) from cancelled
            raise _refusal(await self._read.one(room_id, comment_id), sender) from None
        return said.CommentRemoved(comment_id=comment_id, deleted=True)


def _refusal(found: Comment | None, sender: SenderId) -> RequestError:
    if found is None:
        return no_such_comment()
    if found.sender_id != sender:
        return Forbidden("Only who wrote a comment takes it back.", code="not_yours")
    return Conflict(f"A comment can be taken back for {RETRACTION_SECONDS} seconds.", code="too_late")
