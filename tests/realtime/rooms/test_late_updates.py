"""Replies that come late, and a table that is away: nobody gets another's answer, and nobody waits for ever."""

import asyncio

import pytest

from tests.realtime.rooms.room_process import ROOM, House, ProcessClock, as_time_goes_by, running, until
from zataku.realtime.rooms.bus_messages import PresenceCount, decode_update
from zataku.table import StoreUnreachable

Two = tuple[House, House]


async def test_a_late_reply_answers_no_other_question(two: Two):
    one, other = two
    await one.add(1)
    one.counters.gate.clear()
    one.counters.batches.clear()
    given_up = asyncio.create_task(other.add(1))
    await until(lambda: one.counters.batches == [1])
    given_up.cancel()
    # The owner was silent for too long, turned out to be there after all, and is followed anew.
    handle = other.rooms._handles[ROOM]
    handle._unfollow(suspect=None)
    asking = asyncio.create_task(other.add(10))
    await until(lambda: handle._remote is not None and bool(handle._remote._rpc._open))
    one.counters.gate.set()
    assert await asking == 12


async def test_whoever_joins_while_the_table_is_away_is_let_in_when_it_is_back(two: Two, clock: ProcessClock):
    one, _ = two
    hana = await one.reader().join()
    leases = one.rooms._context.leases
    store = leases._store

    class Away:
        async def get(self, wanted: object) -> object:
            raise StoreUnreachable("The table is away.")

        write = get

    leases._store = Away()  # pyright: ignore[reportAttributeAccessIssue]
    await clock.run(6)
    joining = asyncio.create_task(one.reader("sora").join())
    await clock.run(0.25)
    leases._store = store
    sora = await running(clock, joining, 5)
    assert await running(clock, one.add(1), 5) == 1
    await as_time_goes_by(clock, lambda: hana.read().sum == sora.read().sum == 1, 5)


async def test_a_number_of_people_that_was_lost_on_the_way_comes_with_the_next_look(
    two: Two, clock: ProcessClock, monkeypatch: pytest.MonkeyPatch
):
    one, other = two
    await one.reader().join()
    sora = await other.reader("sora").join()
    await as_time_goes_by(clock, lambda: sora.read().here == 2, 5)
    handle, lost = other.rooms._handles[ROOM], 0
    receive = handle._receive_update

    def lose_counts(message: bytes) -> None:
        nonlocal lost
        if isinstance(decode_update(message), PresenceCount):
            lost += 1
        else:
            receive(message)

    monkeypatch.setitem(other.bus._handlers, f"room/{ROOM}", lose_counts)
    await one.reader("yuna").join()
    await as_time_goes_by(clock, lambda: lost == 1, 5)
    await one.add(1)
    await as_time_goes_by(clock, lambda: sora.read().sum == 1, 5)
    assert sora.here == 3
