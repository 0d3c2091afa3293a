"""Daily jobs run once a day in one process, also after days without any process."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from tests.jobs.conftest import Processes
from tests.jobs.job_processes import NOW, RecordingHandler, advance_until, wait_until
from tests.platform.items import nth_account_id
from tests.support.manual_clock import ManualClock
from zataku.jobs.definitions import DailyJob
from zataku.platform import writes
from zataku.platform.design import Job, job
from zataku.platform.limits import DAY, HOUR, MINUTE
from zataku.table import Store

# The tests start at midnight in UTC, which is 9:00 in Seoul.
NINE_THIRTY = NOW + 30 * MINUTE


class DailyHandler(RecordingHandler):
    """A handler that also records the scheduled times of its runs."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.scheduled: list[int] = []

    async def handle(self, job: Job) -> int | None:
        """Record the scheduled time and run the job."""
        self.scheduled.append(job.scheduled_for)
        return await super().handle(job)


@pytest.fixture
def handler(clock: ManualClock) -> DailyHandler:
    return DailyHandler(clock)


def daily_jobs(handler: DailyHandler, **options: Any) -> Sequence[DailyJob]:
    defaults = {"system": "ranking", "kind": "write_day", "hour": 9, "minute": 30, "zone": "Asia/Seoul"}
    return [DailyJob(**defaults | {"handle": handler.handle} | options)]


async def stored_job(store: Store) -> Job:
    stored = await store.get(job("ranking", "write_day", "daily"))
    assert stored is not None
    return stored


async def test_a_daily_job_runs_once_a_day_with_any_number_of_processes(
    store: Store, clock: ManualClock, handler: DailyHandler, processes: Processes
):
    for number in range(3):
        await processes(store, f"web-{number}", daily_jobs=daily_jobs(handler)).start()
    assert (await stored_job(store)).due_at == NINE_THIRTY
    for day in range(3):
        await clock.advance((NINE_THIRTY + day * DAY) / 1000 - 5 - clock.now())
        await advance_until(clock, 60, lambda day=day: clock.now() * 1000 > NINE_THIRTY + day * DAY + 9_000)
    assert handler.scheduled == [NINE_THIRTY + day * DAY for day in range(3)]


async def test_missed_days_are_followed_by_one_run(
    store: Store, clock: ManualClock, handler: DailyHandler, processes: Processes
):
    web = await processes(store, "web-1", daily_jobs=daily_jobs(handler)).start()
    await web.stop()
    await clock.advance(3 * DAY / 1000)
    restarted = await processes(store, "web-2", daily_jobs=daily_jobs(handler)).start()
    await wait_until(lambda: len(handler.done) == 1 and not restarted.runner.counters.running)
    assert handler.scheduled == [NINE_THIRTY]
    assert (await stored_job(store)).due_at == NINE_THIRTY + 3 * DAY


async def test_a_restart_does_not_repeat_the_run_of_that_day(
    store: Store, clock: ManualClock, handler: DailyHandler, processes: Processes
):
    web = await processes(store, "web-1", daily_jobs=daily_jobs(handler)).start()
    await advance_until(clock, HOUR, lambda: len(handler.done) == 1, step=60)
    await web.stop()
    await processes(store, "web-2", daily_jobs=daily_jobs(handler)).start()
    await advance_until(clock, HOUR, lambda: clock.now() * 1000 > NINE_THIRTY + HOUR, step=60)
    assert len(handler.done) == 1
    assert (await stored_job(store)).due_at == NINE_THIRTY + DAY


async def test_a_process_whose_clock_is_behind_does_not_schedule_todays_run_again(
    store: Store, clock: ManualClock, handler: DailyHandler, processes: Processes
):
    tomorrow = NINE_THIRTY + DAY
    await store.write(writes.schedule_job("ranking", "write_day", "daily", at=tomorrow, now=NOW))
    await processes(store, "web-1", daily_jobs=daily_jobs(handler)).start()
    assert (await stored_job(store)).due_at == tomorrow


async def test_a_daily_job_whose_time_of_day_changed_is_due_at_the_new_time(
    store: Store, clock: ManualClock, handler: DailyHandler, processes: Processes
):
    web = await processes(store, "web-1", daily_jobs=daily_jobs(handler, hour=20)).start()
    await web.stop()
    await processes(store, "web-2", daily_jobs=daily_jobs(handler)).start()
    assert (await stored_job(store)).due_at == NINE_THIRTY


async def test_a_daily_job_that_requests_an_earlier_run_returns_to_its_daily_time_afterwards(
    store: Store, clock: ManualClock, handler: DailyHandler, processes: Processes
):
    soon = NINE_THIRTY + 10 * MINUTE
    handler.results["daily"] = [soon, NINE_THIRTY + 9 * DAY]
    web = await processes(store, "web-1", daily_jobs=daily_jobs(handler)).start()
    await advance_until(clock, HOUR, lambda: len(handler.done) == 1 and not web.runner.counters.running, step=60)
    assert (await stored_job(store)).due_at == soon
    await web.stop()
    later = await processes(store, "web-2", daily_jobs=daily_jobs(handler)).start()
    assert (await stored_job(store)).due_at == soon
    await advance_until(clock, HOUR, lambda: len(handler.done) == 2 and not later.runner.counters.running, step=60)
    assert (await stored_job(store)).due_at == NINE_THIRTY + DAY


async def test_a_dead_daily_job_is_scheduled_again_at_the_next_start(
    store: Store, clock: ManualClock, handler: DailyHandler, processes: Processes
):
    await store.write(writes.schedule_job("ranking", "write_day", "daily", at=NOW, now=NOW))
    scheduled = await stored_job(store)
    dead = replace(scheduled, state="dead", due_at=None, died_at=NOW, attempts=40)
    await store.write_many(put=[dead])
    web = await processes(store, "web-1", daily_jobs=daily_jobs(handler)).start()
    await wait_until(lambda: len(handler.done) == 1 and not web.runner.counters.running)
    assert (await stored_job(store)).due_at == NINE_THIRTY


async def test_many_processes_that_start_at_once_schedule_one_job(
    contested: Store, clock: ManualClock, handler: DailyHandler, processes: Processes
):
    with capture_logs():
        for number in range(4):
            await processes(contested, f"web-{number}", daily_jobs=daily_jobs(handler)).start()
    assert (await stored_job(contested)).due_at == NINE_THIRTY


def test_an_unknown_time_zone_is_refused_when_the_process_is_created(
    store: Store, handler: DailyHandler, processes: Processes
):
    with pytest.raises(ValueError, match="time zone .* is unknown"):
        processes(store, "web-1", daily_jobs=daily_jobs(handler, zone="Asia/Atlantis"))


async def test_expired_items_are_swept_every_few_minutes(store: Store, clock: ManualClock, processes: Processes):
    async def item_count() -> int:
        return sum(size.items for size in await store.backend.sizes() if size.index is None)

    await store.write(writes.create_guest(nth_account_id(1), "ko", NOW))
    web = await processes(store, "web-1").start()
    await advance_until(clock, 1, lambda: True)
    assert await item_count() == 1
    await clock.advance(91 * DAY / 1000)
    await advance_until(clock, 600, lambda: web.runner.counters.swept == 1, step=30)
    assert await item_count() == 0
