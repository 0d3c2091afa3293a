"""Having something done at a time, whatever became of the job before and whoever else asks for it."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.platform.conftest import NOW
from tests.platform.items import TURN, a_job, running
from zataku.clock import ManualClock
from zataku.jobs.schedule import JobId, Schedule
from zataku.platform.design import Job, job
from zataku.table import Store

MANY = 12
LATER = NOW + 90_000


async def stored(store: Store) -> Job | None:
    return await store.get(job(*TURN))


@pytest.fixture
def schedule(strict: Store, clock: ManualClock) -> Schedule:
    return Schedule(strict, clock)


async def test_what_is_asked_for_first_is_scheduled(strict: Store, schedule: Schedule):
    await schedule.add(LATER, *TURN, payload='{"turn":7}')
    assert await stored(strict) == a_job(scheduled_for=LATER, due_at=LATER, payload='{"turn":7}')


async def test_a_waiting_job_is_moved_sooner_and_later(strict: Store, schedule: Schedule):
    for when in (LATER, NOW + 5, LATER + 7):
        await schedule.add(when, *TURN)
        assert await stored(strict) == a_job(scheduled_for=when, due_at=when)


async def test_a_running_job_is_done_once_more_and_its_runner_is_not_disturbed(strict: Store, schedule: Schedule):
    claimed = await running(strict)
    await schedule.add(LATER, *TURN)
    await schedule.add(LATER + 5, *TURN)
    assert await stored(strict) == replace(claimed, again_at=LATER)
    await schedule.add(LATER - 5, *TURN)
    assert await stored(strict) == replace(claimed, again_at=LATER - 5)


async def test_a_job_whose_runner_died_is_moved(strict: Store, schedule: Schedule, clock: ManualClock):
    lost = await running(strict)
    await clock.advance(60)
    await schedule.add(LATER, *TURN)
    found = await stored(strict)
    assert found is not None
    assert (found.state, found.due_at, found.run) == ("waiting", LATER, lost.run)


async def test_a_dead_job_gets_another_chance(strict: Store, schedule: Schedule):
    await strict.write_many(put=[a_job(state="dead", due_at=None, died_at=NOW, attempts=40, last_error="boom")])
    await schedule.add(LATER, *TURN)
    found = await stored(strict)
    assert found is not None
    assert (found.state, found.due_at, found.attempts, found.died_at) == ("waiting", LATER, 0, None)


async def test_what_is_not_needed_any_more_is_not_done(strict: Store, schedule: Schedule):
    await schedule.cancel(*TURN)
    await schedule.add(LATER, *TURN)
    await schedule.cancel(*TURN)
    assert await stored(strict) is None


async def test_a_run_that_goes_on_is_not_cancelled(strict: Store, schedule: Schedule):
    claimed = await running(strict)
    await schedule.cancel(*TURN)
    assert await stored(strict) == claimed


async def test_whoever_listens_hears_of_every_deadline(strict: Store, schedule: Schedule):
    heard: list[tuple[int, JobId]] = []
    schedule.add_listener(lambda when, id_: heard.append((when, id_)))
    await schedule.add(LATER, *TURN)
    await schedule.add(NOW, *TURN)
    await schedule.cancel(*TURN)
    assert heard == [(LATER, TURN), (NOW, TURN)]


async def test_of_many_who_move_one_deadline_somebodys_time_counts(contested: Store, clock: ManualClock):
    times = [NOW + number for number in range(MANY)]
    schedules = [Schedule(contested, clock) for _ in times]
    await asyncio.gather(*(one.add(when, *TURN) for one, when in zip(schedules, times, strict=True)))
    found = await stored(contested)
    assert found is not None
    assert (found.state, found.due_at in times, found.due_at) == ("waiting", True, found.scheduled_for)


async def test_cancelling_and_scheduling_at_once_ends_in_one_of_both(contested: Store, clock: ManualClock):
    schedule = Schedule(contested, clock)
    await asyncio.gather(*(schedule.add(LATER, *TURN) if n % 2 else schedule.cancel(*TURN) for n in range(MANY)))
    assert await stored(contested) in (None, a_job(scheduled_for=LATER, due_at=LATER))
