"""Comments that cannot be read are left out, and hide none of the others."""

import pytest
from structlog.testing import capture_logs

from tests.live.entities import ROOM_ID, comment, room, store_unreadable
from zataku.live.functions.comments import GetRoomCommentsFunction
from zataku.live.limits import SEQ_START
from zataku.table import Store

READABLE = [comment(number) for number in (2, 3, 30, 31)]
UNREADABLE = [comment(number) for number in (1, *range(4, 30), 32)]


@pytest.fixture
async def comments(store: Store) -> GetRoomCommentsFunction:
    """A room in which most comments cannot be read: more of them in a row than one page looks at."""
    await store.write_many(put=[room(), *READABLE])
    for each in UNREADABLE:
        await store_unreadable(store, each)
    return GetRoomCommentsFunction(store)


@pytest.mark.parametrize("page_size", [1, 2, 100])
async def test_every_comment_that_can_be_read_is_in_a_page(comments: GetRoomCommentsFunction, page_size: int):
    pages = [page async for page, _ in comments.pages(ROOM_ID, page_size=page_size)]
    assert [it for page in pages for it in page] == READABLE


async def test_a_page_has_a_comment_to_continue_from(comments: GetRoomCommentsFunction):
    after = await comments(ROOM_ID, READABLE[1].seq or SEQ_START, 1)
    assert after.items == [READABLE[2]]
    before = await comments.before(ROOM_ID, READABLE[2].seq or SEQ_START, 1)
    assert before.items == [READABLE[1]]


async def test_the_latest_comments_are_those_that_can_be_read(comments: GetRoomCommentsFunction):
    assert (await comments.latest(ROOM_ID, 100)).items == READABLE[::-1]


async def test_the_comments_of_some_ids_are_those_that_can_be_read(comments: GetRoomCommentsFunction):
    found = await comments.get_many(ROOM_ID, [it.comment_id for it in (UNREADABLE[0], READABLE[0])])
    assert list(found.values()) == READABLE[:1]


async def test_a_comment_that_cannot_be_read_is_logged_once(comments: GetRoomCommentsFunction):
    with capture_logs() as logs:
        for _ in range(2):
            await comments.latest(ROOM_ID, 1)
    assert [(it["event"], it["comment"]) for it in logs] == [("comment_unreadable", UNREADABLE[-1].comment_id)]
