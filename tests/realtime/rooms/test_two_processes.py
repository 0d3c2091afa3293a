"""One room and two processes: one owns it, both have clients of it, and either may fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from tests.realtime.rooms.counter_room import CounterCommand, CounterRooms, count_of
from tests.realtime.rooms.room_process import (
    ROOM,
    CounterClient,
    ProcessClock,
    RoomProcess,
    advance_until,
    guest,
    run_with_clock,
    wait_until,
)
from tests.support.stores import StoreName
from zataku.errors import InvalidRequest, NotFound
from zataku.platform.design import lease
from zataku.realtime.rooms.bus_messages import (
    CallReply,
    DurableEvents,
    PresenceReport,
    SnapshotCall,
    decode_rpc_message,
    decode_update,
)
from zataku.table import Store

Two = tuple[RoomProcess, RoomProcess]


def any_message(_channel: str, _message: bytes) -> bool:
    return True


@asynccontextmanager
async def drop_messages(process: RoomProcess, channel: str, kind: type) -> AsyncIterator[None]:
    """Drop the messages of a channel to a process; the block ends when one of that kind was dropped."""
    decode = decode_update if channel.startswith("room/") else decode_rpc_message
    was_dropped = asyncio.Event()

    def matches(to: str, message: bytes) -> bool:
        if to == channel and isinstance(decode(message), kind):
            was_dropped.set()
        return to == channel

    with process.transport.drop(matches):
        yield
        async with asyncio.timeout(10):
            await was_dropped.wait()


async def test_clients_of_two_processes_are_in_one_room(two: Two, clock: ProcessClock):
    one, other = two
    hana = await one.client("hana").join()
    sora = await other.client("sora").join()
    assert (one.owns, other.owns) == (True, False)
    assert await other.add(1) == 1
    assert await one.add(1) == 2
    await wait_until(lambda: hana.read().sum == sora.read().sum == 2)
    await advance_until(clock, lambda: (hana.read().here, sora.read().here) == (2, 2), 5)
    await wait_until(lambda: other.rooms.running("counter") == {ROOM: 2})
    sora.disconnect()
    await advance_until(clock, lambda: hana.read().here == 1, 5)


async def test_people_and_rooms_are_reported_when_the_clock_is_set_back(two: Two, clock: ProcessClock):
    one, other = two
    hana = await one.client("hana").join()
    await other.client("sora").join()
    await advance_until(clock, lambda: hana.read().here == 2, 5)
    clock.set_back(7200)
    await other.client("mio").join()
    await advance_until(clock, lambda: hana.read().here == 3, 5)
    clock.set_back(7200)
    # As in a process that has just started.
    other.rooms._directory._remote.clear()
    await advance_until(clock, lambda: other.rooms.running("counter") == {ROOM: 3}, 5)


async def test_transient_commands_reach_the_other_process(two: Two):
    one, other = two
    hana, sora = await one.client("hana").join(), await other.client("sora").join()
    sora.send_transient("wave")
    await wait_until(lambda: hana.read().transient_events == ["wave"] and sora.read().transient_events == ["wave"])
    other.router.handle_binary(sora.socket, ROOM, b"\x00\xff")
    await wait_until(lambda: hana.connection.binary == sora.connection.binary == [b"\x00\xff"])


async def test_an_error_of_the_other_process_arrives_unchanged(two: Two):
    one, other = two
    await one.add(1)
    with pytest.raises(InvalidRequest, match="counts up") as refused:
        await other.add(-1)
    assert (refused.value.status, refused.value.problem.code) == (400, "invalid")
    with pytest.raises(NotFound):
        await other.rooms.execute("counter/none", guest(), CounterCommand())


async def test_clients_of_another_process_learn_that_the_room_is_closed(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    sora = await other.client("sora").join()
    await other.rooms.execute(ROOM, guest(), CounterCommand(add=1, close=True))
    await wait_until(lambda: sora.read().gone is not None)
    assert sora.sum == 2
    with pytest.raises(NotFound):
        await run_with_clock(clock, other.add(1), 12)


async def test_many_clients_in_both_processes_miss_no_event(two: Two):
    random = Random(5)
    clients: list[CounterClient] = []
    await two[0].add(1)
    adding = True

    async def add(process: RoomProcess) -> None:
        while adding:
            await process.add(random.randint(1, 3))

    async def read(number: int) -> None:
        client = two[number % 2].client(f"p{number}")
        clients.append(client)
        for _ in range(5):
            await client.join(at=client.at)
            await asyncio.sleep(random.random() / 100)
            await client.leave()
            client.read()
        await client.join(at=client.at)

    adders = [asyncio.create_task(add(process)) for process in two for _ in range(2)]
    await asyncio.gather(*(read(number) for number in range(24)))
    adding = False
    await asyncio.gather(*adders)
    last = await two[0].add(1)
    await wait_until(lambda: {client.read().sum for client in clients} == {last})


async def test_another_process_owns_a_killed_owners_room_within_ten_seconds(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    sora = await other.client("sora").join()
    await other.add(1)
    await one.kill()
    took = await advance_until(clock, lambda: other.owns and sora.read().snapshots == 2, 10)
    assert took > 3
    assert await other.add(1) == 3
    assert sora.read().sum == 3


async def test_a_running_command_of_a_dead_owner_is_executed_once_by_the_next(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    await other.client("sora").join()
    one.counters.gate.clear()
    waiting = asyncio.create_task(other.add(5))
    await one.counters.wait_until(lambda: len(one.counters.batches) == 2)
    await one.kill()
    assert await run_with_clock(clock, waiting, 12) == 6


async def test_a_command_that_a_dead_owner_stored_is_not_executed_again(two: Two, clock: ProcessClock, store: Store):
    one, other = two
    await one.add(1)
    await other.client("sora").join()
    # The owner stores the command, and dies before its reply arrives.
    async with drop_messages(other, "process/web-2", CallReply):
        waiting = asyncio.create_task(other.add(5))
    stored = await store.get(count_of("one"))
    assert stored is not None
    assert stored.value == 6
    await one.kill()
    assert await run_with_clock(clock, waiting, 12) == 6


async def test_a_stopping_server_releases_its_rooms_at_once(two: Two, clock: ProcessClock, store: Store):
    one, other = two
    hana = await one.client("hana").join()
    sora = await other.client("sora").join()
    hana.send_transient("a last line")
    await one.rooms.stop()
    await wait_until(lambda: other.owns and sora.read().snapshots == 2)
    assert sora.lines == ["a last line"]
    assert await other.add(1) == 1
    held = await store.get(lease(f"room/{ROOM}"))
    assert held is not None
    assert held.owner == "web-2"


async def test_running_commands_of_a_stopping_server_are_answered_by_the_other(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    await other.client("sora").join()
    adding = [asyncio.create_task(other.add(1)) for _ in range(200)]
    await one.counters.wait_until(lambda: len(one.counters.batches) >= 2)
    await one.rooms.stop()
    replies = await run_with_clock(clock, asyncio.gather(*adding), 12)
    assert sorted(replies) == list(range(2, 202))


async def test_a_paused_owner_cannot_write_after_it_lost_the_room(two: Two, clock: ProcessClock, store: Store):
    one, other = two
    hana = await one.client("hana").join()
    sora = await other.client("sora").join()
    await one.add(1)
    with one.transport.drop(any_message):
        one.clock.pause()
        await advance_until(clock, lambda: other.owns, 10)
        assert await other.add(10) == 11
    # It wakes up: commands of its clients are acknowledged only when the current owner has stored them.
    one.clock.resume()
    assert one.owns
    assert await run_with_clock(clock, one.add(100), 12) == 111
    assert not one.owns
    await wait_until(lambda: hana.read().sum == sora.read().sum == 111)
    stored = await store.get(count_of("one"))
    assert stored is not None
    assert stored.value == 111


async def test_a_paused_owner_that_wakes_up_in_time_continues(two: Two, clock: ProcessClock, store: Store):
    one, _ = two
    hana = await one.client("hana").join()
    one.clock.pause()
    await clock.advance(30)
    one.clock.resume()
    assert await one.add(1) == 1
    assert hana.read().snapshots == 1
    assert one.owns


async def test_an_owner_with_an_outdated_epoch_acquires_the_room_again(two: Two, clock: ProcessClock, store: Store):
    one, _ = two
    hana = await one.client("hana").join()
    await one.add(1)
    # A process that had lost the lease in between acquired the room.
    await two[1].counters.acquire("one")
    assert await run_with_clock(clock, one.add(1), 12) == 2
    await wait_until(lambda: hana.read().sum == 2)
    assert hana.at is not None
    assert hana.at.epoch == 3


async def test_messages_lost_on_the_bus_lead_to_a_snapshot(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    sora = await other.client("sora").join()
    channel = f"room/{ROOM}"
    async with drop_messages(other, channel, DurableEvents):
        await one.add(1)
    await one.add(1)
    await wait_until(lambda: sora.read().sum == 3)
    assert sora.snapshots == 2
    # If no update follows the lost one, the next heartbeat reveals it.
    async with drop_messages(other, channel, DurableEvents):
        await one.add(1)
    await advance_until(clock, lambda: sora.read().sum == 4, 3)
    assert sora.snapshots == 3


async def test_a_command_with_a_lost_reply_is_repeated_and_executed_once(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    await other.client("sora").join()
    async with drop_messages(other, "process/web-2", CallReply):
        waiting = asyncio.create_task(other.add(1))
    assert await run_with_clock(clock, waiting, 6) == 2
    assert await one.add(0) == 2


async def test_a_command_without_any_owner_fails(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    await other.client("sora").join()
    with (
        other.transport.drop(any_message),
        pytest.raises(Exception, match="We can't tell|No server process runs"),
    ):
        await run_with_clock(clock, other.add(1), 30)


@pytest.mark.parametrize("kind", ["lossy"])
async def test_rooms_continue_over_a_table_that_loses_replies(two: Two, kind: StoreName, clock: ProcessClock):
    clients = [await run_with_clock(clock, process.client(process.name).join(), 15) for process in two]
    total = 0
    for number in range(40):
        total = await run_with_clock(clock, two[number % 2].add(1), 15)
    assert total == 40
    await advance_until(clock, lambda: {client.read().sum for client in clients} == {40}, 5)


async def test_many_commands_of_another_process_are_answered_in_order(two: Two):
    one, other = two
    await one.add(1)
    await other.client("sora").join()
    calls = [other.rooms.ask(ROOM, guest(f"p{n}"), CounterCommand(add=1), int) for n in range(400)]
    assert list(await asyncio.gather(*calls)) == list(range(2, 402))


async def test_a_client_resumes_in_a_mirror_without_a_snapshot(two: Two, clock: ProcessClock):
    one, other = two
    await one.client("hana").join()
    sora = await other.client("sora").join()
    await advance_until(clock, lambda: sora.read().here == 2, 5)
    await clock.run(65)
    await other.add(1)
    await wait_until(lambda: sora.read().sum == 1)
    sora.disconnect()
    await clock.run(20)
    await one.add(1)
    back = other.client("sora")
    back.at, back.sum = sora.at, sora.sum
    await back.join(at=sora.at)
    await wait_until(lambda: back.read().sum == 2)
    assert (back.resumed, back.snapshots) == (1, 0)


@pytest.mark.parametrize("shared_snapshot", [False, True])
async def test_every_client_gets_a_snapshot_of_the_next_owner(two: Two, shared_snapshot: bool, clock: ProcessClock):
    one, other = two
    for process in two:
        process.counters.shared_snapshot = shared_snapshot
    await one.add(1)
    clients = [await other.client(f"p{number}").join() for number in range(30)]
    other.counters.blocked.add(clients[0].socket.identity.account_id)
    before = other.counters.snapshots
    await one.rooms.stop()
    await wait_until(lambda: all(client.read().snapshots == 2 or client.gone is not None for client in clients))
    assert other.counters.snapshots - before == (29 if not shared_snapshot else other.counters.snapshots - before)
    await other.add(1)
    assert {client.read().sum for client in clients if client.gone is None} == {2}


async def test_two_processes_that_acquire_a_room_at_once_agree_on_one_owner(two: Two, clock: ProcessClock):
    replies = await run_with_clock(clock, asyncio.gather(*(process.add(1) for process in two for _ in range(5))), 12)
    assert sorted(replies) == list(range(1, 11))
    assert [process.owns for process in two].count(True) == 1


async def test_an_account_connected_to_both_processes_counts_once(two: Two, clock: ProcessClock):
    one, other = two
    hana = await one.client("hana").join()
    twin = await other.client("hana").join()
    sora = await other.client("sora").join()
    await advance_until(clock, lambda: hana.read().here == 2 and sora.read().here == 2, 5)
    twin.disconnect()
    await clock.run(5)
    assert hana.read().here == 2
    await other.kill()
    await advance_until(clock, lambda: hana.read().here == 1, 9)


async def test_presence_is_corrected_after_a_lost_report(two: Two, clock: ProcessClock):
    one, other = two
    hana = await one.client("hana").join()
    await other.client("sora").join()
    await advance_until(clock, lambda: hana.read().here == 2, 5)

    def is_report(channel: str, message: bytes) -> bool:
        return channel == "process/web-1" and isinstance(decode_rpc_message(message), PresenceReport)

    with one.transport.drop(is_report) as reports:
        await other.client("yuki").join()
        await clock.run(1.5)
    assert reports
    await advance_until(clock, lambda: hana.read().here == 3, 5)


async def test_a_client_that_resumes_after_a_gap_misses_no_event(two: Two, clock: ProcessClock):
    one, other = two
    await one.add(1)
    sora = await other.client("sora").join()
    sora.disconnect()
    async with drop_messages(other, f"room/{ROOM}", DurableEvents):
        await one.add(1)
    other.transport.report_gap()
    back = other.client("sora")
    back.at, back.sum = sora.at, sora.sum
    assert (await back.join(at=sora.at)).sum == 2
    assert back.snapshots == 1


async def test_concurrent_joins_of_a_remote_room_share_one_snapshot_call(two: Two, monkeypatch: pytest.MonkeyPatch):
    one, other = two
    monkeypatch.setattr(CounterRooms, "restricted", False)
    other.counters.shared_snapshot = one.counters.shared_snapshot = True
    await one.add(5)
    clients = [other.client(f"r{number}") for number in range(50)]
    await asyncio.gather(*(client.join() for client in clients))
    assert {client.read().sum for client in clients} == {5}
    published = other.transport.published
    calls = [decode_rpc_message(message) for channel, message in published if channel == "process/web-1"]
    assert 1 <= sum(isinstance(call, SnapshotCall) for call in calls) <= 2
