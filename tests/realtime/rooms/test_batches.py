"""Commands that cannot be written together are deferred; ticks publish accumulated transients."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.realtime.rooms.counter_room import CounterCommand, CounterState
from tests.realtime.rooms.room_process import ROOM, ProcessClock, RoomProcess, guest, wait_until
from zataku.errors import NotFound
from zataku.realtime.rooms.behaviour import DEFERRED, Command, Event, Transient


async def execute_together(process: RoomProcess, *commands: CounterCommand) -> list[object]:
    """The replies to commands that are pending together."""
    await process.add(0)
    process.counters.batches.clear()
    process.counters.gate.clear()
    first = asyncio.create_task(process.add(0))
    await process.counters.wait_until(lambda: process.counters.batches == [1])
    rest = [asyncio.create_task(process.rooms.execute(ROOM, guest(), command)) for command in commands]
    await asyncio.sleep(0)
    process.counters.gate.set()
    await first
    return await asyncio.gather(*rest, return_exceptions=True)


async def test_deferred_commands_are_executed_next_and_in_order(process: RoomProcess):
    hana = await process.client("hana").join()
    add, by_itself = CounterCommand(add=1), CounterCommand(add=10, alone=True)
    replies = await execute_together(process, add, add, by_itself, add, by_itself, by_itself, add)
    assert replies == [1, 2, 12, 13, 23, 33, 34]
    assert process.counters.batches == [1, 7, 5, 4, 3, 2, 1]
    assert hana.read().sum == 34


async def test_deferred_commands_of_a_closed_room_are_refused(process: RoomProcess):
    replies = await execute_together(
        process, CounterCommand(add=1), CounterCommand(close=True, alone=True), CounterCommand(add=1)
    )
    assert replies[:2] == [1, 1]
    assert isinstance(replies[2], NotFound)


async def test_a_batch_without_any_reply_fails_and_the_room_continues(process: RoomProcess):
    handle = process.counters.handle

    async def defer_all(state, commands, now):
        outcome = await handle(state, commands, now)
        return (
            replace(outcome, replies=[DEFERRED] * len(outcome.replies))
            if commands[0].body == CounterCommand(add=7)
            else outcome
        )

    process.counters.handle = defer_all
    with pytest.raises(ValueError, match="replies"):
        await process.rooms.execute(ROOM, guest(), CounterCommand(add=7))
    assert await process.add(1) == 8


async def test_a_tick_publishes_accumulated_transients_and_rejected_ones_are_dropped(
    process: RoomProcess, clock: ProcessClock
):
    counters = process.counters

    def handle_transient(state: CounterState, command: Command, _now: float) -> Transient[CounterState]:
        return Transient(state=replace(state, lines=(*state.lines, "x")))

    def tick(state: CounterState, _now: float) -> Transient[CounterState]:
        if not state.lines:
            return Transient(state=state)
        return Transient(state=replace(state, lines=()), events=[Event(b'"%d at once"' % len(state.lines))])

    counters.handle_transient, counters.tick = handle_transient, tick  # pyright: ignore[reportAttributeAccessIssue]
    counters.accepts = lambda command, _now: command.body != "no"  # pyright: ignore[reportAttributeAccessIssue]
    hana = await process.client("hana").join()
    for payload in (b'"a"', b'"no"', b'"b"', b'"no"', b'"c"'):
        process.rooms.handle_transient(hana.socket, ROOM, payload)
    assert hana.read().transient_events == []
    await clock.advance(0.3)
    await wait_until(lambda: hana.read().transient_events == ["3 at once"])
    await clock.advance(2)
    assert hana.read().transient_events == ["3 at once"]
