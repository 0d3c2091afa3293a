"""Attendance is told of every socket of this process that joins or leaves a room, once each."""

import asyncio

import pytest

from tests.realtime.rooms.counter_room import Count, Do, count_of
from tests.realtime.rooms.room_process import ROOM, ProcessClock, RoomProcess, advance_until, guest, wait_until
from zataku.errors import Unavailable
from zataku.table import Store, path


class AttendanceLog:
    """The joins that are open and closed, by their ids; none is reported twice."""

    def __init__(self, process: RoomProcess) -> None:
        self.present: dict[str, str] = {}
        self.past: list[str] = []
        process.counters.attendance = self

    def joined(self, room_id: str, connection: str) -> None:
        assert connection not in self.present
        assert connection not in self.past
        self.present[connection] = room_id

    def left(self, room_id: str, connection: str) -> None:
        assert self.present.pop(connection) == room_id
        self.past.append(connection)

    @property
    def told(self) -> tuple[int, int]:
        """How many joins are open, and how many are closed."""
        return len(self.present), len(self.past)


@pytest.fixture
def attendance_log(alone: RoomProcess) -> AttendanceLog:
    """Attendance of the single process."""
    return AttendanceLog(alone)


async def test_leaving_and_disconnecting_is_reported_once(alone: RoomProcess, attendance_log: AttendanceLog) -> None:
    hana, sora = await alone.client("hana").join(), await alone.client("sora").join()
    assert attendance_log.told == (2, 0)
    await hana.leave()
    await hana.leave()
    hana.disconnect()
    assert attendance_log.told == (1, 1)
    sora.disconnect()
    sora.disconnect()
    assert attendance_log.told == (0, 2)


async def test_every_join_has_a_unique_id_that_begins_with_the_process(
    alone: RoomProcess, attendance_log: AttendanceLog
) -> None:
    hana = await alone.client().join()
    await hana.join("counter/two")
    other_page = await alone.client().join()
    assert sorted(attendance_log.present.values()) == ["one", "one", "two"]
    assert all(connection.startswith("web-0:") for connection in attendance_log.present)
    for client in (hana, other_page):
        client.disconnect()
    assert attendance_log.told == (0, 3)


async def test_joining_twice_is_reported_as_leaving_and_joining(
    alone: RoomProcess, attendance_log: AttendanceLog
) -> None:
    hana = await alone.client().join()
    await hana.join()
    assert attendance_log.told == (1, 1)
    await alone.add(1)
    place = hana.read().at
    await hana.leave()
    await hana.join(at=place)
    assert hana.resumed == 1
    assert attendance_log.told == (1, 2)


async def test_closing_the_room_unsubscribes_every_socket(alone: RoomProcess, attendance_log: AttendanceLog) -> None:
    clients = [await alone.client(name).join() for name in ("hana", "sora", "yuna")]
    clients[0].connection.slow = alone.hub.limits.max_backlog_bytes + 1
    await alone.rooms.execute(ROOM, guest(), Do(add=1, close=True))
    await wait_until(lambda: attendance_log.told == (0, 3))
    for client in clients:
        client.disconnect()
    assert attendance_log.told == (0, 3)


async def test_a_client_that_is_no_longer_admitted_has_left(
    alone: RoomProcess, attendance_log: AttendanceLog, store: Store
) -> None:
    hana, sora = await alone.client("hana").join(), await alone.client("sora").join()
    alone.counters.barred.add(sora.socket.identity.account_id)
    await store.update(count_of("one"), path(Count, lambda it: it.version).add(1))
    await alone.add(1)
    await wait_until(lambda: sora.read().gone is not None)
    assert attendance_log.told == (1, 1)
    sora.disconnect()
    hana.disconnect()
    assert attendance_log.told == (0, 2)


async def test_a_slow_reader_that_is_no_longer_admitted_has_left(
    alone: RoomProcess, attendance_log: AttendanceLog, clock: ProcessClock
) -> None:
    slow = await alone.client("slow").join()
    slow.connection.slow = alone.hub.limits.max_backlog_bytes + 1
    await alone.add(1)
    slow.read()
    alone.counters.barred.add(slow.socket.identity.account_id)
    slow.connection.slow = 0
    await advance_until(clock, lambda: slow.read().gone is not None, 3)
    assert attendance_log.told == (0, 1)


async def test_a_socket_that_ends_during_its_join_is_not_attended(
    alone: RoomProcess, attendance_log: AttendanceLog
) -> None:
    alone.counters.snapshot_gate.clear()
    hana = alone.client()
    joining = asyncio.create_task(hana.join())
    await alone.counters.wait_until(lambda: alone.counters.snapshots == 1)
    hana.disconnect()
    alone.counters.snapshot_gate.set()
    with pytest.raises(Unavailable):
        await joining
    assert attendance_log.told == (0, 0)


async def test_sockets_that_end_after_the_rooms_stopped_still_leave(
    alone: RoomProcess, attendance_log: AttendanceLog
) -> None:
    hana = await alone.client().join()
    await alone.rooms.stop()
    hana.disconnect()
    assert attendance_log.told == (0, 1)


async def test_each_process_attends_its_own_sockets_wherever_the_room_runs(
    two: tuple[RoomProcess, RoomProcess],
) -> None:
    one, other = two
    here, there = AttendanceLog(one), AttendanceLog(other)
    hana, sora = await one.client("hana").join(), await other.client("sora").join()
    assert one.owns
    assert [*here.present.values(), *there.present.values()] == ["one", "one"]
    assert next(iter(there.present)).startswith("web-2:")
    await one.rooms.execute(ROOM, guest(), Do(add=1, close=True))
    await wait_until(lambda: (here.told, there.told) == ((0, 1), (0, 1)))
    hana.disconnect()
    sora.disconnect()
    assert (here.told, there.told) == ((0, 1), (0, 1))
