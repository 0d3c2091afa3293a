"""Search in the comments of a room."""

import asyncio
from collections.abc import Sequence

from zataku.errors import InvalidRequest
from zataku.live.archive.messages import SearchResults
from zataku.live.design import Comment, Room
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import GetUserRoomsFunction
from zataku.live.limits import ANONYMOUS, HostId, Seq, fold_word
from zataku.live.rules.moderation_state import ModerationState
from zataku.live.rules.views import comment_view
from zataku.platform.identity import Identity
from zataku.system import AppContext

MAX_RESULTS = 100
MAX_COMMENTS_READ = 2_000
"""Comments that one request searches; the client asks again for the rest."""
MAX_CHARACTERS_READ = 100_000
"""The same for rooms of long comments: folding one takes up to a millisecond."""
PAGE_SIZE = 100
MAX_PAGE_CHARACTERS = PAGE_SIZE * 500
MAX_CONCURRENT_FOLDS = 2
"""Searches that fold comments at the same time: threads share one lock, and the rest of the server needs it."""


class Search:
    """Finds comments by a part of their content or their nickname."""

    def __init__(self, context: AppContext) -> None:
        self._rooms = GetUserRoomsFunction(context.store)
        self._comments = GetRoomCommentsFunction(context.store)
        self._moderation = GetRoomModerationFunction(context.store)
        self._fold_slots = asyncio.Semaphore(MAX_CONCURRENT_FOLDS)

    async def __call__(self, viewer: Identity, room_id: str, text: str, after: Seq) -> SearchResults:
        """The matching comments after a `seq`, ignoring the case and width of letters."""
        room = await self._rooms.get(room_id)
        needle = fold_word(text)
        if not needle:
            raise InvalidRequest("There is nothing to look for. Write a word or a part of one.")
        # Hidden comments are not searched: the number of results would give them away.
        before = await self._visible_to(viewer, room)
        matching, next_seq = await self._search(room, needle, after, before)
        # Read again, for comments that were hidden during the search.
        now = await self._visible_to(viewer, room) if matching else before
        visible = [comment_view(it, room.host_id) for it in matching if not now.is_gone(it.comment_id)]
        return SearchResults(comments=visible, next=next_seq)

    async def _search(
        self, room: Room, needle: str, after: Seq, moderation: ModerationState
    ) -> tuple[list[Comment], Seq | None]:
        """The matching comments within the limits of a request, and the `seq` to continue from if there may be more."""
        matching: list[Comment] = []
        comments = characters = 0
        async for page, has_more in self._comments.pages(room.room_id, after, PAGE_SIZE):
            visible = [it for it in page if not moderation.is_gone(it.comment_id)]
            async with self._fold_slots:
                # In a thread: folding the longest comments would block the event loop too long.
                matching += await asyncio.to_thread(_matching, visible, needle)
            if len(matching) >= MAX_RESULTS:
                return matching[:MAX_RESULTS], matching[MAX_RESULTS - 1].seq
            comments += len(page)
            characters += sum(len(it.content) for it in page)
            is_exhausted = characters > MAX_CHARACTERS_READ - MAX_PAGE_CHARACTERS
            if has_more and (comments >= MAX_COMMENTS_READ or is_exhausted):
                return matching, page[-1].seq
        return matching, None

    async def _visible_to(self, viewer: Identity, room: Room) -> ModerationState:
        """The moderation as far as it hides comments from the viewer: none from the host."""
        if room.host_id == HostId(viewer.account_id):
            return ModerationState()
        return await self._moderation.marks(room.room_id)


def _matching(comments: Sequence[Comment], needle: str) -> list[Comment]:
    return [
        it
        for it in comments
        if needle in fold_word(it.content) or (_has_nickname(it) and needle in fold_word(it.nickname))
    ]


def _has_nickname(comment: Comment) -> bool:
    """False for anonymous comments: how they are called depends on the reader's language."""
    return comment.nickname != ANONYMOUS
