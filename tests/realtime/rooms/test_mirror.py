"""Joining, resuming and falling behind: no event is lost and none is delivered twice."""

import asyncio
from random import Random

import pytest

from tests.realtime.rooms.counter_room import Count, CounterCommand, count_of
from tests.realtime.rooms.room_process import (
    ROOM,
    CounterClient,
    ProcessClock,
    RoomProcess,
    advance_until,
    guest,
    wait_until,
)
from tests.support.store_link import wait_for_pending_calls
from zataku.errors import Forbidden
from zataku.realtime.messages import Position
from zataku.realtime.rooms.history import MAX_EVENTS
from zataku.table import Store, path


async def test_a_client_that_joins_during_commands_misses_no_event(process: RoomProcess):
    process.counters.snapshot_gate.clear()
    hana = process.client()
    joining = asyncio.create_task(hana.join())
    await process.counters.wait_until(lambda: process.counters.snapshots == 1)
    began = int(process.clock.now() * 1000)
    for _ in range(5):
        await process.add(1)
    assert not hana.connection.messages
    process.counters.snapshot_gate.set()
    await joining
    await process.add(1)
    assert hana.read().sum == 6
    assert hana.at == Position(1, began + 6)


@pytest.mark.parametrize("shared_snapshot", [False, True])
async def test_many_clients_join_leave_and_resume_during_commands(process: RoomProcess, shared_snapshot: bool):
    process.counters.shared_snapshot = shared_snapshot
    random = Random(11)
    clients: list[CounterClient] = []
    adding = True

    async def add() -> None:
        while adding:
            await process.add(random.randint(1, 3))
            await asyncio.sleep(random.random() / 500)

    async def read(number: int) -> None:
        client = process.client(f"p{number % 5}")
        clients.append(client)
        for _ in range(6):
            await asyncio.sleep(random.random() / 100)
            await client.join(at=client.at if random.random() < 0.7 else None)
            await asyncio.sleep(random.random() / 100)
            client.read()
            if random.random() < 0.7:
                await client.leave()
        await client.join(at=client.at)

    adders = [asyncio.create_task(add()) for _ in range(4)]
    await asyncio.gather(*(read(number) for number in range(30)))
    adding = False
    await asyncio.gather(*adders)
    last = await process.add(1)
    assert {client.read().sum for client in clients} == {last}
    assert sum(client.resumed for client in clients) > 10


async def test_a_client_that_resumes_gets_only_the_missed_events(process: RoomProcess):
    hana = await process.client().join()
    await process.add(1)
    hana.read().disconnect()
    await process.add(1)
    await process.add(1)
    again = process.client()
    again.at, again.sum = hana.at, hana.sum
    await again.join(at=hana.at)
    assert (again.snapshots, again.resumed, again.sum) == (0, 1, 3)
    await process.add(1)
    assert again.read().sum == 4


async def test_a_position_that_is_too_old_or_of_another_epoch_gets_a_snapshot(process: RoomProcess):
    hana = await process.client().join()
    old = hana.at
    assert old is not None
    for _ in range(0, MAX_EVENTS + 50, 50):
        await asyncio.gather(*(process.add(1) for _ in range(50)))
    for at in (old, Position(7, old.seq), Position(1, old.seq + 10_000), Position(1, -5)):
        late = await process.client().join(at=at)
        assert (late.snapshots, late.sum) == (1, hana.read().sum)
    near = process.client()
    near.at, near.sum = Position(1, old.seq + 900), 900
    await near.join(at=near.at)
    assert (near.snapshots, near.sum) == (0, hana.sum)


async def test_a_client_that_missed_transient_changes_gets_a_snapshot(process: RoomProcess):
    hana, sora = await process.client().join(), await process.client("sora").join()
    await process.add(1)
    sora.read().disconnect()
    hana.send_transient("wave")
    back = process.client("sora")
    back.at, back.sum = sora.at, sora.sum
    await back.join(at=back.at)
    assert back.resumed == 1
    back.disconnect()
    hana.send_transient("a line")
    again = await process.client("sora").join(at=back.at)
    assert (again.resumed, again.snapshots, again.lines) == (0, 1, ["a line"])


async def test_transient_events_during_a_snapshot_are_delivered_once(process: RoomProcess):
    hana = await process.client().join()
    hana.send_transient("before")
    process.counters.snapshot_gate.clear()
    sora = process.client("sora")
    joining = asyncio.create_task(sora.join())
    await process.counters.wait_until(lambda: process.counters.snapshots == 2)
    hana.send_transient("during")
    process.counters.snapshot_gate.set()
    await joining
    assert (sora.lines, sora.transient_events) == (["before"], ["during"])


async def test_binary_events_during_a_snapshot_follow_it(process: RoomProcess):
    hana = await process.client().join()
    process.counters.snapshot_gate.clear()
    sora = process.client("sora")
    joining = asyncio.create_task(sora.join())
    await process.counters.wait_until(lambda: process.counters.snapshots == 2)
    process.router.handle_binary(hana.socket, ROOM, b"\x01\x02")
    process.counters.snapshot_gate.set()
    await joining
    assert hana.connection.binary == sora.connection.binary == [b"\x01\x02"]


async def test_transient_changes_during_a_write_are_kept(process: RoomProcess):
    hana = await process.client().join()
    await process.add(1)
    process.counters.gate.clear()
    adding = asyncio.create_task(process.add(1))
    await process.counters.wait_until(lambda: len(process.counters.batches) == 2)
    hana.send_transient("during")
    assert hana.read().transient_events == ["during"]
    process.counters.gate.set()
    await adding
    assert (await process.client("sora").join()).lines == ["during"]


async def test_three_hundred_concurrent_joins_share_one_snapshot(process: RoomProcess):
    process.counters.shared_snapshot = True
    await process.add(1)
    process.counters.snapshot_gate.clear()
    clients = [process.client(f"p{number}") for number in range(300)]
    joining = [asyncio.create_task(client.join()) for client in clients]
    await process.counters.wait_until(lambda: process.counters.snapshots >= 1)
    process.counters.snapshot_gate.set()
    await asyncio.gather(*joining)
    assert process.counters.snapshots == 1
    await process.add(1)
    assert (await process.client().join(since="x")).sum == 2
    assert process.counters.snapshots == 2


async def test_a_cancelled_join_does_not_cancel_the_snapshot_of_others(process: RoomProcess):
    process.counters.shared_snapshot = True
    process.counters.snapshot_gate.clear()
    leaver, stayer = process.client("sora"), process.client()
    leaving, staying = asyncio.create_task(leaver.join()), asyncio.create_task(stayer.join())
    await process.counters.wait_until(lambda: process.counters.snapshots == 1)
    leaving.cancel()
    await asyncio.sleep(0)
    leaver.disconnect()
    process.counters.snapshot_gate.set()
    assert (await staying).snapshots == 1
    assert ROOM not in leaver.socket.topics


async def test_a_client_that_is_not_admitted_cannot_resume_either(process: RoomProcess):
    hana = await process.client().join()
    await process.add(1)
    position = hana.read().at
    await hana.leave()
    process.counters.blocked.add(hana.socket.identity.account_id)
    for at in (None, position):
        with pytest.raises(Forbidden):
            await hana.join(at=at)
    assert ROOM not in hana.socket.topics


async def test_a_slow_reader_gets_a_snapshot_instead_of_the_backlog(process: RoomProcess, clock: ProcessClock):
    hana, slow = await process.client().join(), await process.client("slow").join()
    await process.add(1)
    slow.read().connection.slow = 10 << 20
    for _ in range(10):
        await process.add(1)
        hana.read()
    slow.connection.slow = 0
    await advance_until(clock, lambda: slow.read().sum == 11, 3)
    assert slow.snapshots == 2
    await process.add(1)
    assert hana.read().sum == slow.read().sum == 12


async def test_presence_counts_accounts(process: RoomProcess, clock: ProcessClock):
    hana = await process.client("hana").join()
    await process.client("hana").join()
    await advance_until(clock, lambda: hana.read().here == 1, 2)
    sora, yuki = await process.client("sora").join(), await process.client("yuki").join()
    await advance_until(clock, lambda: hana.read().here == 3, 2)
    assert process.rooms.running("counter") == {ROOM: 3}
    sora.disconnect()
    await yuki.leave()
    await advance_until(clock, lambda: hana.read().here == 1, 2)


async def test_presence_is_published_at_most_once_a_second(process: RoomProcess, clock: ProcessClock):
    hana = await process.client("hana").join()
    for number in range(30):
        await process.client(f"guest {number}").join()
        await clock.advance(0.1)
        await wait_for_pending_calls()
    counts = [message["here"] for message in hana.connection.messages if message["t"] == "presence"]
    assert 2 <= len(counts) <= 3
    assert counts == sorted(set(counts))


async def test_transient_changes_are_flushed_at_most_twice_a_second(process: RoomProcess, clock: ProcessClock):
    hana = await process.client().join()
    for number in range(40):
        hana.send_transient(f"line {number}")
        await clock.advance(0.05)
        await wait_for_pending_calls()
    await advance_until(clock, lambda: process.counters.flushed >= 4, 1)
    assert process.counters.flushed <= 5
    await process.rooms.execute(ROOM, guest(), CounterCommand())


async def test_a_client_resumes_within_a_minute_after_the_last_client_left(process: RoomProcess, clock: ProcessClock):
    hana = await process.client().join()
    await process.add(1)
    await clock.advance(600)
    position = hana.read().at
    hana.disconnect()
    await clock.advance(50)
    back = process.client()
    back.at, back.sum = position, 1
    await back.join(at=position)
    assert (back.resumed, back.snapshots) == (1, 0)


async def test_binary_events_during_a_resynchronisation_follow_the_snapshot(process: RoomProcess, store: Store):
    hana, sora = await process.client().join(), await process.client("sora").join()
    process.counters.snapshot_gate.clear()
    snapshots = process.counters.snapshots
    await store.update(count_of("one"), path(Count, lambda it: it.version).add(1))
    await process.add(1)
    await process.counters.wait_until(lambda: process.counters.snapshots == snapshots + 2)
    process.router.handle_binary(hana.socket, ROOM, b"\x01\x02")
    process.counters.snapshot_gate.set()
    await wait_until(lambda: hana.read().sum == sora.read().sum == 1)
    assert hana.connection.binary == sora.connection.binary == [b"\x01\x02"]


async def test_a_client_that_resumes_gets_transient_changes_of_another_process(two: tuple[RoomProcess, RoomProcess]):
    one, other = two
    hana, sora = await one.client().join(), await one.client("sora").join()
    await one.add(1)
    sora.read().disconnect()
    hana.send_transient("a line")
    await other.client("yuna").join()
    back = other.client("sora")
    back.at, back.sum = sora.at, sora.sum
    await back.join(at=back.at)
    assert back.lines == ["a line"]


async def test_a_slow_reader_learns_that_the_room_is_closed(process: RoomProcess):
    hana = await process.client().join()
    hana.connection.slow = process.hub.limits.max_backlog_bytes + 1
    await process.add(1)
    hana.read()
    await process.rooms.execute(ROOM, guest(), CounterCommand(add=1, close=True))
    assert hana.read().gone is not None
