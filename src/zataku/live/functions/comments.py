"""Reading of comments, and removal of a sender's own."""

from collections.abc import AsyncIterator, Sequence
from uuid import uuid4

from zataku.live.design import Comment, comments_after, comments_before, latest_comments
from zataku.live.errors import comment_not_found, not_your_comment, room_busy, too_late_to_retract
from zataku.live.functions import Function
from zataku.live.limits import SEQ_START, CommentId, Epoch, RoomId, SenderId, Seq
from zataku.live.writes import remove_own_comment
from zataku.realtime.rooms.behaviour import StaleRoom
from zataku.table import Page, Store, TransactionCancelled

PAGE_SIZE = 500
"""Comments that are decoded at once while the event loop waits: a few milliseconds."""


class GetRoomCommentsFunction(Function):
    """Reads the comments of a room, open or closed."""

    async def __call__(self, room_id: RoomId, after: Seq, limit: int) -> Page[Comment]:
        """The comments after a `seq`, in order and with none left out."""
        return await self._store.page(comments_after(room_id, after), limit=limit)

    async def before(self, room_id: RoomId, seq: Seq, limit: int) -> Page[Comment]:
        """The comments before a `seq`, the latest first."""
        return await self._store.page(comments_before(room_id, seq), limit=limit)

    async def latest(self, room_id: RoomId, limit: int) -> Page[Comment]:
        """The latest comments, the latest first."""
        return await self._store.page(latest_comments(room_id), limit=limit)

    async def pages(
        self, room_id: RoomId, after: Seq = SEQ_START, page_size: int = PAGE_SIZE
    ) -> AsyncIterator[tuple[list[Comment], bool]]:
        """All comments after a `seq`, page by page, each with whether there may be more: no room is held whole."""
        while True:
            page = await self(room_id, after, page_size)
            has_more = page.cursor is not None
            if page.items:
                after = page.items[-1].seq or after
                yield page.items, has_more
            if not has_more:
                return

    async def get(self, room_id: RoomId, comment_id: CommentId) -> Comment | None:
        """One comment as stored now."""
        return await self._store.get(Comment.key(room_id=room_id, comment_id=comment_id), strong=True)

    async def get_many(self, room_id: RoomId, comment_ids: Sequence[CommentId]) -> dict[CommentId, Comment]:
        """The comments that exist, as stored now, by id."""
        keys = [Comment.key(room_id=room_id, comment_id=it) for it in dict.fromkeys(comment_ids)]
        comments = await self._store.get_many(keys, strong=True) if keys else []
        return {it.comment_id: it for it in comments if it is not None}


class RemoveCommentFunction(Function):
    """A sender takes a comment back."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._comments = GetRoomCommentsFunction(store)

    async def __call__(
        self, room_id: RoomId, comment_id: CommentId, sender: SenderId, now: float, epoch: Epoch | None
    ) -> None:
        """Delete a comment of the sender that is not older than a minute; without an epoch, in a closed room.

        Raises `RequestError` when the comment is not theirs to delete, `StaleRoom` when the room has changed.
        """
        try:
            await self._store.write(
                remove_own_comment(room_id, comment_id, sender, now, epoch), token=str(uuid4()), at=now
            )
        except TransactionCancelled as cancelled:
            if cancelled.conflict:
                raise room_busy() from None
            if cancelled.reasons[-1].code == "condition_failed":
                raise StaleRoom(room_id) from cancelled
            comment = await self._comments.get(room_id, comment_id)
            if comment is None:
                raise comment_not_found() from None
            raise (not_your_comment() if comment.sender_id != sender else too_late_to_retract()) from None
