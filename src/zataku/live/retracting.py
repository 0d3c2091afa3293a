"""Taking back what one wrote, within a minute."""

import msgspec

from zataku.live import messages as said
from zataku.live.design import Comment
from zataku.live.functions.comments import GetRoomCommentsFunction, RemoveCommentFunction
from zataku.live.limits import OWN_REMOVAL_SECONDS, CommentId, RoomId, SenderId
from zataku.live.refusing import busy, no_such_comment
from zataku.live.talk import Talk
from zataku.platform.identity import Identity
from zataku.realtime.behaviour import Event
from zataku.refusals import Conflict, Forbidden, Refused
from zataku.table import Store
from zataku.table.errors import ResultUnknown, TransactionCancelled

_encode = msgspec.json.Encoder().encode


class Retracting:
    """Deletes people's own comments."""

    def __init__(self, store: Store) -> None:
        self._remove = RemoveCommentFunction(store)
        self._read = GetRoomCommentsFunction(store)

    async def take_back(
        self, state: Talk, who: Identity, command: said.TakeBack, now: float
    ) -> tuple[Talk, list[Event], bytes]:
        """Take a comment out of a running room."""
        gone = await self.removed(state.room.room_id, who, command.comment_id, now)
        body = _encode(gone)
        return state.without(command.comment_id), [Event(body)], body

    async def removed(self, room_id: RoomId, who: Identity, comment_id: CommentId, now: float) -> said.CommentGone:
        """Delete a comment of somebody's own that is not older than a minute."""
        sender = SenderId(who.account_id)
        try:
            await self._remove(room_id, comment_id, sender, now)
        except ResultUnknown:
            if await self._read.one(room_id, comment_id) is not None:
                raise
        except TransactionCancelled as cancelled:
            if cancelled.conflict:
                raise busy() from None
            raise _refusal(await self._read.one(room_id, comment_id), sender) from None
        return said.CommentGone(comment_id=comment_id, deleted=True)


def _refusal(found: Comment | None, sender: SenderId) -> Refused:
    if found is None:
        return no_such_comment()
    if found.sender_id != sender:
        return Forbidden("Only who wrote a comment takes it back.", code="not_yours")
    return Conflict(f"A comment can be taken back for {OWN_REMOVAL_SECONDS} seconds.", code="too_late")
