"""Scheduling a job in every state of the job before it, also concurrently."""

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


async def test_a_first_request_schedules_a_job(strict: Store, schedule: Schedule):
    await schedule.add(LATER, *TURN, payload='{"turn":7}')
    assert await stored(strict) == a_job(scheduled_for=LATER, due_at=LATER, payload='{"turn":7}')


async def test_a_waiting_job_is_moved_sooner_and_later(strict: Store, schedule: Schedule):
    for when in (LATER, NOW + 5, LATER + 7):
        await schedule.add(when, *TURN)
        assert await stored(strict) == a_job(scheduled_for=when, due_at=when)


async def test_a_running_job_runs_once_more_and_its_runner_is_not_disturbed(strict: Store, schedule: Schedule):
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


async def test_a_dead_job_can_be_scheduled_again(strict: Store, schedule: Schedule):
    await strict.write_many(put=[a_job(state="dead", due_at=None, died_at=NOW, attempts=40, last_error="boom")])
    await schedule.add(LATER, *TURN)
    found = await stored(strict)
    assert found is not None
    assert (found.state, found.due_at, found.attempts, found.died_at) == ("waiting", LATER, 0, None)


async def test_a_cancelled_job_does_not_run(strict: Store, schedule: Schedule):
    await schedule.cancel(*TURN)
    await schedule.add(LATER, *TURN)
    await schedule.cancel(*TURN)
    assert await stored(strict) is None


async def test_a_run_under_way_is_not_cancelled(strict: Store, schedule: Schedule):
    claimed = await running(strict)
    await schedule.cancel(*TURN)
    assert await stored(strict) == claimed


async def test_listeners_are_called_with_every_deadline(strict: Store, schedule: Schedule):
    heard: list[tuple[int, JobId]] = []
    schedule.add_listener(lambda when, id_: heard.append((when, id_)))
    await schedule.add(LATER, *TURN)
    await schedule.add(NOW, *TURN)
    await schedule.cancel(*TURN)
    assert heard == [(LATER, TURN), (NOW, TURN)]


async def test_concurrent_moves_of_one_deadline_end_in_one_of_their_times(contested: Store, clock: ManualClock):
    times = [NOW + number for number in range(MANY)]
    schedules = [Schedule(contested, clock) for _ in times]
    await asyncio.gather(*(one.add(when, *TURN) for one, when in zip(schedules, times, strict=True)))
    found = await stored(contested)
    assert found is not None
    assert (found.state, found.due_at in times, found.due_at) == ("waiting", True, found.scheduled_for)


async def test_a_concurrent_cancel_and_schedule_end_in_one_of_both(contested: Store, clock: ManualClock):
    schedule = Schedule(contested, clock)
    await asyncio.gather(*(schedule.add(LATER, *TURN) if n % 2 else schedule.cancel(*TURN) for n in range(MANY)))
    assert await stored(contested) in (None, a_job(scheduled_for=LATER, due_at=LATER))
