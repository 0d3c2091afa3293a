"""Scheduling and cancelling jobs in every state, also concurrently."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.platform.conftest import NOW
from tests.platform.items import TURN, a_job, running
from tests.support.manual_clock import ManualClock
from zataku.jobs.schedule import JobId, Schedule
from zataku.platform.design import Job, job
from zataku.table import Store

MANY = 12
LATER = NOW + 90_000


async def stored_job(store: Store) -> Job | None:
    return await store.get(job(*TURN))


@pytest.fixture
def schedule(strict: Store, clock: ManualClock) -> Schedule:
    return Schedule(strict, clock)


async def test_a_first_request_schedules_a_job(strict: Store, schedule: Schedule):
    await schedule.add(LATER, *TURN, payload='{"turn":7}')
    assert await stored_job(strict) == a_job(scheduled_for=LATER, due_at=LATER, payload='{"turn":7}')


async def test_a_waiting_job_can_be_moved_earlier_and_later(strict: Store, schedule: Schedule):
    for when in (LATER, NOW + 5, LATER + 7):
        await schedule.add(when, *TURN)
        assert await stored_job(strict) == a_job(scheduled_for=when, due_at=when)


async def test_a_running_job_is_scheduled_once_more_without_affecting_its_runner(strict: Store, schedule: Schedule):
    claimed = await running(strict)
    await schedule.add(LATER, *TURN)
    await schedule.add(LATER + 5, *TURN)
    assert await stored_job(strict) == replace(claimed, again_at=LATER)
    await schedule.add(LATER - 5, *TURN)
    assert await stored_job(strict) == replace(claimed, again_at=LATER - 5)


async def test_a_job_whose_runner_died_is_moved(strict: Store, schedule: Schedule, clock: ManualClock):
    lost = await running(strict)
    await clock.advance(60)
    await schedule.add(LATER, *TURN)
    stored = await stored_job(strict)
    assert stored is not None
    assert (stored.state, stored.due_at, stored.run) == ("waiting", LATER, lost.run)


async def test_a_dead_job_can_be_scheduled_again(strict: Store, schedule: Schedule):
    await strict.write_many(put=[a_job(state="dead", due_at=None, died_at=NOW, attempts=40, last_error="boom")])
    await schedule.add(LATER, *TURN)
    stored = await stored_job(strict)
    assert stored is not None
    assert (stored.state, stored.due_at, stored.attempts, stored.died_at) == ("waiting", LATER, 0, None)


async def test_a_cancelled_job_does_not_run(strict: Store, schedule: Schedule):
    await schedule.cancel(*TURN)
    await schedule.add(LATER, *TURN)
    await schedule.cancel(*TURN)
    assert await stored_job(strict) is None


async def test_a_running_job_is_not_cancelled(strict: Store, schedule: Schedule):
    claimed = await running(strict)
    await schedule.cancel(*TURN)
    assert await stored_job(strict) == claimed


async def test_listeners_are_called_with_every_deadline(strict: Store, schedule: Schedule):
    deadlines: list[tuple[int, JobId]] = []
    schedule.add_listener(lambda when, id_: deadlines.append((when, id_)))
    await schedule.add(LATER, *TURN)
    await schedule.add(NOW, *TURN)
    await schedule.cancel(*TURN)
    assert deadlines == [(LATER, TURN), (NOW, TURN)]


async def test_concurrent_moves_of_one_deadline_end_in_one_of_their_times(contested: Store, clock: ManualClock):
    times = [NOW + number for number in range(MANY)]
    schedules = [Schedule(contested, clock) for _ in times]
    await asyncio.gather(*(schedule.add(when, *TURN) for schedule, when in zip(schedules, times, strict=True)))
    stored = await stored_job(contested)
    assert stored is not None
    assert (stored.state, stored.due_at in times, stored.due_at) == ("waiting", True, stored.scheduled_for)


async def test_a_concurrent_cancel_and_schedule_end_in_one_of_the_two_states(contested: Store, clock: ManualClock):
    schedule = Schedule(contested, clock)
    await asyncio.gather(*(schedule.add(LATER, *TURN) if n % 2 else schedule.cancel(*TURN) for n in range(MANY)))
    assert await stored_job(contested) in (None, a_job(scheduled_for=LATER, due_at=LATER))
