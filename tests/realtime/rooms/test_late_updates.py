"""Late replies and a table outage: no caller gets another's reply, and none waits forever."""

import asyncio

import pytest

from tests.realtime.rooms.room_process import ROOM, ProcessClock, RoomProcess, advance_until, run_with_clock
from zataku.realtime.rooms.bus_messages import CommandCall, PresenceCount, decode_rpc_message, decode_update
from zataku.realtime.rooms.context import process_channel
from zataku.table import StoreUnreachable

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
    # The owner was silent for too long, is unfollowed, and is followed again when it answers.
    other.rooms._handles[ROOM]._unfollow(suspect=None)
    called = other.transport.expect_message(is_command_call)
    adding = asyncio.create_task(other.add(10))
    await asyncio.wait_for(called, 10)
    one.counters.gate.set()
    assert await adding == 12


async def test_a_join_during_a_table_outage_succeeds_when_it_is_back(two: Two, clock: ProcessClock):
    one, _ = two
    hana = await one.client().join()
    leases = one.rooms._context.leases
    store = leases._store

    class UnreachableStore:
        async def get(self, key: object) -> object:
            raise StoreUnreachable("The table cannot be reached.")

        write = get

    leases._store = UnreachableStore()  # pyright: ignore[reportAttributeAccessIssue]
    await clock.run(6)
    joining = asyncio.create_task(one.client("sora").join())
    await clock.run(0.25)
    leases._store = store
    sora = await run_with_clock(clock, joining, 5)
    assert await run_with_clock(clock, one.add(1), 5) == 1
    await advance_until(clock, lambda: hana.read().sum == sora.read().sum == 1, 5)


async def test_a_lost_presence_count_is_corrected_by_a_snapshot(
    two: Two, clock: ProcessClock, monkeypatch: pytest.MonkeyPatch
):
    one, other = two
    await one.client().join()
    sora = await other.client("sora").join()
    await advance_until(clock, lambda: sora.read().here == 2, 5)
    handle, lost = other.rooms._handles[ROOM], 0
    receive = handle._receive_update

    def lose_counts(message: bytes) -> None:
        nonlocal lost
        if isinstance(decode_update(message), PresenceCount):
            lost += 1
        else:
            receive(message)

    monkeypatch.setitem(other.bus._handlers, f"room/{ROOM}", lose_counts)
    await one.client("yuna").join()
    await advance_until(clock, lambda: lost == 1, 5)
    await one.add(1)
    await advance_until(clock, lambda: sora.read().sum == 1, 5)
    assert sora.here == 3
