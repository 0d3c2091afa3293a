"""Every join and every leave of a socket of this process is reported to attendance once."""

import asyncio

import pytest

from tests.realtime.rooms.counter_room import Count, CounterCommand, count_of
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
    def counts(self) -> tuple[int, int]:
        """How many joins are open, and how many are closed."""
        return len(self.present), len(self.past)


@pytest.fixture
def attendance_log(process: RoomProcess) -> AttendanceLog:
    """Attendance of the single process."""
    return AttendanceLog(process)


async def test_leaving_and_disconnecting_is_reported_once(process: RoomProcess, attendance_log: AttendanceLog) -> None:
    hana, sora = await process.client("hana").join(), await process.client("sora").join()
    assert attendance_log.counts == (2, 0)
    await hana.leave()
    await hana.leave()
    hana.disconnect()
    assert attendance_log.counts == (1, 1)
    sora.disconnect()
    sora.disconnect()
    assert attendance_log.counts == (0, 2)


async def test_every_join_has_a_unique_id_that_begins_with_the_process(
    process: RoomProcess, attendance_log: AttendanceLog
) -> None:
    hana = await process.client().join()
    await hana.join("counter/two")
    other_page = await process.client().join()
    assert sorted(attendance_log.present.values()) == ["one", "one", "two"]
    assert all(connection.startswith("web-0:") for connection in attendance_log.present)
    for client in (hana, other_page):
        client.disconnect()
    assert attendance_log.counts == (0, 3)


async def test_joining_twice_is_reported_as_leaving_and_joining(
    process: RoomProcess, attendance_log: AttendanceLog
) -> None:
    hana = await process.client().join()
    await hana.join()
    assert attendance_log.counts == (1, 1)
    await process.add(1)
    position = hana.read().at
    await hana.leave()
    await hana.join(at=position)
    assert hana.resumed == 1
    assert attendance_log.counts == (1, 2)


async def test_closing_the_room_reports_every_socket_as_left(
    process: RoomProcess, attendance_log: AttendanceLog
) -> None:
    clients = [await process.client(name).join() for name in ("hana", "sora", "yuna")]
    clients[0].connection.slow = process.hub.limits.max_backlog_bytes + 1
    await process.rooms.execute(ROOM, guest(), CounterCommand(add=1, close=True))
    await wait_until(lambda: attendance_log.counts == (0, 3))
    for client in clients:
        client.disconnect()
    assert attendance_log.counts == (0, 3)


async def test_a_client_that_is_no_longer_admitted_has_left(
    process: RoomProcess, attendance_log: AttendanceLog, store: Store
) -> None:
    hana, sora = await process.client("hana").join(), await process.client("sora").join()
    process.counters.blocked.add(sora.socket.identity.account_id)
    await store.update(count_of("one"), path(Count, lambda it: it.version).add(1))
    await process.add(1)
    await wait_until(lambda: sora.read().gone is not None)
    assert attendance_log.counts == (1, 1)
    sora.disconnect()
    hana.disconnect()
    assert attendance_log.counts == (0, 2)


async def test_a_slow_reader_that_is_no_longer_admitted_has_left(
    process: RoomProcess, attendance_log: AttendanceLog, clock: ProcessClock
) -> None:
    slow = await process.client("slow").join()
    slow.connection.slow = process.hub.limits.max_backlog_bytes + 1
    await process.add(1)
    slow.read()
    process.counters.blocked.add(slow.socket.identity.account_id)
    slow.connection.slow = 0
    await advance_until(clock, lambda: slow.read().gone is not None, 3)
    assert attendance_log.counts == (0, 1)


async def test_a_socket_that_ends_during_its_join_is_not_reported(
    process: RoomProcess, attendance_log: AttendanceLog
) -> None:
    process.counters.snapshot_gate.clear()
    hana = process.client()
    joining = asyncio.create_task(hana.join())
    await process.counters.wait_until(lambda: process.counters.snapshots == 1)
    hana.disconnect()
    process.counters.snapshot_gate.set()
    with pytest.raises(Unavailable):
        await joining
    assert attendance_log.counts == (0, 0)


async def test_sockets_that_end_after_the_rooms_stopped_are_reported_as_left(
    process: RoomProcess, attendance_log: AttendanceLog
) -> None:
    hana = await process.client().join()
    await process.rooms.stop()
    hana.disconnect()
    assert attendance_log.counts == (0, 1)


async def test_each_process_reports_its_own_sockets_wherever_the_room_runs(
    two: tuple[RoomProcess, RoomProcess],
) -> None:
    one, other = two
    here, there = AttendanceLog(one), AttendanceLog(other)
    hana, sora = await one.client("hana").join(), await other.client("sora").join()
    assert one.owns
    assert [*here.present.values(), *there.present.values()] == ["one", "one"]
    assert next(iter(there.present)).startswith("web-2:")
    await one.rooms.execute(ROOM, guest(), CounterCommand(add=1, close=True))
    await wait_until(lambda: (here.counts, there.counts) == ((0, 1), (0, 1)))
    hana.disconnect()
    sora.disconnect()
    assert (here.counts, there.counts) == ((0, 1), (0, 1))
