"""What cannot be written together is written in turn; what passes is told beat by beat, where a room wants that."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.realtime.rooms.counter_room import Counting
from tests.realtime.rooms.room_process import ROOM, House, ProcessClock, somebody, until
from zataku.errors import NotFound
from zataku.realtime.rooms.behaviour import LATER, Asked, Event, Passed


async def asked_at_once(house: House, *commands: bytes) -> list[object]:
    """What becomes of commands that wait together."""
    await house.add(0)
    house.counters.batches.clear()
    house.counters.gate.clear()
    first = asyncio.create_task(house.add(0))
    await until(lambda: house.counters.batches == [1])
    rest = [asyncio.create_task(house.rooms.ask(ROOM, somebody(), it)) for it in commands]
    await asyncio.sleep(0)
    house.counters.gate.set()
    await first
    return await asyncio.gather(*rest, return_exceptions=True)


async def test_what_has_to_wait_comes_next_and_in_its_order(alone: House):
    hana = await alone.reader("hana").join()
    add, by_itself = b'{"add":1}', b'{"add":10,"alone":true}'
    answers = await asked_at_once(alone, add, add, by_itself, add, by_itself, by_itself, add)
    assert answers == [b"1", b"2", b"12", b"13", b"23", b"33", b"34"]
    assert alone.counters.batches == [1, 7, 5, 4, 3, 2, 1]
    assert hana.read().sum == 34


async def test_what_had_to_wait_when_the_room_ended_is_refused_as_in_any_ended_room(alone: House):
    answers = await asked_at_once(alone, b'{"add":1}', b'{"close":true,"alone":true}', b'{"add":1}')
    assert answers[:2] == [b"1", b"1"]
    assert isinstance(answers[2], NotFound)


async def test_a_room_that_answers_nobody_fails_alone_and_goes_on(alone: House):
    keep = alone.counters.keep

    async def lazy(state, asked, now):
        kept = await keep(state, asked, now)
        return replace(kept, answers=[LATER] * len(kept.answers)) if asked[0].what == b'{"add":7}' else kept

    alone.counters.keep = lazy
    with pytest.raises(ValueError, match="answers"):
        await alone.rooms.ask(ROOM, somebody(), b'{"add":7}')
    assert await alone.add(1) == 8


async def test_what_passed_is_told_with_the_beat_and_what_is_not_heeded_falls(alone: House, clock: ProcessClock):
    counters = alone.counters

    def passing(state: Counting, asked: Asked, _now: float) -> Passed[Counting]:
        return Passed(state=replace(state, lines=(*state.lines, "x")))

    def beat(state: Counting, _now: float) -> Passed[Counting]:
        if not state.lines:
            return Passed(state=state)
        return Passed(state=replace(state, lines=()), events=[Event(b'"%d at once"' % len(state.lines))])

    counters.passing, counters.beat = passing, beat  # pyright: ignore[reportAttributeAccessIssue]
    counters.heeds = lambda asked, _now: asked.what != b'"no"'  # pyright: ignore[reportAttributeAccessIssue]
    hana = await alone.reader("hana").join()
    for what in (b'"a"', b'"no"', b'"b"', b'"no"', b'"c"'):
        alone.rooms.passed(hana.socket, ROOM, what)
    assert hana.read().passed == []
    await clock.advance(0.3)
    await until(lambda: hana.read().passed == ["3 at once"])
    await clock.advance(2)
    assert hana.read().passed == ["3 at once"]
