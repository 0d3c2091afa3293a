"""The connections of a process in the table: written behind, and corrected after failures and crashes."""

import asyncio
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from tests.live.entities import ATTIC, HALL, MIDORI, WEB, opened_room, room, socket, uuid
from tests.support.store_reads import eventually
from zataku.clock import ManualClock, instant_ms
from zataku.live import connections as keeping
from zataku.live.connections import FLUSH_SECONDS, MAX_JOINS_PER_FLUSH, RETRY_SECONDS, ConnectionTracker
from zataku.live.design import Connection, connection, connections
from zataku.live.functions.connections import DisconnectFunction, JoinRoomFunction, SweepConnectionsFunction
from zataku.live.limits import CONNECTION_TTL_SECONDS, ProcessName
from zataku.live.writes import close_room, join
from zataku.realtime.rooms.behaviour import Attendance as Hearing
from zataku.table import NotGranted, ResultUnknown, Store, Throttled, TransactionCancelled
from zataku.table.strict.strict_backend import Faults, StrictBackend

WELL, BUSY, CROWDED, LOSING = Faults.none(), Faults(throttle=1.0), Faults(conflict=1.0), Faults(lost_reply=1.0)


def on_a(day: Faults, store: Store) -> None:
    """From now on the store fails as often as this."""
    cast("StrictBackend", store.backend).faults = day


async def present(store: Store) -> set[str]:
    """The connections that lie in the table."""
    return {cast("Connection", found).connection_id async for found in store.scan(connections)}


def joins_of(store: Store) -> int:
    """How many transactions of joins there were."""
    return sum(usage.calls for usage in store.meter.totals.values() if usage.pattern.endswith("join"))


@pytest.fixture
async def hall(strict: Store, clock: ManualClock) -> ConnectionTracker:
    """Attendance of a process in which people come into an open room."""
    await opened_room(strict)
    return ConnectionTracker(strict, clock, WEB)


async def test_joins_are_stored_and_leaves_deleted(hall: ConnectionTracker, strict: Store, clock: ManualClock) -> None:
    hearing: Hearing = hall
    for number in range(3):
        hearing.joined(HALL, socket(number))
    assert await present(strict) == set()
    await hall.flush()
    assert await present(strict) == {socket(0), socket(1), socket(2)}
    found = await strict.get(connection(socket(0)), strong=True)
    assert found == Connection(
        connection_id=socket(0),
        room_id=HALL,
        timestamp=instant_ms(clock.now()),
        ttl=int(clock.now()) + CONNECTION_TTL_SECONDS,
        owner=WEB,
    )
    hearing.left(HALL, socket(1))
    await hall.flush()
    assert await present(strict) == {socket(0), socket(2)}


async def test_a_connection_that_ends_before_the_flush_is_never_stored(hall: ConnectionTracker, strict: Store) -> None:
    hall.joined(HALL, socket(1))
    hall.left(HALL, socket(1))
    await hall.flush()
    assert joins_of(strict) == 0


@pytest.mark.parametrize("day", [WELL, LOSING], ids=["well", "losing"])
async def test_a_connection_that_ends_during_the_flush_is_deleted(
    hall: ConnectionTracker, strict: Store, day: Faults
) -> None:
    on_a(day, strict)
    for number in range(8):
        hall.joined(HALL, socket(number))
        writing = asyncio.create_task(hall.flush())
        await asyncio.sleep(0)
        hall.left(HALL, socket(number))
        (outcome,) = await asyncio.gather(writing, return_exceptions=True)
        assert isinstance(outcome, ResultUnknown) == (day is LOSING)
    on_a(WELL, strict)
    joins = joins_of(strict)
    assert joins == 8
    await hall.flush()
    assert joins_of(strict) == joins, "nobody is written down again who has gone"
    assert await present(strict) == set()


async def test_a_crowd_joins_and_leaves_in_several_flushes(hall: ConnectionTracker, strict: Store) -> None:
    on_a(WELL, strict)
    await opened_room(strict, room(ATTIC))
    crowd = [socket(number) for number in range(MAX_JOINS_PER_FLUSH + 120)]
    for number, comer in enumerate(crowd):
        hall.joined(HALL if number % 5 else ATTIC, comer)
    await hall.flush()
    assert len(await present(strict)) == MAX_JOINS_PER_FLUSH
    await hall.flush()
    assert await present(strict) == set(crowd)
    for comer in crowd:
        hall.left(HALL, comer)
    await hall.flush()
    assert len(await present(strict)) < 120
    await hall.flush()
    assert await present(strict) == set()


async def test_a_closed_or_unknown_room_accepts_no_join_and_delays_no_other(
    hall: ConnectionTracker, strict: Store, clock: ManualClock
) -> None:
    await opened_room(strict, room(ATTIC))
    await strict.write(close_room(HALL, MIDORI, clock.now(), 1))
    hall.joined(HALL, socket(1))
    hall.joined(uuid(77), socket(2))
    hall.joined("no-room-has-such-an-id", socket(3))
    hall.joined(ATTIC, socket(4))
    await hall.flush()
    assert await present(strict) == {socket(4)}
    joins = joins_of(strict)
    await hall.flush()
    assert joins_of(strict) == joins


@pytest.mark.parametrize("day", [BUSY, CROWDED], ids=["busy", "crowded"])
async def test_joins_that_a_busy_store_refuses_are_stored_later_without_those_that_ended(
    hall: ConnectionTracker, strict: Store, day: Faults
) -> None:
    hall.joined(HALL, socket(1))
    await hall.flush()
    on_a(day, strict)
    hall.joined(HALL, socket(2))
    hall.joined(HALL, socket(3))
    with pytest.raises((Throttled, TransactionCancelled)):
        await hall.flush()
    hall.left(HALL, socket(1))
    hall.left(HALL, socket(3))
    with pytest.raises((Throttled, TransactionCancelled)):
        await hall.flush()
    on_a(WELL, strict)
    await hall.flush()
    assert await present(strict) == {socket(2)}


async def test_lost_replies_leave_exactly_the_open_connections_stored(hall: ConnectionTracker, strict: Store) -> None:
    on_a(LOSING, strict)
    for number in range(12):
        hall.joined(HALL, socket(number))
        with pytest.raises(ResultUnknown):
            await hall.flush()
        if number % 2:
            hall.left(HALL, socket(number))
    on_a(WELL, strict)
    written = await present(strict)
    assert {int(each[13:17]) % 2 for each in written} == {0, 1}, "a lost reply means nothing when none was stored"
    await hall.flush()
    assert await present(strict) == {socket(number) for number in range(0, 12, 2)}


async def test_pending_changes_have_a_limit(
    hall: ConnectionTracker, strict: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MAX_PENDING", 10)
    on_a(BUSY, strict)
    with capture_logs() as logs:
        async with hall.life():
            for number in range(30):
                hall.joined(HALL, socket(number))
            await passing(clock, FLUSH_SECONDS)
            await eventually(lambda: told(logs, "dropped"), [20])
            on_a(WELL, strict)
            await passing(clock, RETRY_SECONDS)
            await eventually(lambda: present(strict), {socket(number) for number in range(10)})
    assert [log["code"] for log in logs if log["event"] == "connection_flush_failed"] == ["throttled"]


async def test_the_table_follows_the_connections_and_is_empty_at_the_end(
    hall: ConnectionTracker, strict: Store, clock: ManualClock
) -> None:
    async with hall.life():
        hall.joined(HALL, socket(1))
        hall.joined(HALL, socket(2))
        await passing(clock, FLUSH_SECONDS)
        await eventually(lambda: present(strict), {socket(1), socket(2)})
        hall.left(HALL, socket(1))
        await passing(clock, FLUSH_SECONDS)
        await eventually(lambda: present(strict), {socket(2)})
        hall.joined(HALL, socket(3))
    assert await present(strict) == set()
    # Sockets that end after that change nothing more.
    hall.left(HALL, socket(2))
    hall.joined(HALL, socket(4))
    await hall.flush()
    assert await present(strict) == set()


async def test_joins_under_way_at_the_end_are_deleted(hall: ConnectionTracker, strict: Store) -> None:
    async with hall.life():
        hall.joined(HALL, socket(1))
        writing = asyncio.create_task(hall.flush())
        await asyncio.sleep(0)
    await writing
    assert await present(strict) == set()


async def test_a_store_that_does_not_answer_does_not_delay_the_stop(
    hall: ConnectionTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "STOP_SECONDS", 0.01)
    # As when the reply to a write does not come.
    async with hall._write_lock:
        with capture_logs() as logs:
            async with asyncio.timeout(5), hall.life():
                hall.joined(HALL, socket(1))
    assert await told(logs, "error") == ["TimeoutError"]


async def test_after_a_crash_a_process_of_the_same_name_sweeps_its_connections(
    embedded: Store, clock: ManualClock
) -> None:
    await opened_room(embedded)
    crashed, neighbour = ConnectionTracker(embedded, clock, WEB), ConnectionTracker(embedded, clock, "web-2")
    for number in range(5):
        crashed.joined(HALL, socket(number))
    neighbour.joined(HALL, socket(5))
    await crashed.flush()
    await neighbour.flush()
    await clock.advance(0.001)
    started_anew = ConnectionTracker(embedded, clock, WEB)
    async with started_anew.life():
        started_anew.joined(HALL, socket(6))
        await started_anew.flush()
        await eventually(lambda: present(embedded), {socket(5), socket(6)})
    assert await present(embedded) == {socket(5)}


async def test_a_failed_sweep_is_repeated(strict: Store, clock: ManualClock) -> None:
    await opened_room(strict)
    await strict.write(join(HALL, WEB, [socket(1)], clock.now() - 60))
    on_a(BUSY, strict)
    with capture_logs() as logs:
        async with ConnectionTracker(strict, clock, WEB).life():
            await eventually(lambda: told(logs, "code"), ["throttled"])
            on_a(WELL, strict)
            await passing(clock, RETRY_SECONDS)
            await eventually(lambda: present(strict), set())
            await eventually(lambda: told(logs, "swept"), [1])


async def test_each_function_has_the_rights_for_its_work_only(strict: Store, clock: ManualClock) -> None:
    await opened_room(strict)
    joining, leaving, sweeping = JoinRoomFunction(strict), DisconnectFunction(strict), SweepConnectionsFunction(strict)
    assert await joining(HALL, WEB, [socket(1), socket(2)], clock.now())
    await leaving([socket(2), socket(2), socket(3)])
    assert await present(strict) == {socket(1)}
    for function in (joining, leaving, sweeping):
        with pytest.raises(NotGranted):
            await function._store.write(close_room(HALL, MIDORI, clock.now(), 1))
    for function in (leaving, sweeping):
        with pytest.raises(NotGranted):
            await function._store.write(join(HALL, WEB, [socket(4)], clock.now()))
    with pytest.raises(NotGranted):
        await sweeping._store.get(connection(socket(1)))
    assert await present(strict) == {socket(1)}
    swept = 0
    while not swept:
        swept = await sweeping(WEB, instant_ms(clock.now() + 1))
    assert (swept, await present(strict)) == (1, set())
    assert await sweeping(ProcessName("nobody"), instant_ms(clock.now() + 1)) == 0


async def passing(clock: ManualClock, seconds: float) -> None:
    """Let time pass for whoever is about to wait for it."""
    for _ in range(3):
        await asyncio.sleep(0)
    await clock.advance(seconds)


async def told(logs: Any, key: str) -> list[object]:
    """What the log said of something."""
    return [log[key] for log in logs if key in log]
