"""A room in one process: commands in order, stored before their events are published."""

import asyncio

import msgspec
import pytest

from tests.realtime.rooms.counter_room import Count, CounterState, Do, count_of
from tests.realtime.rooms.room_process import ROOM, ProcessClock, RoomProcess, advance_until, guest, wait_until
from zataku.errors import InvalidRequest, NotFound, RateLimited, Unavailable
from zataku.realtime.messages import Join
from zataku.realtime.rooms.actor import MAX_PENDING_PER_SENDER
from zataku.realtime.rooms.behaviour import LostRoom, Outcome
from zataku.table import Store, path


async def test_an_acknowledged_command_is_stored_and_its_event_delivered(alone: RoomProcess, store: Store):
    hana, sora = await alone.client("hana").join(), await alone.client("sora").join()
    assert await alone.add(2) == 2
    stored = await store.get(count_of("one"))
    assert stored is not None
    assert stored.value == 2
    assert hana.read().sum == sora.read().sum == 2


async def test_pending_commands_are_one_write(alone: RoomProcess):
    await alone.add(1)
    alone.counters.batches.clear()
    alone.counters.gate.clear()
    first = asyncio.create_task(alone.add(1))
    await alone.counters.wait_until(lambda: alone.counters.batches == [1])
    rest = [asyncio.create_task(alone.add(1)) for _ in range(120)]
    await asyncio.sleep(0)
    alone.counters.gate.set()
    assert await asyncio.gather(first, *rest) == list(range(2, 123))
    assert alone.counters.batches == [1, 50, 50, 20]


async def test_a_refused_command_changes_nothing_for_the_others_of_its_batch(alone: RoomProcess, store: Store):
    answers = await asyncio.gather(alone.add(1), alone.add(-5), alone.add(1), return_exceptions=True)
    assert answers[0] == 1
    assert isinstance(answers[1], InvalidRequest)
    assert answers[2] == 2


async def test_a_command_that_raises_fails_alone(alone: RoomProcess):
    trip = alone.rooms.execute(ROOM, guest(), Do(trip=True))
    answers = await asyncio.gather(alone.add(1), trip, alone.add(1), return_exceptions=True)
    assert answers[0] == 1
    assert isinstance(answers[1], RuntimeError)
    assert answers[2] == 2
    assert await alone.add(1) == 3


async def test_a_room_changed_by_another_writer_is_reloaded_with_snapshots(alone: RoomProcess, store: Store):
    hana = await alone.client().join()
    await alone.add(1)
    stored = await store.get(count_of("one"))
    assert stored is not None
    await store.put(msgspec.structs.replace(stored, value=100, version=stored.version + 1))
    assert await alone.add(1) == 101
    await wait_until(lambda: hana.read().sum == 101)
    assert hana.snapshots == 2


async def test_commands_over_the_inbox_limit_are_refused(alone: RoomProcess):
    await alone.add(1)
    alone.counters.gate.clear()
    waiting = [asyncio.create_task(alone.add(1)) for _ in range(1_050)]
    refused = [asyncio.create_task(alone.add(1)) for _ in range(5)]
    await wait_until(lambda: all(task.done() for task in refused))
    assert all(isinstance(task.exception(), Unavailable) for task in refused)
    alone.counters.gate.set()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    stored = max(answer for answer in answers if isinstance(answer, int))
    assert stored == 1 + sum(isinstance(answer, int) for answer in answers)


async def test_an_unknown_room_or_kind_is_not_found(alone: RoomProcess):
    for topic in ("counter/none", "nothing/one", "counter/", "counter", "counter/a b", "counter/" + "x" * 121):
        with pytest.raises(NotFound):
            await alone.rooms.execute(topic, guest(), Do())
        with pytest.raises(NotFound):
            await alone.client().join(topic)
    assert not alone.rooms.running("counter")


async def test_when_a_room_closes_clients_get_the_last_events_and_are_unsubscribed(
    alone: RoomProcess, clock: ProcessClock
):
    hana = await alone.client().join()
    await alone.rooms.execute(ROOM, guest(), Do(add=3, close=True))
    await wait_until(lambda: hana.read().gone is not None)
    ended_at = hana.at
    assert (hana.sum, hana.gone and hana.gone["code"]) == (3, "over")
    with pytest.raises(NotFound):
        await alone.add(1)
    with pytest.raises(NotFound):
        await hana.join()
    # Not even by resuming from where it ended.
    with pytest.raises(NotFound):
        await alone.rooms.join(hana.socket, Join(id=9, to=ROOM, at=ended_at))


async def test_an_empty_room_is_released_after_a_minute(alone: RoomProcess, clock: ProcessClock, store: Store):
    hana = await alone.client().join()
    await alone.add(1)
    await advance_until(clock, lambda: alone.rooms.count_present(ROOM) == 1, 3)
    await clock.advance(120)
    assert alone.owns
    hana.send_transient("line")
    await hana.leave()
    await clock.advance(57)
    assert alone.owns
    await advance_until(clock, lambda: not alone.owns, 5)
    stored = await store.get(count_of("one"))
    assert stored is not None
    assert stored == Count(room_id="one", epoch=1, version=2, value=1, lines=("line",), marks=stored.marks)
    assert await alone.add(1) == 2


async def test_a_stopping_server_acquires_no_rooms(alone: RoomProcess, store: Store):
    await alone.add(1)
    await alone.rooms.stop()
    for topic in (ROOM, "counter/two"):
        with pytest.raises(Unavailable):
            await alone.add(1, topic=topic)
    untouched = await store.get(count_of("two"))
    assert untouched is not None
    assert untouched.epoch == 0


async def test_events_with_recipients_reach_only_them_and_leave_no_gap(alone: RoomProcess):
    hana, sora = await alone.client("hana").join(), await alone.client("sora").join()
    await alone.add(1)
    await alone.rooms.execute(ROOM, guest(), Do(add=1, whisper="sora"))
    await alone.add(1)
    assert hana.read().sum == sora.read().sum == 3
    assert hana.at == sora.at
    assert {"whisper": 1} in sora.seen
    assert {"whisper": 1} not in hana.seen


async def test_a_sender_gets_a_reply_although_the_room_is_lost_over_the_command(alone: RoomProcess, store: Store):
    hana = await alone.client().join()
    stale = store.update(count_of("one"), path(Count, lambda it: it.version).add(1))
    reload = alone.counters.reload

    async def lost(state: CounterState) -> CounterState:
        alone.counters.reload = reload
        raise LostRoom

    alone.counters.reload = lost
    await stale
    assert sorted(await asyncio.gather(alone.add(1), alone.add(1))) == [1, 2]
    await wait_until(lambda: hana.read().sum == 2)


async def test_every_sender_gets_a_reply_although_the_room_closes_within_the_batch(alone: RoomProcess):
    await alone.add(1)
    asking = (Do(add=1), Do(trip=True), Do(add=1, close=True), Do(add=1))
    async with asyncio.timeout(10):
        answers = await asyncio.gather(
            *(alone.rooms.execute(ROOM, guest(), body) for body in asking), return_exceptions=True
        )
    assert answers[0] == 2
    assert answers[2] == 3
    assert isinstance(answers[3], NotFound)


async def test_transient_steps_are_not_kept_after_a_refused_batch(alone: RoomProcess):
    hana = await alone.client().join()

    async def refuse(*_: object) -> Outcome[CounterState]:
        raise Unavailable("Not now.")

    handle, alone.counters.handle = alone.counters.handle, refuse
    with pytest.raises(Unavailable):
        await alone.add(1)
    alone.counters.handle = handle
    for _ in range(10):
        hana.send_transient("wave")
    owner = alone.rooms._handles[ROOM]._local
    assert owner is not None
    assert owner._actor._state._steps_during_write is None


async def test_a_room_whose_pulse_fails_does_not_stop_the_others(alone: RoomProcess, clock: ProcessClock):
    hana = await alone.client().join()
    await alone.add(1, topic="counter/two")
    broken = alone.rooms._handles["counter/two"]

    def stumble(_now: float) -> None:
        raise RuntimeError("It stumbles.")

    broken.pulse = stumble
    await clock.run(1)
    await alone.client("sora").join()
    await advance_until(clock, lambda: hana.read().here == 2, 5)


async def test_a_room_is_reloaded_when_its_table_was_replaced(alone: RoomProcess, store: Store):
    hana = await alone.client().join()
    for _ in range(3):
        await alone.add(1)
    hana.send_transient("a line that the backup does not know")
    place = hana.read().at
    # The restored item is older, of an epoch that comes again when the room is acquired.
    await store.put(Count(room_id="one", value=1))
    await alone.rooms.reload_all()
    await wait_until(lambda: hana.read().sum == 1)
    assert hana.lines == []
    assert await alone.add(1) == 2
    assert hana.read().sum == 2
    back = alone.client("sora")
    await back.join(at=place)
    assert (back.snapshots, back.sum) == (1, 2)
    stored = await store.get(count_of("one"))
    assert stored is not None
    assert (stored.value, stored.epoch) == (2, 1)


async def test_a_command_to_a_room_of_a_stopping_server_is_unavailable(alone: RoomProcess):
    is_acquiring, gate = asyncio.Event(), asyncio.Event()

    async def never(room_id: str) -> CounterState:
        is_acquiring.set()
        await gate.wait()
        raise AssertionError(room_id)

    alone.counters.acquire = never
    asking = asyncio.create_task(alone.add(1))
    await asyncio.wait_for(is_acquiring.wait(), 10)
    await alone.rooms.stop()
    with pytest.raises(Unavailable):
        await asking


async def test_one_sender_cannot_fill_the_inbox_for_all_others(alone: RoomProcess):
    await alone.add(1)
    alone.counters.gate.clear()
    flood = [asyncio.create_task(alone.add(1, "hana")) for _ in range(60)]
    await wait_until(lambda: sum(task.done() for task in flood) == 60 - MAX_PENDING_PER_SENDER)
    sora = asyncio.create_task(alone.add(100, "sora"))
    await asyncio.sleep(0)
    alone.counters.gate.set()
    answers = await asyncio.gather(*flood, return_exceptions=True)
    assert sum(isinstance(answer, RateLimited) for answer in answers) == 60 - MAX_PENDING_PER_SENDER
    assert await sora == 1 + MAX_PENDING_PER_SENDER + 100
    assert await alone.add(1, "hana") == 2 + MAX_PENDING_PER_SENDER + 100


async def test_a_client_that_resumes_from_before_an_erasure_gets_a_snapshot(alone: RoomProcess):
    hana = await alone.client("hana").join()
    await alone.add(1)
    before = hana.read().at
    await alone.rooms.execute(ROOM, guest("sora"), Do(add=1, erase=True))
    after = hana.read().at
    for place, resumed in ((before, 0), (after, 1)):
        client = alone.client("yuna")
        client.at, client.sum = place, 1
        assert (await client.join(at=place)).resumed == resumed
        assert client.snapshots == 1 - resumed
