"""A live room when the table fails in the middle of something."""

import pytest

from tests.live.room_commands import HALL, FailingStore, answered, asks, carry_out, close, events, hall, stored
from tests.support.stores import START
from zataku.table import ResultUnknown, Store, Throttled


async def test_a_closing_that_failed_leaves_the_room_open_with_all_that_was_said(embedded: Store) -> None:
    live_room = await hall(embedded)
    state = await live_room.acquire(HALL)
    closing = live_room._close
    healthy, closing._store = closing._store, FailingStore(closing._store, Throttled)
    kept = await carry_out(live_room, state, [asks("一"), close(), asks("二")])
    assert (answered(kept), events(kept), kept.closed) == (["一", "unsettled", "二"], ["一", "二"], None)
    closing._store = healthy
    kept = await carry_out(live_room, kept.state, [asks("三"), close()])
    assert (answered(kept), bool(kept.closed)) == (["三", "CLOSED"], True)
    assert [(it.content, it.seq) for it in await stored(embedded)] == [
        ("一", "000010000001"),
        ("二", "000010000002"),
        ("三", "000010000003"),
    ]


async def test_comments_of_which_nobody_knows_are_not_refused_as_if_they_were_not_there(embedded: Store) -> None:
    live_room = await hall(embedded)
    state = await live_room.acquire(HALL)
    posting = live_room._post
    posting._store = FailingStore(posting._store, ResultUnknown, is_stored=True)
    for owning in (live_room._own, posting._own):
        owning._store = FailingStore(owning._store, ResultUnknown)
    with pytest.raises(ResultUnknown):
        await live_room.handle(state, [asks("一")], START)
    assert [it.content for it in await stored(embedded)] == ["一"]
