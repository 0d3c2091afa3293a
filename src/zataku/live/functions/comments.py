"""Reading of comments, and removal of a sender's own.

A comment that does not fit its entity, such as one written by another version, is left out and logged: those after it
can be read all the same.
"""

from collections.abc import AsyncIterator, Sequence
from uuid import uuid4

import structlog

from zataku.live.design import Comment, comments_after, comments_before, latest_comments
from zataku.live.errors import comment_not_found, not_your_comment, room_busy, too_late_to_retract
from zataku.live.functions import Function
from zataku.live.limits import SEQ_START, CommentId, Epoch, RoomId, SenderId, Seq
from zataku.live.writes import remove_own_comment
from zataku.realtime.rooms.behaviour import StaleRoom
from zataku.table import Page, Query, Store, TransactionCancelled, UnreadableItem

PAGE_SIZE = 500
"""Comments that are decoded at once while the event loop waits: a few milliseconds."""

log = structlog.get_logger(__name__)


class GetRoomCommentsFunction(Function):
    """Reads the comments of a room, open or closed."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        # The ids of unreadable comments, each of which is logged once.
        self._unreadable: set[str] = set()

    async def __call__(self, room_id: RoomId, after: Seq, limit: int) -> Page[Comment]:
        """The comments after a `seq`, in order and with none left out that can be read."""
        return await self._page(comments_after(room_id, after), limit)

    async def before(self, room_id: RoomId, seq: Seq, limit: int) -> Page[Comment]:
        """The comments before a `seq`, the latest first."""
        return await self._page(comments_before(room_id, seq), limit)

    async def latest(self, room_id: RoomId, limit: int) -> Page[Comment]:
        """The latest comments, the latest first."""
        return await self._page(latest_comments(room_id), limit)

    async def _page(self, query: Query[Comment], limit: int) -> Page[Comment]:
        """A page that has a comment unless there is none: its reader continues from the last one."""
        page = await self._store.page(query, limit=limit, unreadable=self._report)
        while not page.items and page.cursor is not None:
            page = await self._store.page(query, limit=limit, after=page.cursor, unreadable=self._report)
        return page

    def _report(self, comment: UnreadableItem) -> None:
        comment_id = str(comment.key["commentId"])
        if comment_id not in self._unreadable:
            self._unreadable.add(comment_id)
            log.error("comment_unreadable", room=comment.key["roomId"], comment=comment_id, problem=comment.reason)

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
        comments = await self._store.get_many(keys, strong=True, unreadable=self._report) if keys else []
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
