"""Stream consumers handle changes in order, each at least once, in one process at a time."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import Meta
from structlog.testing import capture_logs

from tests.jobs.conftest import Processes
from tests.jobs.job_processes import Process, advance_until
from tests.support.stores import temporary_store
from zataku.clock import ManualClock
from zataku.jobs.definitions import StreamConsumer
from zataku.jobs.stream_consumers import LEASE_MS
from zataku.platform.design import TABLES
from zataku.table import NEW_AND_OLD, Change, DesignError, Entity, Store, Table

notes = Table("Notes", pk="PK", sk="SK", stream=NEW_AND_OLD)
Word = Annotated[str, Meta(max_length=20)]


@notes.entity(pk="NOTE#{number}", sk="NOTE")
class Note(Entity, frozen=True, kw_only=True):
    """An entity whose changes are consumed."""

    number: int
    text: Word = ""


@pytest.fixture(params=["embedded", "strict"])
async def kept(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    async with temporary_store(request.param, tmp_path, [*TABLES, notes], clock) as store:
        yield store


class Reader:
    """A handler that records changes and fails as often as a test sets."""

    def __init__(self) -> None:
        self.read: list[int] = []
        self.failing = 0

    async def take(self, changes: Sequence[Change]) -> None:
        if self.failing:
            self.failing -= 1
            raise OSError("no disk")
        self.read += [each.new.number for each in changes if isinstance(each.new, Note)]

    @property
    def firsts(self) -> list[int]:
        """The first delivery of each change."""
        return list(dict.fromkeys(self.read))

    def consumer(self) -> StreamConsumer:
        return StreamConsumer(name="digest", table=notes, handle=self.take)


async def write(store: Store, numbers: range) -> None:
    for number in numbers:
        await store.put(Note(number=number))


def consuming_process(processes: Processes, store: Store, name: str, reader: Reader) -> Process:
    given: dict[str, Any] = {"stream_consumers": [reader.consumer()]}
    return processes(store, name, **given)


async def test_every_change_is_handled_in_order(kept: Store, clock: ManualClock, processes: Processes):
    reader = Reader()
    await write(kept, range(150))
    web = await consuming_process(processes, kept, "web-1", reader).start()
    await advance_until(clock, 10, lambda: len(reader.firsts) == 150)
    await write(kept, range(150, 160))
    await advance_until(clock, 10, lambda: len(reader.firsts) == 160)
    assert reader.firsts == list(range(160))
    assert web.runner.counters.behind["digest"] >= 0


async def test_a_restart_continues_after_the_last_acknowledged_change(
    tmp_path: Path, clock: ManualClock, processes: Processes
):
    async with temporary_store("embedded", tmp_path, [*TABLES, notes], clock) as store:
        first, second = Reader(), Reader()
        web = await consuming_process(processes, store, "web-1", first).start()
        await write(store, range(5))
        await advance_until(clock, 10, lambda: len(first.firsts) == 5)
        await advance_until(clock, 10, lambda: web.runner.counters.behind.get("digest") == 0)
        await web.stop()
        await write(store, range(5, 9))
        again = await consuming_process(processes, store, "web-2", second).start()
        await advance_until(clock, 10, lambda: len(second.firsts) == 4)
        assert second.read == [5, 6, 7, 8]
        await again.stop()


async def test_one_process_at_a_time_consumes_and_another_continues_when_it_is_dead(
    kept: Store, clock: ManualClock, processes: Processes
):
    first, second = Reader(), Reader()
    with capture_logs():
        killed = await consuming_process(processes, kept, "web-1", first).start()
        await write(kept, range(5))
        await advance_until(clock, 10, lambda: len(first.firsts) == 5)
        await consuming_process(processes, kept, "web-2", second).start()
        await advance_until(clock, 30, lambda: clock.now() % 60 > 25)
        await write(kept, range(5, 8))
        await advance_until(clock, 10, lambda: len(first.firsts) == 8)
        assert second.read == []
        killed.link.cut = True
        await write(kept, range(8, 12))
        await advance_until(clock, LEASE_MS / 1000 + 10, lambda: {8, 9, 10, 11} <= set(second.read))


async def test_a_process_that_stops_releases_its_lease_at_once(kept: Store, clock: ManualClock, processes: Processes):
    first, second = Reader(), Reader()
    web = await consuming_process(processes, kept, "web-1", first).start()
    await write(kept, range(3))
    await advance_until(clock, 10, lambda: len(first.firsts) == 3)
    await consuming_process(processes, kept, "web-2", second).start()
    await web.stop()
    await write(kept, range(3, 5))
    await advance_until(clock, 7, lambda: {3, 4} <= set(second.read))


async def test_changes_whose_handler_failed_are_delivered_again(kept: Store, clock: ManualClock, processes: Processes):
    reader = Reader()
    reader.failing = 3
    with capture_logs() as said:
        web = await consuming_process(processes, kept, "web-1", reader).start()
        await write(kept, range(4))
        await advance_until(clock, 60, lambda: len(reader.firsts) == 4)
    assert reader.firsts == [0, 1, 2, 3]
    assert [line["event"] for line in said] == ["stream_consumer_failed"] * 3
    assert [line["pause"] for line in said] == [0.5, 1.0, 2.0]
    assert web.runner.counters.failures == 3


def test_unusable_stream_consumers_are_refused_before_anything_starts(kept: Store, processes: Processes):
    reader = Reader()
    with pytest.raises(ValueError, match="same name"):
        processes(kept, "web-1", stream_consumers=[reader.consumer(), reader.consumer()])
    with pytest.raises(DesignError, match="has no stream"):
        processes(kept, "web-1", stream_consumers=[StreamConsumer(name="digest", table=TABLES[0], handle=reader.take)])
