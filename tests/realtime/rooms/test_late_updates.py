"""Late replies and a table outage: no caller gets another's reply, and none waits forever."""

import asyncio

from tests.realtime.rooms.room_process import ROOM, ProcessClock, RoomProcess, advance_until, run_with_clock
from zataku.realtime.rooms.bus_messages import (
    CommandCall,
    OwnerLeft,
    PresenceCount,
    decode_rpc_message,
    decode_update,
    encode,
)
from zataku.realtime.rooms.context import process_channel, room_channel

Two = tuple[RoomProcess, RoomProcess]


def is_command_call(channel: str, message: bytes) -> bool:
    return channel == process_channel("web-1") and isinstance(decode_rpc_message(message), CommandCall)


async def test_a_late_reply_settles_no_other_call(two: Two):
    one, other = two
    await one.add(1)
    one.counters.gate.clear()
    one.counters.batches.clear()
    cancelled = asyncio.create_task(other.add(1))
    await one.counters.wait_until(lambda: one.counters.batches == [1])
    cancelled.cancel()
    # An announcement that the owner has left arrives, and the next command finds that it still is the owner.
    left = OwnerLeft(epoch=1, number=1, seq=1, owner="web-1", is_released=True)
    one.bus.publish(room_channel(ROOM), encode(left))
    await asyncio.sleep(0)
    called = other.transport.expect_message(is_command_call)
    adding = asyncio.create_task(other.add(10))
    await asyncio.wait_for(called, 10)
    one.counters.gate.set()
    assert await adding == 12


async def test_a_join_during_a_table_outage_succeeds_when_it_is_back(two: Two, clock: ProcessClock):
    one, _ = two
    hana = await one.client().join()
    one.link.cut = True
    await clock.run(6)
    joining = asyncio.create_task(one.client("sora").join())
    await clock.run(0.25)
    one.link.cut = False
    sora = await run_with_clock(clock, joining, 5)
    assert await run_with_clock(clock, one.add(1), 5) == 1
    await advance_until(clock, lambda: hana.read().sum == sora.read().sum == 1, 5)


def is_presence_count(channel: str, message: bytes) -> bool:
    return channel == room_channel(ROOM) and isinstance(decode_update(message), PresenceCount)


async def test_a_lost_presence_count_is_corrected_by_a_snapshot(two: Two, clock: ProcessClock):
    one, other = two
    await one.client().join()
    sora = await other.client("sora").join()
    await advance_until(clock, lambda: sora.read().here == 2, 5)
    with other.transport.drop(is_presence_count) as counts:
        await one.client("yuna").join()
        await advance_until(clock, lambda: len(counts) == 1, 5)
        await one.add(1)
        await advance_until(clock, lambda: sora.read().sum == 1, 5)
    assert sora.here == 3
