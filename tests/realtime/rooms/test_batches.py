"""What cannot be written together is written in turn; what passes is told beat by beat, where a room wants that."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.realtime.rooms.counter_room import Counting, Do
from tests.realtime.rooms.room_process import ROOM, House, ProcessClock, somebody, until
from zataku.errors import NotFound
from zataku.realtime.rooms.behaviour import DEFERRED, Command, Event, Transient


async def asked_at_once(house: House, *commands: Do) -> list[object]:
    """What becomes of commands that wait together."""
    await house.add(0)
    house.counters.batches.clear()
    house.counters.gate.clear()
    first = asyncio.create_task(house.add(0))
    await until(lambda: house.counters.batches == [1])
    rest = [asyncio.create_task(house.rooms.execute(ROOM, somebody(), it)) for it in commands]
    await asyncio.sleep(0)
    house.counters.gate.set()
    await first
    return await asyncio.gather(*rest, return_exceptions=True)


async def test_what_has_to_wait_comes_next_and_in_its_order(alone: House):
    hana = await alone.reader("hana").join()
    add, by_itself = Do(add=1), Do(add=10, alone=True)
    answers = await asked_at_once(alone, add, add, by_itself, add, by_itself, by_itself, add)
    assert answers == [1, 2, 12, 13, 23, 33, 34]
    assert alone.counters.batches == [1, 7, 5, 4, 3, 2, 1]
    assert hana.read().sum == 34


async def test_what_had_to_wait_when_the_room_ended_is_refused_as_in_any_ended_room(alone: House):
    answers = await asked_at_once(alone, Do(add=1), Do(close=True, alone=True), Do(add=1))
    assert answers[:2] == [1, 1]
    assert isinstance(answers[2], NotFound)


async def test_a_room_that_answers_nobody_fails_alone_and_goes_on(alone: House):
    handle = alone.counters.handle

    async def lazy(state, commands, now):
        outcome = await handle(state, commands, now)
        return replace(outcome, replies=[DEFERRED] * len(outcome.replies)) if commands[0].body == Do(add=7) else outcome

    alone.counters.handle = lazy
    with pytest.raises(ValueError, match="replies"):
        await alone.rooms.execute(ROOM, somebody(), Do(add=7))
    assert await alone.add(1) == 8


async def test_what_passed_is_told_with_the_beat_and_what_is_not_heeded_falls(alone: House, clock: ProcessClock):
    counters = alone.counters

    def handle_transient(state: Counting, command: Command, _now: float) -> Transient[Counting]:
        return Transient(state=replace(state, lines=(*state.lines, "x")))

    def tick(state: Counting, _now: float) -> Transient[Counting]:
        if not state.lines:
            return Transient(state=state)
        return Transient(state=replace(state, lines=()), events=[Event(b'"%d at once"' % len(state.lines))])

    counters.handle_transient, counters.tick = handle_transient, tick  # pyright: ignore[reportAttributeAccessIssue]
    counters.accepts = lambda command, _now: command.body != "no"  # pyright: ignore[reportAttributeAccessIssue]
    hana = await alone.reader("hana").join()
    for what in (b'"a"', b'"no"', b'"b"', b'"no"', b'"c"'):
        alone.rooms.handle_transient(hana.socket, ROOM, what)
    assert hana.read().passed == []
    await clock.advance(0.3)
    await until(lambda: hana.read().passed == ["3 at once"])
    await clock.advance(2)
    assert hana.read().passed == ["3 at once"]
