"""The comments of a room read through from a place on, some at a time, so that no room is ever held whole."""

from collections.abc import AsyncIterator

from zataku.live.design import Comment
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.limits import SEQ_START, RoomId, Seq

AT_A_TIME = 500
"""So many are turned into objects while everybody else waits: a few milliseconds."""


async def pages(
    read: GetRoomCommentsFunction, room_id: RoomId, after: Seq = SEQ_START, at_a_time: int = AT_A_TIME
) -> AsyncIterator[tuple[list[Comment], bool]]:
    """What was said after a place, a page at a time, and whether there may be more after the page."""
    while True:
        page = await read(room_id, after, at_a_time)
        more = page.cursor is not None
        if page.items:
            after = page.items[-1].seq or after
            yield page.items, more
        if not more:
            return
