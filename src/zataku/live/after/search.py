"""Looking for something that was said."""

import asyncio
from collections.abc import Sequence

from zataku.live.after.reading import pages
from zataku.live.design import Comment
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.functions.rooms import GetUserRoomsFunction
from zataku.live.limits import ANONYMOUS, HostId, Seq, folded
from zataku.live.messages import Found
from zataku.live.showing import comment_view
from zataku.live.standing import Marked
from zataku.platform.identity import Identity
from zataku.refusals import Invalid
from zataku.system import House

FOUND_AT_ONCE = 100
READ_AT_ONCE = 2_000
"""Comments that one request reads through; whoever wants to know more asks on."""
CHARACTERS_AT_ONCE = 100_000
"""The same for rooms of long comments: folding takes half a millisecond for the longest."""


class Search:
    """Finds comments by a part of what they say, or of the name they are under."""

    def __init__(self, house: House) -> None:
        self._rooms = GetUserRoomsFunction(house.store)
        self._read = GetRoomCommentsFunction(house.store)
        self._moderation = GetRoomModerationFunction(house.store)

    async def __call__(self, viewer: Identity, room_id: str, wanted: str, after: Seq) -> Found:
        """What was found after a place. Large and small, wide and narrow letters are the same."""
        room = await self._rooms.one(room_id)
        needle = folded(wanted)
        if not needle:
            raise Invalid("There is nothing to look for. Write a word or a part of one.")
        hosting = room.host_id == HostId(viewer.account_id)
        hidden: Marked = frozenset() if hosting else (await self._moderation.standing(room.room_id)).hidden
        found: list[Comment] = []
        comments = characters = 0
        async for page, more in pages(self._read, room.room_id, after):
            shown = [it for it in page if it.comment_id not in hidden]
            # In a thread: folding the longest comments takes longer than others should wait.
            found += await asyncio.to_thread(_matching, shown, needle)
            comments += len(page)
            characters += sum(len(it.content) for it in page)
            if len(found) >= FOUND_AT_ONCE:
                found = found[:FOUND_AT_ONCE]
                return Found(comments=[comment_view(it) for it in found], next=found[-1].seq)
            if more and (comments >= READ_AT_ONCE or characters >= CHARACTERS_AT_ONCE):
                return Found(comments=[comment_view(it) for it in found], next=page[-1].seq)
        return Found(comments=[comment_view(it) for it in found])


def _matching(comments: Sequence[Comment], needle: str) -> list[Comment]:
    return [it for it in comments if needle in folded(it.content) or (_has_name(it) and needle in folded(it.nickname))]


def _has_name(comment: Comment) -> bool:
    """False for those without a name: what they are called instead depends on the reader's language."""
    return comment.nickname != ANONYMOUS
