"""A value computed from a whole room is computed once for all callers within some seconds."""

import asyncio
from random import Random

import pytest

from tests.live.entities import ROOM_ID, comment, hidden_mark, room
from tests.support.app_context import app_context
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.errors import Unavailable
from zataku.live.archive.questions import TopQuestions
from zataku.live.archive.room_cache import MAX_AGE_SECONDS, MAX_CONCURRENT_LOADS, MAX_ENTRIES, RoomCache
from zataku.live.design import Room
from zataku.live.functions.moderation import GetRoomModerationFunction
from zataku.live.limits import RoomId
from zataku.live.moderation.design import Mark, Upvotes
from zataku.live.samples import rooms_of
from zataku.live.service import LiveRooms
from zataku.table import Store


class NameLoader:
    """Loads the name of a room, and records the rooms it was called for."""

    def __init__(self) -> None:
        self.loaded: list[RoomId] = []
        self.fails = False

    async def __call__(self, room: Room) -> str:
        self.loaded.append(room.room_id)
        await asyncio.sleep(0)
        if self.fails:
            raise Unavailable("The table cannot be reached. Try again.")
        return room.name


async def test_concurrent_callers_share_one_load_for_some_seconds(clock: ManualClock) -> None:
    loader = NameLoader()
    cache = RoomCache(clock, loader)
    assert await asyncio.gather(*(cache(room()) for _ in range(500))) == ["発表会"] * 500
    await clock.advance(MAX_AGE_SECONDS - 0.1)
    await cache(room())
    assert len(loader.loaded) == 1
    await clock.advance(0.1)
    await cache(room())
    assert len(loader.loaded) == 2


async def test_a_clock_that_is_set_back_keeps_no_entry_until_it_has_caught_up(clock: ManualClock) -> None:
    loader = NameLoader()
    cache = RoomCache(clock, loader)
    await cache(room())
    clock.set_back(2 * 3600)
    await cache(room())
    assert len(loader.loaded) == 2


async def test_a_change_of_the_room_invalidates_the_entry(clock: ManualClock) -> None:
    loader = NameLoader()
    cache = RoomCache(clock, loader)
    await cache(room())
    closed = room(status="CLOSED", updated_at=instant_ms(START + 9), name="終わり")
    assert await cache(closed) == "終わり"


async def test_the_least_recently_used_entries_are_evicted(clock: ManualClock) -> None:
    loader = NameLoader()
    cache = RoomCache(clock, loader)
    first, second, *others = rooms_of(Random(1), START, MAX_ENTRIES + 1)
    for it in (first, second, first, *others):
        await cache(it)
    assert len(loader.loaded) == MAX_ENTRIES + 1
    await cache(first)
    assert len(loader.loaded) == MAX_ENTRIES + 1
    await cache(second)
    assert loader.loaded[-1] == second.room_id


async def test_few_rooms_are_loaded_at_the_same_time(clock: ManualClock) -> None:
    running: list[RoomId] = []
    most = 0

    async def load(room: Room) -> str:
        nonlocal most
        running.append(room.room_id)
        most = max(most, len(running))
        for _ in range(5):
            await asyncio.sleep(0)
        running.remove(room.room_id)
        return room.name

    cache = RoomCache(clock, load)
    await asyncio.gather(*(cache(it) for it in rooms_of(Random(1), START, 20)))
    assert most == MAX_CONCURRENT_LOADS


async def test_a_failed_load_is_repeated(clock: ManualClock) -> None:
    loader = NameLoader()
    cache = RoomCache(clock, loader)
    loader.fails = True
    with pytest.raises(Unavailable):
        await cache(room())
    loader.fails = False
    assert await cache(room()) == "発表会"


async def test_the_top_questions_of_a_room_are_cached_for_some_seconds(strict: Store, clock: ManualClock) -> None:
    top_questions = TopQuestions(app_context(strict, clock))
    question = comment(1, "Why?")
    await strict.write_many(put=[room(), question, Upvotes(room_id=ROOM_ID, comment_id=question.comment_id, votes=3)])
    [cached] = (await top_questions(ROOM_ID)).questions
    await strict.put(Upvotes(room_id=ROOM_ID, comment_id=question.comment_id, votes=4))
    assert (await top_questions(ROOM_ID)).questions == [cached]
    await clock.advance(MAX_AGE_SECONDS)
    assert (await top_questions(ROOM_ID)).questions[0].votes == 4


async def test_the_counts_of_a_room_are_read_once_for_all_callers_and_its_marks_for_each(
    strict: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = LiveRooms(app_context(strict, clock))
    first, second = comment(1, "Why?"), comment(2, "How?")
    counts = [Upvotes(room_id=ROOM_ID, comment_id=it.comment_id, votes=3) for it in (first, second)]
    await strict.write_many(put=[room(), first, second, *counts])
    reads: list[RoomId] = []
    all_votes = GetRoomModerationFunction.all_votes

    async def counted(function: GetRoomModerationFunction, room_id: RoomId) -> list[Upvotes]:
        reads.append(room_id)
        return await all_votes(function, room_id)

    monkeypatch.setattr(GetRoomModerationFunction, "all_votes", counted)
    views = await asyncio.gather(*(rooms.moderation_state(ROOM_ID) for _ in range(50)))
    assert [it.votes for it in views] == [{first.comment_id: 3, second.comment_id: 3}] * 50
    assert reads == [ROOM_ID]
    deleted = Mark(room_id=ROOM_ID, mark="DELETED", comment_id=second.comment_id, at=instant_ms(START))
    await strict.write_many(put=[hidden_mark(first), deleted])
    view = await rooms.moderation_state(ROOM_ID)
    assert (view.gone, view.votes) == ([first.comment_id, second.comment_id], {first.comment_id: 3})
    await strict.put(Upvotes(room_id=ROOM_ID, comment_id=first.comment_id, votes=4))
    await clock.advance(MAX_AGE_SECONDS)
    assert (await rooms.moderation_state(ROOM_ID)).votes == {first.comment_id: 4}
    assert len(reads) == 2
