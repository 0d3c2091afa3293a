"""A live room when the table fails in the middle of something."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.live.test_talks import HALL, answered, asks, close, events, hall, stored
from tests.opened import START
from zataku.table import Plan, ResultUnknown, Store
from zataku.table.errors import Throttled


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


async def test_what_was_said_before_a_closing_that_failed_is_told_and_keeps_its_number(embedded: Store) -> None:
    talks = await hall(embedded)
    state = await talks.take(HALL)
    healthy, talks._closing = talks._closing, Troubled(talks._closing, Throttled)
    kept = await talks.keep(state, [asks("一"), close(), asks("二")], START)
    assert (answered(kept), events(kept), kept.over) == (["一", "unsettled", "room_closed"], ["一"], False)
    talks._closing = healthy
    kept = await talks.keep(kept.state, [asks("三"), close()], START)
    assert (answered(kept), kept.over) == (["三", "CLOSED"], True)
    assert [(it.content, it.seq) for it in await stored(embedded)] == [("一", "000010000001"), ("三", "000010000002")]


async def test_comments_of_which_nobody_knows_are_not_refused_as_if_they_were_not_there(embedded: Store) -> None:
    talks = await hall(embedded)
    state = await talks.take(HALL)
    talks._posting = Troubled(talks._posting, ResultUnknown, done=True)
    talks._owning = Troubled(talks._owning, ResultUnknown)
    with pytest.raises(ResultUnknown):
        await talks.keep(state, [asks("一")], START)
    assert [it.content for it in await stored(embedded)] == ["一"]
