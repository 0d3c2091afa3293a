"""Looking for something that was said."""

import asyncio
from collections.abc import Sequence

from zataku.errors import InvalidRequest
from zataku.live.archive.reading import pages
from zataku.live.design import Comment, Room
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import GetUserRoomsFunction
from zataku.live.limits import ANONYMOUS, HostId, Seq, fold_word
from zataku.live.messages import SearchResults
from zataku.live.rules.moderation_state import ModerationState
from zataku.live.views import comment_view
from zataku.platform.identity import Identity
from zataku.system import AppContext

FOUND_AT_ONCE = 100
READ_AT_ONCE = 2_000
"""Comments that one request reads through; whoever wants to know more asks on."""
CHARACTERS_AT_ONCE = 100_000
"""The same for rooms of long comments: folding one takes up to a millisecond."""
ON_A_PAGE = 100
_LONGEST_PAGE = ON_A_PAGE * 500
FOLDING_AT_ONCE = 2
"""Searches whose comments are folded at the same time: threads share one lock, and the rest of the server needs it."""


class Search:
    """Finds comments by a part of what they say, or of the name they are under."""

    def __init__(self, context: AppContext) -> None:
        self._rooms = GetUserRoomsFunction(context.store)
        self._read = GetRoomCommentsFunction(context.store)
        self._moderation = GetRoomModerationFunction(context.store)
        self._folding = asyncio.Semaphore(FOLDING_AT_ONCE)

    async def __call__(self, viewer: Identity, room_id: str, wanted: str, after: Seq) -> SearchResults:
        """What was found after a place. Large and small, wide and narrow letters are the same."""
        room = await self._rooms.one(room_id)
        needle = fold_word(wanted)
        if not needle:
            raise InvalidRequest("There is nothing to look for. Write a word or a part of one.")
        # What is hidden already is not looked at: how many are found would tell of it.
        before = await self._standing(viewer, room)
        found, goes_on = await self._look(room, needle, after, before)
        # Once more, for what was hidden while this was looking.
        now = await self._standing(viewer, room) if found else before
        return SearchResults(
            comments=[comment_view(it) for it in found if not now.is_gone(it.comment_id)], next=goes_on
        )

    async def _look(
        self, room: Room, needle: str, after: Seq, standing: ModerationState
    ) -> tuple[list[Comment], Seq | None]:
        """What was found, and where to go on if there may be more. It ends before a page that may be too long."""
        found: list[Comment] = []
        comments = characters = 0
        async for page, more in pages(self._read, room.room_id, after, ON_A_PAGE):
            shown = [it for it in page if not standing.is_gone(it.comment_id)]
            async with self._folding:
                # In a thread: folding the longest comments takes longer than others should wait.
                found += await asyncio.to_thread(_matching, shown, needle)
            if len(found) >= FOUND_AT_ONCE:
                return found[:FOUND_AT_ONCE], found[FOUND_AT_ONCE - 1].seq
            comments += len(page)
            characters += sum(len(it.content) for it in page)
            if more and (comments >= READ_AT_ONCE or characters > CHARACTERS_AT_ONCE - _LONGEST_PAGE):
                return found, page[-1].seq
        return found, None

    async def _standing(self, viewer: Identity, room: Room) -> ModerationState:
        """What became of the comments, as far as something is kept from the viewer: nothing is from the host."""
        if room.host_id == HostId(viewer.account_id):
            return ModerationState()
        return await self._moderation.standing(room.room_id)


def _matching(comments: Sequence[Comment], needle: str) -> list[Comment]:
    return [
        it for it in comments if needle in fold_word(it.content) or (_has_name(it) and needle in fold_word(it.nickname))
    ]


def _has_name(comment: Comment) -> bool:
    """False for those without a name: what they are called instead depends on the reader's language."""
    return comment.nickname != ANONYMOUS
