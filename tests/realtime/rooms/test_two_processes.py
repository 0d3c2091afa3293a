"""One room and two processes: one runs it, both show it, and either may be lost."""

import asyncio
from random import Random

import pytest

from tests.realtime.rooms.counter_room import Counters, Do, count_of
from tests.realtime.rooms.room_process import (
    ROOM,
    House,
    ProcessClock,
    Reader,
    as_time_goes_by,
    running,
    somebody,
    until,
)
from tests.support.stores import StoreName
from zataku.errors import InvalidRequest, NotFound
from zataku.platform.design import lease
from zataku.platform.identity import Identity
from zataku.realtime.rooms.bus_messages import PresenceReport, RoomSnapshot, decode_rpc_message
from zataku.realtime.rooms.remote_owner import RemoteOwner
from zataku.table import Store

Two = tuple[House, House]


async def test_people_of_two_processes_are_in_one_room(two: Two, clock: ProcessClock):
    one, other = two
    hana = await one.reader("hana").join()
    sora = await other.reader("sora").join()
    assert (one.owns, other.owns) == (True, False)
    assert await other.add(1) == 1
    assert await one.add(1) == 2
    await until(lambda: hana.read().sum == sora.read().sum == 2)
    await as_time_goes_by(clock, lambda: (hana.read().here, sora.read().here) == (2, 2), 5)
    await until(lambda: other.rooms.running("counter") == {ROOM: 2})
    assert other.rooms.count_present(ROOM) == 2
    sora.disconnect()
    await as_time_goes_by(clock, lambda: hana.read().here == 1, 5)


async def test_what_passes_reaches_the_other_process(two: Two):
    one, other = two
    hana, sora = await one.reader("hana").join(), await other.reader("sora").join()
    sora.pass_on("wave")
    await until(lambda: hana.read().passed == ["wave"] and sora.read().passed == ["wave"])
    other.router.handle_binary(sora.socket, ROOM, b"\x00\xff")
    await until(lambda: hana.paper.binary == sora.paper.binary == [b"\x00\xff"])


async def test_a_refusal_comes_back_from_the_other_process_as_it_was(two: Two):
    one, other = two
    await one.add(1)
    with pytest.raises(InvalidRequest, match="counts up") as refused:
        await other.add(-1)
    assert (refused.value.status, refused.value.problem.code) == (400, "invalid")
    with pytest.raises(NotFound):
        await other.rooms.execute("counter/none", somebody(), Do())


async def test_whoever_is_let_go_elsewhere_hears_that_the_room_is_over(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    sora = await other.reader("sora").join()
    await other.rooms.execute(ROOM, somebody(), Do(add=1, close=True))
    await until(lambda: sora.read().gone is not None)
    assert sora.sum == 2
    with pytest.raises(NotFound):
        await running(clock, other.add(1), 12)


async def test_many_read_and_add_in_both_processes_and_nobody_misses_anything(two: Two):
    random = Random(5)
    readers: list[Reader] = []
    await two[0].add(1)
    adding = True

    async def add(house: House) -> None:
        while adding:
            await house.add(random.randint(1, 3))

    async def read(number: int) -> None:
        reader = two[number % 2].reader(f"p{number}")
        readers.append(reader)
        for _ in range(5):
            await reader.join(at=reader.at)
            await asyncio.sleep(random.random() / 100)
            await reader.leave()
            reader.read()
        await reader.join(at=reader.at)

    adders = [asyncio.create_task(add(house)) for house in two for _ in range(2)]
    await asyncio.gather(*(read(number) for number in range(24)))
    adding = False
    await asyncio.gather(*adders)
    last = await two[0].add(1)
    await until(lambda: {reader.read().sum for reader in readers} == {last})


async def test_a_killed_owner_is_followed_by_the_other_process_within_ten_seconds(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    sora = await other.reader("sora").join()
    await other.add(1)
    await one.kill()
    took = await as_time_goes_by(clock, lambda: other.owns and sora.read().snapshots == 2, 10)
    assert took > 3
    assert await other.add(1) == 3
    assert sora.read().sum == 3


async def test_a_command_under_way_when_its_owner_dies_is_carried_out_once_by_the_next(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    await other.reader("sora").join()
    one.counters.gate.clear()
    waiting = asyncio.create_task(other.add(5))
    await until(lambda: len(one.counters.batches) == 2)
    await one.kill()
    assert await running(clock, waiting, 12) == 6


async def test_a_command_that_the_dead_owner_stored_is_not_carried_out_again(
    two: Two, clock: ProcessClock, store: Store
):
    one, other = two
    await one.add(1)
    await other.reader("sora").join()
    # The owner stores the command, and dies before it can say so.
    sent = one.bus.publish
    one.bus.publish = lambda channel, message: None  # type: ignore[method-assign]
    waiting = asyncio.create_task(other.add(5))
    async with asyncio.timeout(10):
        while (found := await store.get(count_of("one"))) is None or found.value != 6:
            await asyncio.sleep(0.001)
    await one.kill()
    one.bus.publish = sent  # type: ignore[method-assign]
    assert await running(clock, waiting, 12) == 6


async def test_a_server_that_stops_hands_its_rooms_over_at_once(two: Two, clock: ProcessClock, store: Store):
    one, other = two
    hana = await one.reader("hana").join()
    sora = await other.reader("sora").join()
    hana.pass_on("a last line")
    await one.rooms.stop()
    await until(lambda: other.owns and sora.read().snapshots == 2)
    assert sora.lines == ["a last line"]
    assert await other.add(1) == 1
    held = await store.get(lease(f"room/{ROOM}"))
    assert held is not None
    assert held.owner == "web-2"


async def test_commands_under_way_while_a_server_stops_are_answered_by_the_other(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    await other.reader("sora").join()
    adding = [asyncio.create_task(other.add(1)) for _ in range(200)]
    await asyncio.sleep(0.002)
    await one.rooms.stop()
    answers = await running(clock, asyncio.gather(*adding), 12)
    assert sorted(answers) == list(range(2, 202))


async def paused(house: House) -> None:
    """Stop a process as SIGSTOP does, as far as that can be seen from outside: no renewals, no beats."""
    house.rooms._pulse_task.cancel()  # type: ignore[attr-defined]
    await asyncio.sleep(0)


async def test_a_paused_owner_cannot_write_after_it_lost_the_room(two: Two, clock: ProcessClock, store: Store):
    one, other = two
    hana = await one.reader("hana").join()
    sora = await other.reader("sora").join()
    await one.add(1)
    heard = one.bus._handlers.copy()
    one.bus._handlers.clear()
    await paused(one)
    await as_time_goes_by(clock, lambda: other.owns, 10)
    assert await other.add(10) == 11
    # It wakes up: its people ask, and nothing is acknowledged that was not stored by the one who owns the room now.
    one.bus._handlers.update(heard)
    assert one.owns
    assert await running(clock, one.add(100), 12) == 111
    assert not one.owns
    await until(lambda: hana.read().sum == sora.read().sum == 111)
    stored = await store.get(count_of("one"))
    assert stored is not None
    assert stored.value == 111


async def test_a_paused_owner_that_wakes_up_in_time_goes_on(two: Two, clock: ProcessClock, store: Store):
    one, _ = two
    hana = await one.reader("hana").join()
    await paused(one)
    await clock.advance(30)
    assert await one.add(1) == 1
    assert hana.read().snapshots == 1
    assert one.owns


async def test_an_owner_whose_epoch_is_outdated_takes_the_room_again(two: Two, clock: ProcessClock, store: Store):
    one, _ = two
    hana = await one.reader("hana").join()
    await one.add(1)
    # Somebody took the room who had lost the lease in between.
    await two[1].counters.acquire("one")
    assert await running(clock, one.add(1), 12) == 2
    await until(lambda: hana.read().sum == 2)
    assert hana.at is not None
    assert hana.at.epoch == 3


async def test_messages_that_are_lost_between_processes_lead_to_a_snapshot(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    sora = await other.reader("sora").join()
    channel = f"room/{ROOM}"
    hear = other.bus._handlers.pop(channel)
    await one.add(1)
    await asyncio.sleep(0.01)
    other.bus._handlers[channel] = hear
    await one.add(1)
    await until(lambda: sora.read().sum == 3)
    assert sora.snapshots == 2
    # And if nothing comes after what was lost, the next beat tells.
    del other.bus._handlers[channel]
    await one.add(1)
    await asyncio.sleep(0.01)
    other.bus._handlers[channel] = hear
    await as_time_goes_by(clock, lambda: sora.read().sum == 4, 3)
    assert sora.snapshots == 3


async def test_a_reply_that_is_lost_is_asked_for_again_and_nothing_is_done_twice(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    await other.reader("sora").join()
    mine = "process/web-2"
    hear = other.bus._handlers.pop(mine)
    waiting = asyncio.create_task(other.add(1))
    await until(lambda: len(one.counters.batches) == 2)
    await asyncio.sleep(0.01)
    other.bus._handlers[mine] = hear
    assert await running(clock, waiting, 6) == 2
    assert await one.add(0) == 2


async def test_when_nobody_can_be_asked_the_asker_is_told_so(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    await other.reader("sora").join()
    other.bus._handlers.clear()
    waiting = asyncio.create_task(other.add(1))
    with pytest.raises(Exception, match="We can't tell|No server process runs"):
        await running(clock, waiting, 30)


@pytest.mark.parametrize("kind", ["lossy"])
async def test_rooms_go_on_over_a_table_that_loses_replies(two: Two, kind: StoreName, clock: ProcessClock):
    readers = [await running(clock, house.reader(house.name).join(), 15) for house in two]
    total = 0
    for number in range(40):
        house = two[number % 2]
        total = await running(clock, house.add(1), 15)
    assert total == 40
    await as_time_goes_by(clock, lambda: {reader.read().sum for reader in readers} == {40}, 5)


async def test_many_commands_from_elsewhere_are_answered_in_order(two: Two):
    one, other = two
    await one.add(1)
    await other.reader("sora").join()
    asks = [other.rooms.ask(ROOM, somebody(f"p{n}"), Do(add=1), int) for n in range(400)]
    answers = await asyncio.gather(*asks)
    assert list(answers) == list(range(2, 402))


async def test_whoever_lost_their_connection_comes_back_to_a_mirror_without_a_snapshot(two: Two, clock: ProcessClock):
    one, other = two
    await one.reader("hana").join()
    sora = await other.reader("sora").join()
    await as_time_goes_by(clock, lambda: sora.read().here == 2, 5)
    await clock.run(65)
    await other.add(1)
    await until(lambda: sora.read().sum == 1)
    sora.disconnect()
    await clock.run(20)
    await one.add(1)
    back = other.reader("sora")
    back.at, back.sum = sora.at, sora.sum
    await back.join(at=sora.at)
    await until(lambda: back.read().sum == 2)
    assert (back.resumed, back.snapshots) == (1, 0)


@pytest.mark.parametrize("shared_snapshot", [False, True])
async def test_everybody_sees_the_room_of_the_next_owner(two: Two, shared_snapshot: bool, clock: ProcessClock):
    one, other = two
    for house in two:
        house.counters.shared_snapshot = shared_snapshot
    await one.add(1)
    readers = [await other.reader(f"p{number}").join() for number in range(30)]
    other.counters.barred.add(readers[0].socket.identity.account_id)
    asked = other.counters.snapshots
    await one.rooms.stop()
    await until(lambda: all(reader.read().snapshots == 2 or reader.gone is not None for reader in readers))
    assert other.counters.snapshots - asked == (29 if not shared_snapshot else other.counters.snapshots - asked)
    await other.add(1)
    assert {reader.read().sum for reader in readers if reader.gone is None} == {2}


async def test_two_processes_that_want_a_room_at_once_agree_on_one_owner(two: Two, clock: ProcessClock):
    answers = await running(clock, asyncio.gather(*(house.add(1) for house in two for _ in range(5))), 12)
    assert sorted(answers) == list(range(1, 11))
    assert [house.owns for house in two].count(True) == 1


async def test_somebody_who_is_connected_to_both_processes_counts_once(two: Two, clock: ProcessClock):
    one, other = two
    hana = await one.reader("hana").join()
    twin = await other.reader("hana").join()
    sora = await other.reader("sora").join()
    await as_time_goes_by(clock, lambda: hana.read().here == 2 and sora.read().here == 2, 5)
    twin.disconnect()
    await clock.run(5)
    assert hana.read().here == 2
    await other.kill()
    await as_time_goes_by(clock, lambda: hana.read().here == 1, 9)


async def test_people_whose_coming_was_not_heard_are_counted_all_the_same(two: Two, clock: ProcessClock):
    one, other = two
    hana = await one.reader("hana").join()
    await other.reader("sora").join()
    await as_time_goes_by(clock, lambda: hana.read().here == 2, 5)
    hear = one.bus._handlers["process/web-1"]
    deaf = lambda message: None if isinstance(decode_rpc_message(message), PresenceReport) else hear(message)  # noqa: E731
    one.bus._handlers["process/web-1"] = deaf
    await other.reader("yuki").join()
    await clock.run(1.5)
    one.bus._handlers["process/web-1"] = hear
    await as_time_goes_by(clock, lambda: hana.read().here == 3, 5)


async def test_whoever_comes_back_after_a_gap_in_the_bus_misses_nothing(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    sora = await other.reader("sora").join()
    sora.disconnect()
    hear = other.bus._handlers.pop(f"room/{ROOM}")
    await one.add(1)
    await asyncio.sleep(0.01)
    other.bus._handlers[f"room/{ROOM}"] = hear
    other.bus._dispatch_gap()
    back = other.reader("sora")
    back.at, back.sum = sora.at, sora.sum
    assert (await back.join(at=sora.at)).sum == 2
    assert back.snapshots == 1


async def test_a_crowd_that_comes_at_once_fetches_the_room_once(two: Two, monkeypatch: pytest.MonkeyPatch):
    one, other = two
    monkeypatch.setattr(Counters, "restricted", False)
    other.counters.shared_snapshot = one.counters.shared_snapshot = True
    fetched: list[str | None] = []
    fetch = RemoteOwner._fetch_snapshot

    async def counted(owner: RemoteOwner, viewer: Identity, since: str | None, *, with_body: bool) -> RoomSnapshot:
        fetched.append(since)
        return await fetch(owner, viewer, since, with_body=with_body)

    monkeypatch.setattr(RemoteOwner, "_fetch_snapshot", counted)
    await one.add(5)
    readers = [other.reader(f"r{number}") for number in range(50)]
    await asyncio.gather(*(reader.join() for reader in readers))
    assert {reader.read().sum for reader in readers} == {5}
    assert len(fetched) <= 2
