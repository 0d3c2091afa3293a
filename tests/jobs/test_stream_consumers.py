"""Stream consumers handle changes in order, each at least once, in one process at a time."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import Meta
from structlog.testing import capture_logs

from tests.jobs.conftest import Processes
from tests.jobs.job_processes import Process, advance_until
from tests.support.manual_clock import ManualClock
from tests.support.stores import temporary_store
from zataku.clock import now_ms
from zataku.jobs.definitions import StreamConsumer
from zataku.jobs.stream_consumers import LEASE_MS
from zataku.platform.design import TABLES
from zataku.platform.lease_writes import take_lease
from zataku.platform.limits import OwnerId
from zataku.table import NEW_AND_OLD, Change, DesignError, Entity, Store, Table
from zataku.table.backend.port import PutItem
from zataku.table.schema.entity import binding_of

notes = Table("Notes", pk="PK", sk="SK", stream=NEW_AND_OLD)
Word = Annotated[str, Meta(max_length=20)]


@notes.entity(pk="NOTE#{number}", sk="NOTE")
class Note(Entity, frozen=True, kw_only=True):
    """An entity whose changes are consumed."""

    number: int
    text: Word = ""


@pytest.fixture(params=["embedded", "strict"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    async with temporary_store(request.param, tmp_path, [*TABLES, notes], clock) as opened:
        yield opened


class RecordingConsumer:
    """A consumer that records changes and fails as often as a test sets."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self.failures_left = 0

    async def handle(self, changes: Sequence[Change]) -> None:
        if self.failures_left:
            self.failures_left -= 1
            raise OSError("no disk")
        self.received += [change.new.number for change in changes if isinstance(change.new, Note)]

    @property
    def distinct(self) -> list[int]:
        """The received changes without repetitions, in the order of their first delivery."""
        return list(dict.fromkeys(self.received))

    def definition(self) -> StreamConsumer:
        return StreamConsumer(name="digest", table=notes, handle=self.handle)


async def write(store: Store, numbers: range) -> None:
    for number in numbers:
        await store.put(Note(number=number))


def consuming_process(processes: Processes, store: Store, name: str, consumer: RecordingConsumer) -> Process:
    options: dict[str, Any] = {"stream_consumers": [consumer.definition()]}
    return processes(store, name, **options)


async def test_a_process_that_died_before_the_clock_was_set_back_holds_up_no_consumer(
    store: Store, clock: ManualClock, processes: Processes
):
    now, consumer = now_ms(clock), RecordingConsumer()
    await store.write(take_lease(None, "follower/digest", OwnerId("web-0"), now, now + LEASE_MS))
    clock.set_back(7200)
    await write(store, range(3))
    await consuming_process(processes, store, "web-1", consumer).start()
    await advance_until(clock, 60, lambda: len(consumer.distinct) == 3)


async def test_every_change_is_handled_in_order(store: Store, clock: ManualClock, processes: Processes):
    consumer = RecordingConsumer()
    await write(store, range(150))
    web = await consuming_process(processes, store, "web-1", consumer).start()
    await advance_until(clock, 10, lambda: len(consumer.distinct) == 150)
    await write(store, range(150, 160))
    await advance_until(clock, 10, lambda: len(consumer.distinct) == 160)
    assert consumer.distinct == list(range(160))
    assert web.runner.counters.behind["digest"] >= 0


async def test_a_restart_continues_after_the_last_acknowledged_change(
    tmp_path: Path, clock: ManualClock, processes: Processes
):
    async with temporary_store("embedded", tmp_path, [*TABLES, notes], clock) as store:
        first, second = RecordingConsumer(), RecordingConsumer()
        web = await consuming_process(processes, store, "web-1", first).start()
        await write(store, range(5))
        await advance_until(clock, 10, lambda: len(first.distinct) == 5)
        await advance_until(clock, 10, lambda: web.runner.counters.behind.get("digest") == 0)
        await web.stop()
        await write(store, range(5, 9))
        restarted = await consuming_process(processes, store, "web-2", second).start()
        await advance_until(clock, 10, lambda: len(second.distinct) == 4)
        assert second.received == [5, 6, 7, 8]
        await restarted.stop()


async def test_one_process_at_a_time_consumes_and_another_continues_after_its_death(
    store: Store, clock: ManualClock, processes: Processes
):
    first, second = RecordingConsumer(), RecordingConsumer()
    with capture_logs():
        killed = await consuming_process(processes, store, "web-1", first).start()
        await write(store, range(5))
        await advance_until(clock, 10, lambda: len(first.distinct) == 5)
        await consuming_process(processes, store, "web-2", second).start()
        await advance_until(clock, 30, lambda: clock.now() % 60 > 25)
        await write(store, range(5, 8))
        await advance_until(clock, 10, lambda: len(first.distinct) == 8)
        assert second.received == []
        killed.link.cut = True
        await write(store, range(8, 12))
        await advance_until(clock, LEASE_MS / 1000 + 10, lambda: {8, 9, 10, 11} <= set(second.received))


async def test_a_process_that_stops_releases_its_lease_at_once(store: Store, clock: ManualClock, processes: Processes):
    first, second = RecordingConsumer(), RecordingConsumer()
    web = await consuming_process(processes, store, "web-1", first).start()
    await write(store, range(3))
    await advance_until(clock, 10, lambda: len(first.distinct) == 3)
    await consuming_process(processes, store, "web-2", second).start()
    await web.stop()
    await write(store, range(3, 5))
    await advance_until(clock, 7, lambda: {3, 4} <= set(second.received))


async def test_changes_whose_handler_failed_are_delivered_again(store: Store, clock: ManualClock, processes: Processes):
    consumer = RecordingConsumer()
    consumer.failures_left = 3
    with capture_logs() as logs:
        web = await consuming_process(processes, store, "web-1", consumer).start()
        await write(store, range(4))
        await advance_until(clock, 60, lambda: len(consumer.distinct) == 4)
    assert consumer.distinct == [0, 1, 2, 3]
    assert [entry["event"] for entry in logs] == ["stream_consumer_failed"] * 3
    assert [entry["pause"] for entry in logs] == [0.5, 1.0, 2.0]
    assert web.runner.counters.failures == 3


async def test_a_change_of_an_item_that_does_not_fit_is_logged_and_holds_nothing_up(
    store: Store, clock: ManualClock, processes: Processes
):
    consumer = RecordingConsumer()
    foreign = {**binding_of(Note).encode(Note(number=1)), "text": "longer than twenty letters"}
    await write(store, range(1))
    await store.calls("foreign", lambda consumed: store.backend.write(PutItem(store.schema(notes), foreign), consumed))
    await write(store, range(2, 4))
    with capture_logs() as logs:
        await consuming_process(processes, store, "web-1", consumer).start()
        await advance_until(clock, 10, lambda: len(consumer.distinct) == 3)
    assert consumer.distinct == [0, 2, 3]
    entry = logs[0]
    assert (entry["event"], entry["consumer"], entry["key"]) == ("stream_change_unreadable", "digest", "NOTE#1 NOTE")
    assert "text" in entry["problem"]


def test_invalid_stream_consumers_are_refused_when_the_process_is_created(store: Store, processes: Processes):
    consumer = RecordingConsumer()
    with pytest.raises(ValueError, match="same name"):
        processes(store, "web-1", stream_consumers=[consumer.definition(), consumer.definition()])
    with pytest.raises(DesignError, match="has no stream"):
        processes(
            store, "web-1", stream_consumers=[StreamConsumer(name="digest", table=TABLES[0], handle=consumer.handle)]
        )
