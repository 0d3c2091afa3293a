"""The connections of a process in the table: written behind, and corrected after failures and crashes."""

import asyncio
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from tests.live.entities import MIDORI, OTHER_ROOM_ID, ROOM_ID, WEB, open_room, room, socket, uuid
from tests.support.manual_clock import ManualClock
from tests.support.store_reads import eventually
from zataku.clock import instant_ms
from zataku.live.design import Connection, connection, connections
from zataku.live.functions.connections import (
    CROWD_FLUSH_SECONDS,
    FLUSH_SECONDS,
    MAX_JOINS_PER_FLUSH,
    MAX_WRITES_PER_FLUSH,
    RETRY_SECONDS,
    ConnectionTracker,
    DisconnectFunction,
    JoinRoomFunction,
    SweepConnectionsFunction,
)
from zataku.live.limits import CONNECTION_TTL_SECONDS, ProcessName
from zataku.live.writes import close_room, join
from zataku.realtime.rooms.behaviour import Attendance
from zataku.table import NotGranted, ResultUnknown, Store, Throttled, TransactionCancelled
from zataku.table.strict.strict_backend import Faults, StrictBackend

NO_FAULTS, THROTTLING, CONFLICTS, LOST_REPLIES = (
    Faults.none(),
    Faults(throttle=1.0),
    Faults(conflict=1.0),
    Faults(lost_reply=1.0),
)


def set_faults(store: Store, faults: Faults) -> None:
    cast("StrictBackend", store.backend).faults = faults


async def stored_ids(store: Store) -> set[str]:
    """The ids of the connections in the table."""
    return {cast("Connection", item).connection_id async for item in store.scan(connections)}


async def stored_count(store: Store) -> int:
    return len(await stored_ids(store))


def count_joins(store: Store) -> int:
    """How many transactions stored joins."""
    return sum(usage.calls for usage in store.meter.totals.values() if usage.pattern.endswith("join"))


@pytest.fixture
async def tracker(strict: Store, clock: ManualClock) -> ConnectionTracker:
    """The connections of a process to an open room."""
    await open_room(strict)
    return ConnectionTracker(strict, clock, WEB)


async def test_joins_are_stored_and_leaves_deleted(
    tracker: ConnectionTracker, strict: Store, clock: ManualClock
) -> None:
    attendance: Attendance = tracker
    for number in range(3):
        attendance.joined(ROOM_ID, socket(number))
    assert await stored_ids(strict) == set()
    await tracker.flush()
    assert await stored_ids(strict) == {socket(0), socket(1), socket(2)}
    stored = await strict.get(connection(socket(0)), strong=True)
    assert stored == Connection(
        connection_id=socket(0),
        room_id=ROOM_ID,
        timestamp=instant_ms(clock.now()),
        ttl=int(clock.now()) + CONNECTION_TTL_SECONDS,
        owner=WEB,
    )
    attendance.left(ROOM_ID, socket(1))
    await tracker.flush()
    assert await stored_ids(strict) == {socket(0), socket(2)}


async def test_a_connection_that_ends_before_the_flush_is_never_stored(
    tracker: ConnectionTracker, strict: Store
) -> None:
    tracker.joined(ROOM_ID, socket(1))
    tracker.left(ROOM_ID, socket(1))
    await tracker.flush()
    assert count_joins(strict) == 0


@pytest.mark.parametrize("faults", [NO_FAULTS, LOST_REPLIES], ids=["none", "lost_replies"])
async def test_a_connection_that_ends_during_the_flush_is_deleted(
    tracker: ConnectionTracker, strict: Store, faults: Faults
) -> None:
    set_faults(strict, faults)
    for number in range(8):
        tracker.joined(ROOM_ID, socket(number))
        writing = asyncio.create_task(tracker.flush())
        await asyncio.sleep(0)
        tracker.left(ROOM_ID, socket(number))
        (outcome,) = await asyncio.gather(writing, return_exceptions=True)
        assert isinstance(outcome, ResultUnknown) == (faults is LOST_REPLIES)
    set_faults(strict, NO_FAULTS)
    joins = count_joins(strict)
    assert joins == 8
    await tracker.flush()
    assert count_joins(strict) == joins, "a connection that has ended is not stored again"
    assert await stored_ids(strict) == set()


async def test_a_crowd_joins_and_leaves_in_several_flushes(tracker: ConnectionTracker, strict: Store) -> None:
    set_faults(strict, NO_FAULTS)
    await open_room(strict, room(OTHER_ROOM_ID))
    crowd = [socket(number) for number in range(MAX_JOINS_PER_FLUSH + 20)]
    for number, connection_id in enumerate(crowd):
        tracker.joined(ROOM_ID if number % 6 else OTHER_ROOM_ID, connection_id)
    await tracker.flush()
    assert len(await stored_ids(strict)) == MAX_JOINS_PER_FLUSH
    assert count_joins(strict) == MAX_WRITES_PER_FLUSH
    await tracker.flush()
    assert await stored_ids(strict) == set(crowd)
    for connection_id in crowd:
        tracker.left(ROOM_ID, connection_id)
    await tracker.flush()
    assert len(await stored_ids(strict)) == 20
    await tracker.flush()
    assert await stored_ids(strict) == set()


async def test_a_crowd_does_not_wait_long_for_its_next_flush(
    tracker: ConnectionTracker, strict: Store, clock: ManualClock
) -> None:
    set_faults(strict, NO_FAULTS)
    crowd = {socket(number) for number in range(2 * MAX_JOINS_PER_FLUSH)}
    async with tracker.lifespan():
        for connection_id in crowd:
            tracker.joined(ROOM_ID, connection_id)
        await advance(clock, FLUSH_SECONDS)
        await eventually(lambda: stored_count(strict), MAX_JOINS_PER_FLUSH)
        await advance(clock, CROWD_FLUSH_SECONDS)
        await eventually(lambda: stored_ids(strict), crowd)


async def test_a_closed_or_unknown_room_accepts_no_join_and_delays_no_other(
    tracker: ConnectionTracker, strict: Store, clock: ManualClock
) -> None:
    await open_room(strict, room(OTHER_ROOM_ID))
    await strict.write(close_room(ROOM_ID, MIDORI, clock.now(), 1))
    tracker.joined(ROOM_ID, socket(1))
    tracker.joined(uuid(77), socket(2))
    tracker.joined("not-a-room-id", socket(3))
    tracker.joined(OTHER_ROOM_ID, socket(4))
    await tracker.flush()
    assert await stored_ids(strict) == {socket(4)}
    joins = count_joins(strict)
    await tracker.flush()
    assert count_joins(strict) == joins


@pytest.mark.parametrize("faults", [THROTTLING, CONFLICTS], ids=["throttling", "conflicts"])
async def test_joins_that_a_busy_store_refuses_are_stored_later_without_those_that_ended(
    tracker: ConnectionTracker, strict: Store, faults: Faults
) -> None:
    tracker.joined(ROOM_ID, socket(1))
    await tracker.flush()
    set_faults(strict, faults)
    tracker.joined(ROOM_ID, socket(2))
    tracker.joined(ROOM_ID, socket(3))
    with pytest.raises((Throttled, TransactionCancelled)):
        await tracker.flush()
    tracker.left(ROOM_ID, socket(1))
    tracker.left(ROOM_ID, socket(3))
    with pytest.raises((Throttled, TransactionCancelled)):
        await tracker.flush()
    set_faults(strict, NO_FAULTS)
    await tracker.flush()
    assert await stored_ids(strict) == {socket(2)}


async def test_lost_replies_leave_exactly_the_open_connections_stored(
    tracker: ConnectionTracker, strict: Store
) -> None:
    set_faults(strict, LOST_REPLIES)
    for number in range(12):
        tracker.joined(ROOM_ID, socket(number))
        with pytest.raises(ResultUnknown):
            await tracker.flush()
        if number % 2:
            tracker.left(ROOM_ID, socket(number))
    set_faults(strict, NO_FAULTS)
    stored = await stored_ids(strict)
    assert {int(it[13:17]) % 2 for it in stored} == {0, 1}, "the writes with lost replies were stored"
    await tracker.flush()
    assert await stored_ids(strict) == {socket(number) for number in range(0, 12, 2)}


async def test_pending_changes_have_a_limit(
    tracker: ConnectionTracker, strict: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zataku.live.functions.connections.MAX_PENDING", 10)
    set_faults(strict, THROTTLING)
    with capture_logs() as logs:
        async with tracker.lifespan():
            for number in range(30):
                tracker.joined(ROOM_ID, socket(number))
            await advance(clock, FLUSH_SECONDS)
            await eventually(lambda: logged_values(logs, "dropped"), [20])
            set_faults(strict, NO_FAULTS)
            await advance(clock, RETRY_SECONDS)
            await eventually(lambda: stored_ids(strict), {socket(number) for number in range(10)})
    assert [log["code"] for log in logs if log["event"] == "connection_flush_failed"] == ["throttled"]


async def test_the_table_follows_the_connections_and_is_empty_at_the_end(
    tracker: ConnectionTracker, strict: Store, clock: ManualClock
) -> None:
    async with tracker.lifespan():
        tracker.joined(ROOM_ID, socket(1))
        tracker.joined(ROOM_ID, socket(2))
        await advance(clock, FLUSH_SECONDS)
        await eventually(lambda: stored_ids(strict), {socket(1), socket(2)})
        tracker.left(ROOM_ID, socket(1))
        await advance(clock, FLUSH_SECONDS)
        await eventually(lambda: stored_ids(strict), {socket(2)})
        tracker.joined(ROOM_ID, socket(3))
    assert await stored_ids(strict) == set()
    # Later changes are ignored.
    tracker.left(ROOM_ID, socket(2))
    tracker.joined(ROOM_ID, socket(4))
    await tracker.flush()
    assert await stored_ids(strict) == set()


async def test_joins_under_way_at_the_end_are_deleted(tracker: ConnectionTracker, strict: Store) -> None:
    async with tracker.lifespan():
        tracker.joined(ROOM_ID, socket(1))
        writing = asyncio.create_task(tracker.flush())
        await asyncio.sleep(0)
    await writing
    assert await stored_ids(strict) == set()


async def test_a_store_that_does_not_answer_does_not_delay_the_stop(
    tracker: ConnectionTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zataku.live.functions.connections.STOP_SECONDS", 0.01)
    # Held as during a write whose reply does not arrive.
    async with tracker._write_lock:
        with capture_logs() as logs:
            async with asyncio.timeout(5), tracker.lifespan():
                tracker.joined(ROOM_ID, socket(1))
    assert await logged_values(logs, "error") == ["TimeoutError"]


async def test_after_a_crash_a_process_of_the_same_name_sweeps_its_connections(
    embedded: Store, clock: ManualClock
) -> None:
    await open_room(embedded)
    crashed, neighbour = ConnectionTracker(embedded, clock, WEB), ConnectionTracker(embedded, clock, "web-2")
    for number in range(5):
        crashed.joined(ROOM_ID, socket(number))
    neighbour.joined(ROOM_ID, socket(5))
    await crashed.flush()
    await neighbour.flush()
    await clock.advance(0.001)
    restarted = ConnectionTracker(embedded, clock, WEB)
    async with restarted.lifespan():
        restarted.joined(ROOM_ID, socket(6))
        await restarted.flush()
        await eventually(lambda: stored_ids(embedded), {socket(5), socket(6)})
    assert await stored_ids(embedded) == {socket(5)}


async def test_a_failed_sweep_is_repeated(strict: Store, clock: ManualClock) -> None:
    await open_room(strict)
    await strict.write(join(ROOM_ID, WEB, [socket(1)], clock.now() - 60))
    set_faults(strict, THROTTLING)
    with capture_logs() as logs:
        async with ConnectionTracker(strict, clock, WEB).lifespan():
            await eventually(lambda: logged_values(logs, "code"), ["throttled"])
            set_faults(strict, NO_FAULTS)
            await advance(clock, RETRY_SECONDS)
            await eventually(lambda: stored_ids(strict), set())
            await eventually(lambda: logged_values(logs, "swept"), [1])


async def test_each_function_has_the_rights_for_its_work_only(strict: Store, clock: ManualClock) -> None:
    await open_room(strict)
    join_room, disconnect, sweep = (
        JoinRoomFunction(strict),
        DisconnectFunction(strict),
        SweepConnectionsFunction(strict),
    )
    assert await join_room(ROOM_ID, WEB, [socket(1), socket(2)], clock.now())
    await disconnect([socket(2), socket(2), socket(3)])
    assert await stored_ids(strict) == {socket(1)}
    for function in (join_room, disconnect, sweep):
        with pytest.raises(NotGranted):
            await function._store.write(close_room(ROOM_ID, MIDORI, clock.now(), 1))
    for function in (disconnect, sweep):
        with pytest.raises(NotGranted):
            await function._store.write(join(ROOM_ID, WEB, [socket(4)], clock.now()))
    with pytest.raises(NotGranted):
        await sweep._store.get(connection(socket(1)))
    assert await stored_ids(strict) == {socket(1)}
    swept = 0
    while not swept:
        swept = await sweep(WEB, instant_ms(clock.now() + 1))
    assert (swept, await stored_ids(strict)) == (1, set())
    assert await sweep(ProcessName("web-9"), instant_ms(clock.now() + 1)) == 0


async def advance(clock: ManualClock, seconds: float) -> None:
    """Advance the clock, after the tasks that are about to wait for it have begun to."""
    for _ in range(3):
        await asyncio.sleep(0)
    await clock.advance(seconds)


async def logged_values(logs: Any, key: str) -> list[object]:
    """The values of a field in all log entries that have it."""
    return [log[key] for log in logs if key in log]
