"""A live room when the table fails in the middle of something."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.live.test_room import HALL, answered, asks, carry_out, close, events, hall, stored
from tests.support.stores import START
from zataku.table import Plan, ResultUnknown, Store, Throttled


class Troubled:
    """A store whose writes go wrong, before or after they were done."""

    def __init__(self, store: Any, problem: Callable[[str], Exception], *, done: bool = False) -> None:
        self._store, self._problem, self._done = store, problem, done

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, plan: Plan[Any], **how: Any) -> Any:
        if self._done:
            await self._store.write(plan, **how)
        raise self._problem("The table is in trouble.")


async def test_a_closing_that_failed_leaves_the_room_open_with_all_that_was_said(embedded: Store) -> None:
    talks = await hall(embedded)
    state = await talks.acquire(HALL)
    closing = talks._close
    healthy, closing._store = closing._store, Troubled(closing._store, Throttled)
    kept = await carry_out(talks, state, [asks("一"), close(), asks("二")])
    assert (answered(kept), events(kept), kept.closed) == (["一", "unsettled", "二"], ["一", "二"], None)
    closing._store = healthy
    kept = await carry_out(talks, kept.state, [asks("三"), close()])
    assert (answered(kept), bool(kept.closed)) == (["三", "CLOSED"], True)
    assert [(it.content, it.seq) for it in await stored(embedded)] == [
        ("一", "000010000001"),
        ("二", "000010000002"),
        ("三", "000010000003"),
    ]


async def test_comments_of_which_nobody_knows_are_not_refused_as_if_they_were_not_there(embedded: Store) -> None:
    talks = await hall(embedded)
    state = await talks.acquire(HALL)
    posting, owning = talks._speaking._post, talks._taking._own
    posting._store = Troubled(posting._store, ResultUnknown, done=True)
    owning._store = Troubled(owning._store, ResultUnknown)
    with pytest.raises(ResultUnknown):
        await talks.handle(state, [asks("一")], START)
    assert [it.content for it in await stored(embedded)] == ["一"]
