"""A room in one process: commands in order, stored before their events are published."""

import asyncio

import msgspec
import pytest
from structlog.testing import capture_logs

from tests.realtime.rooms.counter_room import Count, CounterCommand, CounterState, count_of
from tests.realtime.rooms.room_process import ROOM, ProcessClock, RoomProcess, advance_until, guest, wait_until
from zataku.errors import InvalidRequest, NotFound, RateLimited, StorageFull, Unavailable
from zataku.realtime.messages import Join
from zataku.realtime.rooms.actor import MAX_PENDING_PER_SENDER
from zataku.realtime.rooms.behaviour import LostRoom, Outcome
from zataku.realtime.rooms.handle import RoomHandle
from zataku.table import Store, StoreFull, path


async def test_an_acknowledged_command_is_stored_and_its_event_delivered(process: RoomProcess, store: Store):
    hana, sora = await process.client("hana").join(), await process.client("sora").join()
    assert await process.add(2) == 2
    stored = await store.get(count_of("one"))
    assert stored is not None
    assert stored.value == 2
    assert hana.read().sum == sora.read().sum == 2


async def test_pending_commands_are_one_write(process: RoomProcess):
    await process.add(1)
    process.counters.batches.clear()
    process.counters.gate.clear()
    first = asyncio.create_task(process.add(1))
    await process.counters.wait_until(lambda: process.counters.batches == [1])
    rest = [asyncio.create_task(process.add(1)) for _ in range(120)]
    await asyncio.sleep(0)
    process.counters.gate.set()
    assert await asyncio.gather(first, *rest) == list(range(2, 123))
    assert process.counters.batches == [1, 50, 50, 20]


async def test_a_refused_command_changes_nothing_for_the_others_of_its_batch(process: RoomProcess, store: Store):
    replies = await asyncio.gather(process.add(1), process.add(-5), process.add(1), return_exceptions=True)
    assert replies[0] == 1
    assert isinstance(replies[1], InvalidRequest)
    assert replies[2] == 2


@pytest.mark.parametrize("method", ["acquire", "handle"])
async def test_a_full_disk_refuses_a_command_and_the_room_continues(
    process: RoomProcess, monkeypatch: pytest.MonkeyPatch, method: str
):
    if method == "handle":
        await process.add(1)

    async def fail(*_: object) -> None:
        raise StoreFull("The disk is full.")

    with monkeypatch.context() as full:
        full.setattr(process.counters, method, fail)
        with pytest.raises(StorageFull):
            await process.add(1)
    assert await process.add(1) == (2 if method == "handle" else 1)


async def test_a_command_that_raises_fails_alone(process: RoomProcess):
    failing = process.rooms.execute(ROOM, guest(), CounterCommand(fail=True))
    replies = await asyncio.gather(process.add(1), failing, process.add(1), return_exceptions=True)
    assert replies[0] == 1
    assert isinstance(replies[1], RuntimeError)
    assert replies[2] == 2
    assert await process.add(1) == 3


async def test_a_room_changed_by_another_writer_is_reloaded_with_snapshots(process: RoomProcess, store: Store):
    hana = await process.client().join()
    await process.add(1)
    stored = await store.get(count_of("one"))
    assert stored is not None
    await store.put(msgspec.structs.replace(stored, value=100, version=stored.version + 1))
    assert await process.add(1) == 101
    await wait_until(lambda: hana.read().sum == 101)
    assert hana.snapshots == 2


async def test_commands_over_the_inbox_limit_are_refused(process: RoomProcess):
    await process.add(1)
    process.counters.gate.clear()
    waiting = [asyncio.create_task(process.add(1)) for _ in range(1_050)]
    refused = [asyncio.create_task(process.add(1)) for _ in range(5)]
    await wait_until(lambda: all(task.done() for task in refused))
    assert all(isinstance(task.exception(), Unavailable) for task in refused)
    process.counters.gate.set()
    replies = await asyncio.gather(*waiting, return_exceptions=True)
    stored = max(reply for reply in replies if isinstance(reply, int))
    assert stored == 1 + sum(isinstance(reply, int) for reply in replies)


async def test_an_unknown_room_or_kind_is_not_found(process: RoomProcess):
    for topic in ("counter/none", "nothing/one", "counter/", "counter", "counter/a b", "counter/" + "x" * 121):
        with pytest.raises(NotFound):
            await process.rooms.execute(topic, guest(), CounterCommand())
        with pytest.raises(NotFound):
            await process.client().join(topic)
    assert not process.rooms.running("counter")


async def test_when_a_room_closes_clients_get_the_last_events_and_are_unsubscribed(
    process: RoomProcess, clock: ProcessClock
):
    hana = await process.client().join()
    await process.rooms.execute(ROOM, guest(), CounterCommand(add=3, close=True))
    await wait_until(lambda: hana.read().gone is not None)
    ended_at = hana.at
    assert (hana.sum, hana.gone and hana.gone["code"]) == (3, "closed")
    with pytest.raises(NotFound):
        await process.add(1)
    with pytest.raises(NotFound):
        await hana.join()
    # Resuming from the last position fails, too.
    with pytest.raises(NotFound):
        await process.rooms.join(hana.socket, Join(id=9, to=ROOM, at=ended_at))


async def test_an_empty_room_is_released_after_a_minute(process: RoomProcess, clock: ProcessClock, store: Store):
    hana = await process.client().join()
    await process.add(1)
    await advance_until(clock, lambda: process.rooms.running("counter") == {ROOM: 1}, 3)
    await clock.advance(120)
    assert process.owns
    hana.send_transient("line")
    await hana.leave()
    await clock.advance(57)
    assert process.owns
    await advance_until(clock, lambda: not process.owns, 5)
    stored = await store.get(count_of("one"))
    assert stored is not None
    assert stored == Count(room_id="one", epoch=1, version=2, value=1, lines=("line",), command_ids=stored.command_ids)
    assert await process.add(1) == 2


async def test_a_stopping_server_acquires_no_rooms(process: RoomProcess, store: Store):
    await process.add(1)
    await process.rooms.stop()
    for topic in (ROOM, "counter/two"):
        with pytest.raises(Unavailable):
            await process.add(1, topic=topic)
    untouched = await store.get(count_of("two"))
    assert untouched is not None
    assert untouched.epoch == 0


async def test_events_with_recipients_reach_only_them_and_leave_no_gap(process: RoomProcess):
    hana, sora = await process.client("hana").join(), await process.client("sora").join()
    await process.add(1)
    await process.rooms.execute(ROOM, guest(), CounterCommand(add=1, whisper="sora"))
    await process.add(1)
    assert hana.read().sum == sora.read().sum == 3
    assert hana.at == sora.at
    assert {"whisper": 1} in sora.events
    assert {"whisper": 1} not in hana.events


async def test_a_sender_gets_a_reply_although_the_room_is_lost_over_the_command(process: RoomProcess, store: Store):
    hana = await process.client().join()
    stale = store.update(count_of("one"), path(Count, lambda it: it.version).add(1))
    reload = process.counters.reload

    async def lost(state: CounterState) -> CounterState:
        process.counters.reload = reload
        raise LostRoom

    process.counters.reload = lost
    await stale
    assert sorted(await asyncio.gather(process.add(1), process.add(1))) == [1, 2]
    await wait_until(lambda: hana.read().sum == 2)


async def test_every_sender_gets_a_reply_although_the_room_closes_within_the_batch(process: RoomProcess):
    await process.add(1)
    commands = (
        CounterCommand(add=1),
        CounterCommand(fail=True),
        CounterCommand(add=1, close=True),
        CounterCommand(add=1),
    )
    async with asyncio.timeout(10):
        replies = await asyncio.gather(
            *(process.rooms.execute(ROOM, guest(), body) for body in commands), return_exceptions=True
        )
    assert replies[0] == 2
    assert replies[2] == 3
    assert isinstance(replies[3], NotFound)


async def test_transient_steps_are_not_recorded_after_a_refused_batch(process: RoomProcess):
    hana = await process.client().join()

    async def refuse(*_: object) -> Outcome[CounterState]:
        raise Unavailable("Not now.")

    handle, process.counters.handle = process.counters.handle, refuse
    with pytest.raises(Unavailable):
        await process.add(1)
    process.counters.handle = handle
    for _ in range(10):
        hana.send_transient("wave")
    owner = process.rooms._handles[ROOM]._local
    assert owner is not None
    assert owner._actor._state._steps_during_write is None


async def test_a_room_whose_timers_fail_does_not_stop_the_others(
    process: RoomProcess, clock: ProcessClock, monkeypatch: pytest.MonkeyPatch
):
    hana = await process.client().join()
    await process.add(1, topic="counter/two")
    run_timers = RoomHandle.run_timers

    def fail_in_one_room(handle: RoomHandle, now: float) -> None:
        if handle.topic == "counter/two":
            raise RuntimeError("The timers failed.")
        run_timers(handle, now)

    monkeypatch.setattr(RoomHandle, "run_timers", fail_in_one_room)
    with capture_logs() as logs:
        await clock.run(1)
        await process.client("sora").join()
        await advance_until(clock, lambda: hana.read().here == 2, 5)
    assert {(entry["event"], entry["topic"]) for entry in logs} == {("room_timers_failed", "counter/two")}


async def test_people_are_counted_when_the_clock_is_set_back(process: RoomProcess, clock: ProcessClock):
    hana = await process.client().join()
    await clock.run(2)
    clock.set_back(7200)
    await process.client("sora").join()
    await advance_until(clock, lambda: hana.read().here == 2, 5)


async def test_a_room_is_reloaded_when_its_table_was_replaced(process: RoomProcess, store: Store):
    hana = await process.client().join()
    for _ in range(3):
        await process.add(1)
    hana.send_transient("a line that is not in the backup")
    position = hana.read().at
    # The restored item is older, of an epoch that comes again when the room is acquired.
    await store.put(Count(room_id="one", value=1))
    await process.rooms.reload_all()
    await wait_until(lambda: hana.read().sum == 1)
    assert hana.lines == []
    assert await process.add(1) == 2
    assert hana.read().sum == 2
    resumed = process.client("sora")
    await resumed.join(at=position)
    assert (resumed.snapshots, resumed.sum) == (1, 2)
    stored = await store.get(count_of("one"))
    assert stored is not None
    assert (stored.value, stored.epoch) == (2, 1)


async def test_a_command_to_a_room_of_a_stopping_server_is_unavailable(process: RoomProcess):
    is_acquiring, gate = asyncio.Event(), asyncio.Event()

    async def block(room_id: str) -> CounterState:
        is_acquiring.set()
        await gate.wait()
        raise AssertionError(room_id)

    process.counters.acquire = block
    adding = asyncio.create_task(process.add(1))
    await asyncio.wait_for(is_acquiring.wait(), 10)
    await process.rooms.stop()
    with pytest.raises(Unavailable):
        await adding


async def test_one_sender_cannot_fill_the_inbox_for_all_others(process: RoomProcess):
    await process.add(1)
    process.counters.gate.clear()
    flood = [asyncio.create_task(process.add(1, "hana")) for _ in range(60)]
    await wait_until(lambda: sum(task.done() for task in flood) == 60 - MAX_PENDING_PER_SENDER)
    sora = asyncio.create_task(process.add(100, "sora"))
    await asyncio.sleep(0)
    process.counters.gate.set()
    replies = await asyncio.gather(*flood, return_exceptions=True)
    assert sum(isinstance(reply, RateLimited) for reply in replies) == 60 - MAX_PENDING_PER_SENDER
    assert await sora == 1 + MAX_PENDING_PER_SENDER + 100
    assert await process.add(1, "hana") == 2 + MAX_PENDING_PER_SENDER + 100


async def test_a_client_that_resumes_from_before_an_erasure_gets_a_snapshot(process: RoomProcess):
    hana = await process.client("hana").join()
    await process.add(1)
    before = hana.read().at
    await process.rooms.execute(ROOM, guest("sora"), CounterCommand(add=1, erase=True))
    after = hana.read().at
    for position, resumed in ((before, 0), (after, 1)):
        client = process.client("yuna")
        client.at, client.sum = position, 1
        assert (await client.join(at=position)).resumed == resumed
        assert client.snapshots == 1 - resumed
