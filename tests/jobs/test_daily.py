"""Daily jobs run once a day in one process, also after days without any process."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from tests.jobs.conftest import Processes
from tests.jobs.job_processes import NOW, RecordingHandler, advance_until, wait_until
from tests.platform.items import nth_account_id
from zataku.clock import ManualClock
from zataku.jobs.definitions import DailyJob
from zataku.platform import writes
from zataku.platform.design import Job, job
from zataku.platform.limits import DAY, HOUR, MINUTE
from zataku.table import Store

# The tests begin at midnight in UTC, which is 9:00 in Seoul.
NINE_THIRTY = NOW + 30 * MINUTE


class Night(RecordingHandler):
    """A handler that records the scheduled times of its runs."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.scheduled: list[int] = []

    async def handle(self, found: Job) -> int | None:
        """Record the scheduled time and run the job."""
        self.scheduled.append(found.scheduled_for)
        return await super().handle(found)


@pytest.fixture
def night(clock: ManualClock) -> Night:
    return Night(clock)


def every_day(night: Night, **given: Any) -> Sequence[DailyJob]:
    usual = {"system": "ranking", "kind": "write_day", "hour": 9, "minute": 30, "zone": "Asia/Seoul"}
    return [DailyJob(**usual | {"handle": night.handle} | given)]


async def stored(store: Store) -> Job:
    found = await store.get(job("ranking", "write_day", "daily"))
    assert found is not None
    return found


async def test_a_daily_job_runs_once_a_day_with_any_number_of_processes(
    store: Store, clock: ManualClock, night: Night, processes: Processes
):
    for number in range(3):
        await processes(store, f"web-{number}", daily_jobs=every_day(night)).start()
    assert (await stored(store)).due_at == NINE_THIRTY
    for day in range(3):
        await clock.advance((NINE_THIRTY + day * DAY) / 1000 - 5 - clock.now())
        await advance_until(clock, 60, lambda day=day: clock.now() * 1000 > NINE_THIRTY + day * DAY + 9_000)
    assert night.scheduled == [NINE_THIRTY + day * DAY for day in range(3)]


async def test_days_without_a_process_are_made_up_for_by_one_run(
    store: Store, clock: ManualClock, night: Night, processes: Processes
):
    web = await processes(store, "web-1", daily_jobs=every_day(night)).start()
    await web.stop()
    await clock.advance(3 * DAY / 1000)
    again = await processes(store, "web-2", daily_jobs=every_day(night)).start()
    await wait_until(lambda: len(night.done) == 1 and not again.runner.counters.running)
    assert night.scheduled == [NINE_THIRTY]
    assert (await stored(store)).due_at == NINE_THIRTY + 3 * DAY


async def test_a_restart_after_the_run_does_not_run_it_again_that_day(
    store: Store, clock: ManualClock, night: Night, processes: Processes
):
    web = await processes(store, "web-1", daily_jobs=every_day(night)).start()
    await advance_until(clock, HOUR, lambda: len(night.done) == 1, step=60)
    await web.stop()
    await processes(store, "web-2", daily_jobs=every_day(night)).start()
    await advance_until(clock, HOUR, lambda: clock.now() * 1000 > NINE_THIRTY + HOUR, step=60)
    assert len(night.done) == 1
    assert (await stored(store)).due_at == NINE_THIRTY + DAY


async def test_a_process_whose_clock_is_behind_does_not_schedule_todays_run_again(
    store: Store, clock: ManualClock, night: Night, processes: Processes
):
    tomorrow = NINE_THIRTY + DAY
    await store.write(writes.schedule_job("ranking", "write_day", "daily", at=tomorrow, now=NOW))
    await processes(store, "web-1", daily_jobs=every_day(night)).start()
    assert (await stored(store)).due_at == tomorrow


async def test_a_daily_job_whose_time_of_day_changed_runs_at_the_new_time(
    store: Store, clock: ManualClock, night: Night, processes: Processes
):
    web = await processes(store, "web-1", daily_jobs=every_day(night, hour=20)).start()
    await web.stop()
    await processes(store, "web-2", daily_jobs=every_day(night)).start()
    assert (await stored(store)).due_at == NINE_THIRTY


async def test_a_daily_job_that_asks_for_an_earlier_run_gets_it_and_then_runs_daily_again(
    store: Store, clock: ManualClock, night: Night, processes: Processes
):
    soon = NINE_THIRTY + 10 * MINUTE
    night.answers["daily"] = [soon, NINE_THIRTY + 9 * DAY]
    web = await processes(store, "web-1", daily_jobs=every_day(night)).start()
    await advance_until(clock, HOUR, lambda: len(night.done) == 1 and not web.runner.counters.running, step=60)
    assert (await stored(store)).due_at == soon
    await web.stop()
    later = await processes(store, "web-2", daily_jobs=every_day(night)).start()
    assert (await stored(store)).due_at == soon
    await advance_until(clock, HOUR, lambda: len(night.done) == 2 and not later.runner.counters.running, step=60)
    assert (await stored(store)).due_at == NINE_THIRTY + DAY


async def test_a_dead_daily_job_is_scheduled_again_at_the_next_start(
    store: Store, clock: ManualClock, night: Night, processes: Processes
):
    await store.write(writes.schedule_job("ranking", "write_day", "daily", at=NOW, now=NOW))
    found = await stored(store)
    dead = replace(found, state="dead", due_at=None, died_at=NOW, attempts=40)
    await store.write_many(put=[dead])
    web = await processes(store, "web-1", daily_jobs=every_day(night)).start()
    await wait_until(lambda: len(night.done) == 1 and not web.runner.counters.running)
    assert (await stored(store)).due_at == NINE_THIRTY


async def test_many_processes_that_start_at_once_schedule_one_job(
    contested: Store, clock: ManualClock, night: Night, processes: Processes
):
    with capture_logs():
        for number in range(4):
            await processes(contested, f"web-{number}", daily_jobs=every_day(night)).start()
    found = await contested.get(job("ranking", "write_day", "daily"))
    assert found is not None
    assert found.due_at == NINE_THIRTY


def test_an_unknown_time_zone_is_refused_before_anything_starts(store: Store, night: Night, processes: Processes):
    with pytest.raises(ValueError, match="time zone .* is unknown"):
        processes(store, "web-1", daily_jobs=every_day(night, zone="Asia/Atlantis"))


async def test_expired_items_are_swept_every_few_minutes(store: Store, clock: ManualClock, processes: Processes):
    async def items() -> int:
        return sum(size.items for size in await store.backend.sizes() if size.index is None)

    await store.write(writes.create_guest(nth_account_id(1), "ko", NOW))
    web = await processes(store, "web-1").start()
    await advance_until(clock, 1, lambda: True)
    assert await items() == 1
    await clock.advance(91 * DAY / 1000)
    await advance_until(clock, 600, lambda: web.runner.counters.swept == 1, step=30)
    assert await items() == 0
