"""Access patterns and writes of jobs, without concurrent writers."""

import pytest
from msgspec.structs import replace

from tests.platform.conftest import NOW
from tests.platform.items import OTHER, TURN, WEB, a_job, running
from zataku.platform import writes
from zataku.platform.design import DueJob, Job, coming_jobs, dead_jobs, due_jobs, job
from zataku.platform.errors import NotClaimed
from zataku.platform.limits import DAY, HOUR, MAX_JOB_ATTEMPTS
from zataku.table import ConditionFailed, Plan, Query, Store

SHARD = a_job().shard


async def subjects(store: Store, query: Query[DueJob] | Query[Job], expected: list[str]) -> list[str]:
    """The subjects that an index returns, read until they are the expected ones or the attempts are used up."""
    returned: list[str] = []
    for _ in range(50):
        returned = [job.subject async for job in store.each(query)]
        if returned == expected:
            break
    return returned


async def stored_job(store: Store) -> Job:
    stored = await store.get(job(*TURN))
    assert stored is not None
    return stored


def jobs_of_shard(count: int) -> list[Job]:
    jobs = (a_job(subject=f"game-{number}#1") for number in range(1000))
    return [job for job in jobs if job.shard == SHARD][:count]


async def test_only_due_jobs_are_listed_by_their_due_time(store: Store):
    jobs = jobs_of_shard(4)
    times = [NOW, NOW - 5, NOW + 1, NOW - 90_000_000]
    await store.write_many(put=[replace(item, due_at=at) for item, at in zip(jobs, times, strict=True)])
    expected = [jobs[3].subject, jobs[1].subject, jobs[0].subject]
    assert await subjects(store, due_jobs(SHARD, NOW), expected) == expected
    assert await subjects(store, coming_jobs(SHARD), [*expected, jobs[2].subject]) == [*expected, jobs[2].subject]


async def test_a_claimed_job_is_due_again_when_its_claim_ends(store: Store):
    await store.write(writes.schedule_job(*TURN, at=NOW, now=NOW, payload='{"turn":7}'))
    claimed = await store.write(writes.claim_job(*TURN, runner=WEB, now=NOW, until=NOW + 60_000))
    assert claimed == a_job(
        state="running", owner=WEB, due_at=NOW + 60_000, attempts=1, run=NOW + 1, payload='{"turn":7}'
    )
    assert await subjects(store, due_jobs(SHARD, NOW), []) == []
    assert await subjects(store, due_jobs(SHARD, NOW + 60_000), [TURN[2]]) == [TURN[2]]


async def test_a_job_is_not_claimed_before_it_is_due(store: Store):
    await store.write(writes.schedule_job(*TURN, at=NOW + 1, now=NOW))
    with pytest.raises(ConditionFailed):
        await store.write(writes.claim_job(*TURN, runner=WEB, now=NOW, until=NOW + 60_000))
    with pytest.raises(ValueError, match="ends after"):
        writes.claim_job(*TURN, runner=WEB, now=NOW, until=NOW)


async def test_a_renewed_job_is_due_later_and_can_be_finished_by_its_claim(store: Store):
    claimed = await running(store)
    await store.write(writes.renew_job(claimed, NOW + 120_000, NOW))
    assert await stored_job(store) == replace(claimed, due_at=NOW + 120_000)
    await store.write(writes.finish_job(claimed))
    assert await store.get(job(*TURN)) is None


async def test_renewing_never_shortens_a_claim(store: Store):
    claimed = await running(store, lease_ms=60_000)
    await store.write(writes.renew_job(claimed, NOW + 60_000, NOW))
    with pytest.raises(ConditionFailed):
        await store.write(writes.renew_job(claimed, NOW + 59_999, NOW))
    assert await stored_job(store) == claimed
    with pytest.raises(ValueError, match="in the future"):
        writes.renew_job(claimed, NOW + 90_000, NOW + 90_000)


async def test_a_finished_job_leaves_the_index(store: Store):
    await store.write(writes.finish_job(await running(store)))
    assert await subjects(store, coming_jobs(SHARD), []) == []


async def test_a_rescheduled_job_is_due_again_with_no_attempts(store: Store):
    await store.write(writes.reschedule_job(await running(store, attempts=3), NOW + 86_400_000))
    assert await stored_job(store) == a_job(scheduled_for=NOW + 86_400_000, due_at=NOW + 86_400_000, run=NOW + 3)


async def test_a_job_requested_while_it_runs_is_due_again_when_it_is_finished(store: Store):
    claimed = await running(store, attempts=3)
    await store.write(writes.repeat_job(*TURN, at=NOW + 9))
    with pytest.raises(ConditionFailed) as refused:
        await store.write(writes.finish_job(claimed))
    current = refused.value.current
    assert isinstance(current, Job)
    assert current == replace(claimed, again_at=NOW + 9)
    await store.write(writes.finish_job(claimed, requested=current.again_at))
    assert await stored_job(store) == a_job(scheduled_for=NOW + 9, due_at=NOW + 9, run=claimed.run)


async def test_the_earliest_requested_time_of_a_running_job_is_kept(store: Store):
    claimed = await running(store)
    await store.write(writes.repeat_job(*TURN, at=NOW + 9))
    with pytest.raises(ConditionFailed):
        await store.write(writes.repeat_job(*TURN, at=NOW + 9))
    await store.write(writes.repeat_job(*TURN, at=NOW + 8))
    with pytest.raises(ConditionFailed):
        await store.write(writes.finish_job(claimed, requested=NOW + 9))
    await store.write(writes.finish_job(await stored_job(store)))
    assert (await stored_job(store)).due_at == NOW + 8


@pytest.mark.parametrize(("requested", "due"), [(NOW + 8, NOW + 8), (NOW + 99, NOW + 50)])
async def test_a_rescheduled_job_requested_while_it_runs_is_due_at_the_earlier_time(
    requested: int, due: int, store: Store
):
    claimed = await running(store)
    await store.write(writes.repeat_job(*TURN, at=requested))
    for outdated in (None, requested + 1):
        with pytest.raises(ConditionFailed):
            await store.write(writes.reschedule_job(claimed, NOW + 50, requested=outdated))
    await store.write(writes.reschedule_job(claimed, NOW + 50, requested=requested))
    assert await stored_job(store) == a_job(scheduled_for=due, due_at=due, run=claimed.run)


async def test_a_failed_job_keeps_the_requested_time(store: Store):
    claimed = await running(store)
    await store.write(writes.repeat_job(*TURN, at=NOW + 90_000))
    await store.write(writes.fail_job(claimed, "boom", NOW))
    reclaimed = await store.write(writes.claim_job(*TURN, runner=OTHER, now=NOW + 10_000, until=NOW + 20_000))
    assert reclaimed is not None
    await store.write(writes.finish_job(reclaimed))
    assert await stored_job(store) == a_job(scheduled_for=NOW + 90_000, due_at=NOW + 90_000, run=reclaimed.run)


@pytest.mark.parametrize("stored", [a_job(), a_job(state="dead", due_at=None, died_at=NOW)])
async def test_only_a_running_job_can_be_repeated(stored: Job, store: Store):
    await store.write_many(put=[stored])
    with pytest.raises(ConditionFailed):
        await store.write(writes.repeat_job(*TURN, at=NOW))
    assert await stored_job(store) == stored


async def test_a_job_survives_an_outage_of_a_day_and_is_dead_after_forty_failures(strict: Store):
    store = strict
    await store.write(writes.schedule_job(*TURN, at=NOW, now=NOW))
    now = NOW
    for attempt in range(1, MAX_JOB_ATTEMPTS + 1):
        claimed = await store.write(writes.claim_job(*TURN, runner=WEB, now=now, until=now + 60_000))
        assert claimed is not None
        failed = await store.write(writes.fail_job(claimed, f"failure {attempt}", now))
        assert failed is not None
        now = failed.due_at or now
    dead = await stored_job(store)
    assert (dead.state, dead.due_at, dead.died_at, dead.owner) == ("dead", None, now, None)
    assert dead.last_error == "failure 40"
    assert now - NOW == 10_000 * (2**9 - 1) + 30 * HOUR > DAY
    assert await subjects(store, coming_jobs(SHARD), []) == []
    assert await subjects(store, dead_jobs(SHARD), [TURN[2]]) == [TURN[2]]


async def test_dead_jobs_are_listed_latest_first_with_their_errors(store: Store):
    jobs = [
        replace(item, state="dead", due_at=None, died_at=NOW + at, last_error="boom")
        for item, at in zip(jobs_of_shard(3), (5, 9, 7), strict=True)
    ]
    await store.write_many(put=jobs)
    expected = [jobs[1].subject, jobs[2].subject, jobs[0].subject]
    assert await subjects(store, dead_jobs(SHARD), expected) == expected
    assert [item async for item in store.each(dead_jobs(SHARD)) if item.last_error != "boom"] == []


async def test_a_dead_job_cannot_be_claimed_until_it_is_retried(store: Store):
    await store.write_many(put=[a_job(state="dead", due_at=None, died_at=NOW, attempts=8)])
    with pytest.raises(ConditionFailed):
        await store.write(writes.claim_job(*TURN, runner=WEB, now=NOW, until=NOW + 1))
    await store.write(writes.retry_job(*TURN, at=NOW + 5))
    assert await stored_job(store) == a_job(due_at=NOW + 5)
    with pytest.raises(ConditionFailed):
        await store.write(writes.retry_job(*TURN, at=NOW + 5))


async def test_a_waiting_job_can_be_moved_and_cancelled(store: Store):
    await store.write(writes.schedule_job(*TURN, at=NOW, now=NOW))
    await store.write(writes.move_job(*TURN, at=NOW + 7, now=NOW))
    assert await stored_job(store) == a_job(scheduled_for=NOW + 7, due_at=NOW + 7)
    assert await subjects(store, due_jobs(SHARD, NOW), []) == []
    await store.write(writes.cancel_job(*TURN, now=NOW))
    await store.write(writes.cancel_job(*TURN, now=NOW))
    assert await store.get(job(*TURN)) is None


async def test_a_job_whose_runner_died_can_be_moved_and_late_writes_of_the_runner_are_refused(store: Store):
    lost = await running(store)
    with pytest.raises(ConditionFailed):
        await store.write(writes.move_job(*TURN, at=NOW + 99_000, now=NOW + 59_999))
    await store.write(writes.move_job(*TURN, at=NOW + 99_000, now=NOW + 60_000))
    moved = a_job(scheduled_for=NOW + 99_000, due_at=NOW + 99_000, attempts=1, run=lost.run)
    for late in (writes.finish_job(lost), writes.renew_job(lost, NOW + 120_000, NOW + 60_000)):
        with pytest.raises(ConditionFailed):
            await store.write(late)
    assert await stored_job(store) == moved


async def test_a_job_whose_runner_died_can_be_cancelled(store: Store):
    await running(store)
    with pytest.raises(ConditionFailed):
        await store.write(writes.cancel_job(*TURN, now=NOW + 59_999))
    await store.write(writes.cancel_job(*TURN, now=NOW + 60_000))
    assert await store.get(job(*TURN)) is None


async def test_a_dead_job_can_be_cancelled_but_not_moved(store: Store):
    await store.write_many(put=[a_job(state="dead", due_at=None, died_at=NOW)])
    with pytest.raises(ConditionFailed):
        await store.write(writes.move_job(*TURN, at=NOW, now=NOW + DAY))
    await store.write(writes.cancel_job(*TURN, now=NOW))
    assert await store.get(job(*TURN)) is None


async def claim_job_until(store: Store, now: int, until: int) -> Job:
    claimed = await store.write(writes.claim_job(*TURN, runner=WEB, now=now, until=until))
    assert claimed is not None
    return claimed


def runner_writes(claimed: Job, now: int) -> list[Plan[Job]]:
    """Every write that a runner may make about a run."""
    return [
        writes.finish_job(claimed),
        writes.renew_job(claimed, now + 90_000, now),
        writes.reschedule_job(claimed, now),
        writes.fail_job(claimed, "late", now),
    ]


async def test_late_writes_of_an_earlier_run_by_the_same_runner_are_refused(store: Store):
    await store.write(writes.schedule_job(*TURN, at=NOW, now=NOW))
    first = await claim_job_until(store, NOW, NOW + 60_000)
    await store.write(writes.fail_job(first, "boom", NOW))
    second = await claim_job_until(store, NOW + 10_000, NOW + 60_000)
    for late in runner_writes(first, NOW + 10_000):
        with pytest.raises(ConditionFailed):
            await store.write(late)
    assert await stored_job(store) == second


async def test_late_writes_are_refused_after_a_finished_job_is_scheduled_again(store: Store):
    await store.write(writes.schedule_job(*TURN, at=NOW, now=NOW))
    first = await claim_job_until(store, NOW, NOW + 60_000)
    await store.write(writes.finish_job(first))
    await store.write(writes.schedule_job(*TURN, at=NOW, now=NOW + 5))
    second = await claim_job_until(store, NOW + 5, NOW + 60_000)
    for late in runner_writes(first, NOW + 5):
        with pytest.raises(ConditionFailed):
            await store.write(late)
    assert await stored_job(store) == second


@pytest.mark.parametrize("end", ["reschedule", "fail", "die", "take over"])
async def test_a_run_cannot_end_twice(end: str, store: Store):
    claimed = await running(store, attempts=MAX_JOB_ATTEMPTS if end == "die" else 1)
    if end == "reschedule":
        await store.write(writes.reschedule_job(claimed, NOW))
    elif end == "take over":
        # Clocks that disagree may give the run of another process the same number.
        await store.write_many(put=[replace(claimed, owner=OTHER)])
    else:
        await store.write(writes.fail_job(claimed, "boom", NOW))
    ended = await stored_job(store)
    for late in runner_writes(claimed, NOW):
        with pytest.raises(ConditionFailed):
            await store.write(late)
    assert await stored_job(store) == ended


async def test_a_running_job_is_neither_moved_nor_cancelled_nor_scheduled_again(store: Store):
    claimed = await running(store)
    for plan in (
        writes.move_job(*TURN, at=NOW, now=NOW),
        writes.cancel_job(*TURN, now=NOW),
        writes.schedule_job(*TURN, at=NOW, now=NOW),
        writes.retry_job(*TURN, at=NOW),
    ):
        with pytest.raises(ConditionFailed):
            await store.write(plan)
    assert await stored_job(store) == claimed


def test_a_job_that_is_not_claimed_cannot_be_finished_renewed_or_failed():
    for attempt in (
        lambda: writes.finish_job(a_job()),
        lambda: writes.renew_job(a_job(), NOW + 1, NOW),
        lambda: writes.reschedule_job(a_job(), NOW),
        lambda: writes.fail_job(a_job(), "", NOW),
    ):
        with pytest.raises(NotClaimed):
            attempt()
