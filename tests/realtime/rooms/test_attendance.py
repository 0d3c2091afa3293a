"""Whoever keeps attendance hears of every socket that comes into a room of this process and leaves it, each once."""

import asyncio

import pytest

from tests.realtime.rooms.counter_room import Count, Do, count_of
from tests.realtime.rooms.room_process import ROOM, House, ProcessClock, as_time_goes_by, somebody, until
from zataku.errors import Unavailable
from zataku.table import Store, path


class Register:
    """Who is in, by the ids of their joins. Nobody comes or goes twice."""

    def __init__(self, house: House) -> None:
        self.present: dict[str, str] = {}
        self.past: list[str] = []
        house.counters.attendance = self

    def joined(self, room_id: str, connection: str) -> None:
        assert connection not in self.present
        assert connection not in self.past
        self.present[connection] = room_id

    def left(self, room_id: str, connection: str) -> None:
        assert self.present.pop(connection) == room_id
        self.past.append(connection)

    @property
    def told(self) -> tuple[int, int]:
        """How many are in, and how many were."""
        return len(self.present), len(self.past)


@pytest.fixture
def register(alone: House) -> Register:
    """Attendance of the rooms of the house that is alone."""
    return Register(alone)


async def test_who_leaves_and_who_disconnects_has_left_once(alone: House, register: Register) -> None:
    hana, sora = await alone.reader("hana").join(), await alone.reader("sora").join()
    assert register.told == (2, 0)
    await hana.leave()
    await hana.leave()
    hana.disconnect()
    assert register.told == (1, 1)
    sora.disconnect()
    sora.disconnect()
    assert register.told == (0, 2)


async def test_every_join_has_an_id_of_its_own_that_begins_with_the_process(alone: House, register: Register) -> None:
    hana = await alone.reader().join()
    await hana.join("counter/two")
    other_page = await alone.reader().join()
    assert sorted(register.present.values()) == ["one", "one", "two"]
    assert all(connection.startswith("web-0:") for connection in register.present)
    for reader in (hana, other_page):
        reader.disconnect()
    assert register.told == (0, 3)


async def test_joining_again_is_leaving_and_coming_anew(alone: House, register: Register) -> None:
    hana = await alone.reader().join()
    await hana.join()
    assert register.told == (1, 1)
    await alone.add(1)
    place = hana.read().at
    await hana.leave()
    await hana.join(at=place)
    assert hana.resumed == 1
    assert register.told == (1, 2)


async def test_the_end_of_the_room_lets_everybody_go(alone: House, register: Register) -> None:
    readers = [await alone.reader(name).join() for name in ("hana", "sora", "yuna")]
    readers[0].paper.slow = alone.hub.limits.max_backlog_bytes + 1
    await alone.rooms.execute(ROOM, somebody(), Do(add=1, close=True))
    await until(lambda: register.told == (0, 3))
    for reader in readers:
        reader.disconnect()
    assert register.told == (0, 3)


async def test_whoever_may_not_stay_has_left(alone: House, register: Register, store: Store) -> None:
    hana, sora = await alone.reader("hana").join(), await alone.reader("sora").join()
    alone.counters.barred.add(sora.socket.identity.account_id)
    await store.update(count_of("one"), path(Count, lambda it: it.version).add(1))
    await alone.add(1)
    await until(lambda: sora.read().gone is not None)
    assert register.told == (1, 1)
    sora.disconnect()
    hana.disconnect()
    assert register.told == (0, 2)


async def test_a_slow_reader_who_may_not_come_back_has_left(
    alone: House, register: Register, clock: ProcessClock
) -> None:
    slow = await alone.reader("slow").join()
    slow.paper.slow = alone.hub.limits.max_backlog_bytes + 1
    await alone.add(1)
    slow.read()
    alone.counters.barred.add(slow.socket.identity.account_id)
    slow.paper.slow = 0
    await as_time_goes_by(clock, lambda: slow.read().gone is not None, 3)
    assert register.told == (0, 1)


async def test_whoever_is_gone_before_they_could_come_in_was_never_there(alone: House, register: Register) -> None:
    alone.counters.snapshot_gate.clear()
    hana = alone.reader()
    joining = asyncio.create_task(hana.join())
    await until(lambda: alone.counters.snapshots == 1)
    hana.disconnect()
    alone.counters.snapshot_gate.set()
    with pytest.raises(Unavailable):
        await joining
    assert register.told == (0, 0)


async def test_those_who_are_sent_home_have_left_though_the_rooms_have_stopped(
    alone: House, register: Register
) -> None:
    hana = await alone.reader().join()
    await alone.rooms.stop()
    hana.disconnect()
    assert register.told == (0, 1)


async def test_each_process_hears_of_its_own_sockets_wherever_the_room_runs(two: tuple[House, House]) -> None:
    one, other = two
    here, there = Register(one), Register(other)
    hana, sora = await one.reader("hana").join(), await other.reader("sora").join()
    assert one.owns
    assert [*here.present.values(), *there.present.values()] == ["one", "one"]
    assert next(iter(there.present)).startswith("web-2:")
    await one.rooms.execute(ROOM, somebody(), Do(add=1, close=True))
    await until(lambda: (here.told, there.told) == ((0, 1), (0, 1)))
    hana.disconnect()
    sora.disconnect()
    assert (here.told, there.told) == ((0, 1), (0, 1))
