"""What is done with comments: posting, reading, taking back."""

from collections.abc import AsyncIterator, Sequence
from uuid import uuid4

from zataku.live.design import Comment, comments_after, comments_before, latest_comments
from zataku.live.functions.function import Function
from zataku.live.limits import SEQ_START, CommentId, Epoch, RoomId, SenderId, Seq
from zataku.live.writes import post_comments, remove_own_comment
from zataku.table import Page


class PostCommentFunction(Function):
    """The owner of a room stores what was said in it."""

    async def __call__(self, posted: list[Comment], epoch: Epoch, now: float) -> None:
        """Store the comments of a tick together, in an open room of this epoch, or none of them."""
        await self._store.write(post_comments(posted, epoch), token=str(uuid4()), at=now)


class GetRoomCommentsFunction(Function):
    """Reads what was said in a room, open or closed."""

    async def __call__(self, room_id: RoomId, after: Seq, limit: int) -> Page[Comment]:
        """What was said after a place, in order and with none left out."""
        return await self._store.page(comments_after(room_id, after), limit=limit)

    async def before(self, room_id: RoomId, seq: Seq, limit: int) -> Page[Comment]:
        """What was said before a place, from the latest down."""
        return await self._store.page(comments_before(room_id, seq), limit=limit)

    async def latest(self, room_id: RoomId, limit: int) -> Page[Comment]:
        """What was said last, from the latest down."""
        return await self._store.page(latest_comments(room_id), limit=limit)

    def each(self, room_id: RoomId, after: Seq = SEQ_START) -> AsyncIterator[Comment]:
        """Everything that was said after a place, in order."""
        return self._store.each(comments_after(room_id, after))

    async def one(self, room_id: RoomId, comment_id: CommentId) -> Comment | None:
        """One comment as it is right now."""
        return await self._store.get(Comment.key(room_id=room_id, comment_id=comment_id), strong=True)

    async def some(self, room_id: RoomId, comment_ids: Sequence[CommentId]) -> dict[CommentId, Comment]:
        """Those of these comments that are there right now."""
        keys = [Comment.key(room_id=room_id, comment_id=it) for it in dict.fromkeys(comment_ids)]
        found = await self._store.get_many(keys, strong=True) if keys else []
        return {it.comment_id: it for it in found if it is not None}


class RemoveCommentFunction(Function):
    """Somebody takes back what they wrote."""

    async def __call__(
        self, room_id: RoomId, comment_id: CommentId, sender_id: SenderId, now: float, epoch: Epoch | None
    ) -> None:
        """Delete a comment of one's own that is not older than 60 seconds; without an epoch, in a closed room."""
        removing = remove_own_comment(room_id, comment_id, sender_id, now, epoch)
        await self._store.write(removing, token=str(uuid4()), at=now)
