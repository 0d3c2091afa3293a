"""What is worked out from a whole room is worked out once for all who ask in the same moments."""

import asyncio
from random import Random

import pytest

from tests.live.entities import HALL, room, said
from tests.support.app_context import app_context
from tests.support.stores import START
from zataku.clock import ManualClock, instant_ms
from zataku.errors import Unavailable
from zataku.live.archive.questions import TopQuestions
from zataku.live.archive.room_cache import MAX_AGE_SECONDS, MAX_ENTRIES, RoomCache
from zataku.live.design import Room
from zataku.live.limits import RoomId
from zataku.live.moderation.design import Upvotes
from zataku.live.samples import rooms_of
from zataku.table import Store


class Maker:
    """Makes the name of a room, and notes whenever it does."""

    def __init__(self) -> None:
        self.made: list[RoomId] = []
        self.away = False

    async def __call__(self, of: Room) -> str:
        self.made.append(of.room_id)
        await asyncio.sleep(0)
        if self.away:
            raise Unavailable("The table cannot be reached. Try again.")
        return of.name


async def test_concurrent_callers_share_one_load_for_some_seconds(clock: ManualClock) -> None:
    maker = Maker()
    shared = RoomCache(clock, maker)
    assert await asyncio.gather(*(shared(room()) for _ in range(500))) == ["発表会"] * 500
    await clock.advance(MAX_AGE_SECONDS - 0.1)
    await shared(room())
    assert len(maker.made) == 1
    await clock.advance(0.1)
    await shared(room())
    assert len(maker.made) == 2


async def test_a_change_of_the_room_invalidates_the_entry(clock: ManualClock) -> None:
    maker = Maker()
    shared = RoomCache(clock, maker)
    await shared(room())
    closed = room(status="CLOSED", updated_at=instant_ms(START + 9), name="終わり")
    assert await shared(closed) == "終わり"


async def test_the_least_recently_used_entries_are_evicted(clock: ManualClock) -> None:
    maker = Maker()
    shared = RoomCache(clock, maker)
    first, second, *others = rooms_of(Random(1), START, MAX_ENTRIES + 1)
    for one in (first, second, first, *others):
        await shared(one)
    assert len(maker.made) == MAX_ENTRIES + 1
    await shared(first)
    assert len(maker.made) == MAX_ENTRIES + 1
    await shared(second)
    assert maker.made[-1] == second.room_id


async def test_a_failed_load_is_repeated(clock: ManualClock) -> None:
    maker = Maker()
    shared = RoomCache(clock, maker)
    maker.away = True
    with pytest.raises(Unavailable):
        await shared(room())
    maker.away = False
    assert await shared(room()) == "発表会"


async def test_the_questions_of_a_room_are_shared(strict: Store, clock: ManualClock) -> None:
    most_wanted = TopQuestions(app_context(strict, clock))
    asked = said(1, "Why?")
    await strict.write_many(put=[room(), asked, Upvotes(room_id=HALL, comment_id=asked.comment_id, votes=3)])
    [told] = (await most_wanted(HALL)).questions
    await strict.put(Upvotes(room_id=HALL, comment_id=asked.comment_id, votes=4))
    assert (await most_wanted(HALL)).questions == [told]
    await clock.advance(MAX_AGE_SECONDS)
    assert (await most_wanted(HALL)).questions[0].votes == 4
