"""Joining, coming back, and falling behind: nothing is lost and nothing comes twice."""

import asyncio
from random import Random

import pytest

from tests.realtime.rooms.counter_room import Count, Do, count_of
from tests.realtime.rooms.room_process import ROOM, House, ProcessClock, Reader, as_time_goes_by, somebody, until
from zataku.errors import Forbidden
from zataku.realtime.messages import Place
from zataku.realtime.rooms.history import MAX_EVENTS
from zataku.table import Store, path


async def test_whoever_joins_while_things_happen_misses_nothing(alone: House):
    alone.counters.snapshot_gate.clear()
    hana = alone.reader()
    joining = asyncio.create_task(hana.join())
    await until(lambda: alone.counters.snapshots == 1)
    began = int(alone.clock.now() * 1000)
    for _ in range(5):
        await alone.add(1)
    assert not hana.paper.messages
    alone.counters.snapshot_gate.set()
    await joining
    await alone.add(1)
    assert hana.read().sum == 6
    assert hana.at == Place(1, began + 6)


@pytest.mark.parametrize("shared_snapshot", [False, True])
async def test_many_join_leave_and_come_back_while_everybody_adds(alone: House, shared_snapshot: bool):
    alone.counters.shared_snapshot = shared_snapshot
    random = Random(11)
    readers: list[Reader] = []
    adding = True

    async def add() -> None:
        while adding:
            await alone.add(random.randint(1, 3))
            await asyncio.sleep(random.random() / 500)

    async def read(number: int) -> None:
        reader = alone.reader(f"p{number % 5}")
        readers.append(reader)
        for _ in range(6):
            await asyncio.sleep(random.random() / 100)
            await reader.join(at=reader.at if random.random() < 0.7 else None)
            await asyncio.sleep(random.random() / 100)
            reader.read()
            if random.random() < 0.7:
                await reader.leave()
        await reader.join(at=reader.at)

    adders = [asyncio.create_task(add()) for _ in range(4)]
    await asyncio.gather(*(read(number) for number in range(30)))
    adding = False
    await asyncio.gather(*adders)
    last = await alone.add(1)
    assert {reader.read().sum for reader in readers} == {last}
    assert sum(reader.resumed for reader in readers) > 10


async def test_whoever_comes_back_gets_only_what_they_missed(alone: House):
    hana = await alone.reader().join()
    await alone.add(1)
    hana.read().disconnect()
    await alone.add(1)
    await alone.add(1)
    again = alone.reader()
    again.at, again.sum = hana.at, hana.sum
    await again.join(at=hana.at)
    assert (again.snapshots, again.resumed, again.sum) == (0, 1, 3)
    await alone.add(1)
    assert again.read().sum == 4


async def test_a_place_that_is_too_old_or_of_another_epoch_gets_a_snapshot(alone: House):
    hana = await alone.reader().join()
    old = hana.at
    assert old is not None
    for _ in range(0, MAX_EVENTS + 50, 50):
        await asyncio.gather(*(alone.add(1) for _ in range(50)))
    for at in (old, Place(7, old.seq), Place(1, old.seq + 10_000), Place(1, -5)):
        late = await alone.reader().join(at=at)
        assert (late.snapshots, late.sum) == (1, hana.read().sum)
    near = alone.reader()
    near.at, near.sum = Place(1, old.seq + 900), 900
    await near.join(at=near.at)
    assert (near.snapshots, near.sum) == (0, hana.sum)


async def test_whoever_was_away_while_lines_were_drawn_gets_the_picture_anew(alone: House):
    hana, sora = await alone.reader().join(), await alone.reader("sora").join()
    await alone.add(1)
    sora.read().disconnect()
    hana.pass_on("wave")
    back = alone.reader("sora")
    back.at, back.sum = sora.at, sora.sum
    await back.join(at=back.at)
    assert back.resumed == 1
    back.disconnect()
    hana.pass_on("a line")
    again = await alone.reader("sora").join(at=back.at)
    assert (again.resumed, again.snapshots, again.lines) == (0, 1, ["a line"])


async def test_lines_drawn_while_a_snapshot_is_made_are_seen_once(alone: House):
    hana = await alone.reader().join()
    hana.pass_on("before")
    alone.counters.snapshot_gate.clear()
    sora = alone.reader("sora")
    joining = asyncio.create_task(sora.join())
    await until(lambda: alone.counters.snapshots == 2)
    hana.pass_on("meanwhile")
    alone.counters.snapshot_gate.set()
    await joining
    assert (sora.lines, sora.passed) == (["before"], ["meanwhile"])


async def test_bytes_that_pass_while_a_snapshot_is_made_follow_it(alone: House):
    hana = await alone.reader().join()
    alone.counters.snapshot_gate.clear()
    sora = alone.reader("sora")
    joining = asyncio.create_task(sora.join())
    await until(lambda: alone.counters.snapshots == 2)
    alone.router.handle_binary(hana.socket, ROOM, b"\x01\x02")
    alone.counters.snapshot_gate.set()
    await joining
    assert hana.paper.binary == sora.paper.binary == [b"\x01\x02"]


async def test_lines_drawn_during_a_write_are_kept(alone: House):
    hana = await alone.reader().join()
    await alone.add(1)
    alone.counters.gate.clear()
    adding = asyncio.create_task(alone.add(1))
    await until(lambda: len(alone.counters.batches) == 2)
    hana.pass_on("during")
    assert hana.read().passed == ["during"]
    alone.counters.gate.set()
    await adding
    assert (await alone.reader("sora").join()).lines == ["during"]


async def test_three_hundred_who_join_at_once_share_one_snapshot(alone: House):
    alone.counters.shared_snapshot = True
    await alone.add(1)
    alone.counters.snapshot_gate.clear()
    readers = [alone.reader(f"p{number}") for number in range(300)]
    joining = [asyncio.create_task(reader.join()) for reader in readers]
    await until(lambda: alone.counters.snapshots >= 1)
    alone.counters.snapshot_gate.set()
    await asyncio.gather(*joining)
    assert alone.counters.snapshots == 1
    await alone.add(1)
    assert (await alone.reader().join(since="x")).sum == 2
    assert alone.counters.snapshots == 2


async def test_whoever_goes_away_while_joining_does_not_take_the_snapshot_from_others(alone: House):
    alone.counters.shared_snapshot = True
    alone.counters.snapshot_gate.clear()
    leaver, stayer = alone.reader("sora"), alone.reader()
    leaving, staying = asyncio.create_task(leaver.join()), asyncio.create_task(stayer.join())
    await until(lambda: alone.counters.snapshots == 1)
    leaving.cancel()
    await asyncio.sleep(0)
    leaver.disconnect()
    alone.counters.snapshot_gate.set()
    assert (await staying).snapshots == 1
    assert leaver.socket not in alone.hub.members(ROOM)


async def test_whoever_may_not_enter_may_not_come_back_either(alone: House):
    hana = await alone.reader().join()
    await alone.add(1)
    place = hana.read().at
    await hana.leave()
    alone.counters.barred.add(hana.socket.identity.account_id)
    for at in (None, place):
        with pytest.raises(Forbidden):
            await hana.join(at=at)
    assert not alone.hub.members(ROOM)


async def test_a_slow_reader_gets_a_snapshot_instead_of_the_backlog(alone: House, clock: ProcessClock):
    hana, slow = await alone.reader().join(), await alone.reader("slow").join()
    await alone.add(1)
    slow.read().paper.slow = 10 << 20
    for _ in range(10):
        await alone.add(1)
        hana.read()
    slow.paper.slow = 0
    await as_time_goes_by(clock, lambda: slow.read().sum == 11, 3)
    assert slow.snapshots == 2
    await alone.add(1)
    assert hana.read().sum == slow.read().sum == 12


async def test_people_are_counted_once_and_told_at_most_once_a_second(alone: House, clock: ProcessClock):
    hana = await alone.reader("hana").join()
    await alone.reader("hana").join()
    await as_time_goes_by(clock, lambda: hana.read().here == 1, 2)
    sora, yuki = await alone.reader("sora").join(), await alone.reader("yuki").join()
    await as_time_goes_by(clock, lambda: hana.read().here == 3, 2)
    assert alone.rooms.count_present(ROOM) == 3
    assert alone.rooms.running("counter") == {ROOM: 3}
    sora.disconnect()
    await yuki.leave()
    await as_time_goes_by(clock, lambda: hana.read().here == 1, 2)
    counted = [message for message in hana.paper.messages if message["t"] == "presence"]
    assert counted == []


async def test_what_passes_is_stored_at_most_twice_a_second(alone: House, clock: ProcessClock):
    hana = await alone.reader().join()
    for number in range(40):
        hana.pass_on(f"line {number}")
        await clock.advance(0.05)
        await asyncio.sleep(0.001)
    await as_time_goes_by(clock, lambda: alone.counters.flushed >= 4, 1)
    assert alone.counters.flushed <= 5
    await alone.rooms.execute(ROOM, somebody(), Do())


async def test_a_quiet_room_waits_a_minute_for_whoever_lost_their_connection(alone: House, clock: ProcessClock):
    hana = await alone.reader().join()
    await alone.add(1)
    await clock.advance(600)
    place = hana.read().at
    hana.disconnect()
    await clock.advance(50)
    back = alone.reader()
    back.at, back.sum = place, 1
    await back.join(at=place)
    assert (back.resumed, back.snapshots) == (1, 0)


async def test_bytes_that_pass_while_everybody_is_shown_the_room_anew_follow_it(alone: House, store: Store):
    hana, sora = await alone.reader().join(), await alone.reader("sora").join()
    alone.counters.snapshot_gate.clear()
    shown = alone.counters.snapshots
    await store.update(count_of("one"), path(Count, lambda it: it.version).add(1))
    await alone.add(1)
    await until(lambda: alone.counters.snapshots == shown + 2)
    alone.router.handle_binary(hana.socket, ROOM, b"\x01\x02")
    alone.counters.snapshot_gate.set()
    await until(lambda: hana.read().sum == sora.read().sum == 1)
    assert hana.paper.binary == sora.paper.binary == [b"\x01\x02"]


async def test_a_picture_that_changed_elsewhere_is_shown_to_whoever_comes_back_here(two: tuple[House, House]):
    one, other = two
    hana, sora = await one.reader().join(), await one.reader("sora").join()
    await one.add(1)
    sora.read().disconnect()
    hana.pass_on("a line")
    await other.reader("yuna").join()
    back = other.reader("sora")
    back.at, back.sum = sora.at, sora.sum
    await back.join(at=back.at)
    assert back.lines == ["a line"]


async def test_a_slow_reader_hears_that_the_room_is_over(alone: House):
    hana = await alone.reader().join()
    hana.paper.slow = alone.hub.limits.max_backlog_bytes + 1
    await alone.add(1)
    hana.read()
    await alone.rooms.execute(ROOM, somebody(), Do(add=1, close=True))
    assert hana.read().gone is not None
