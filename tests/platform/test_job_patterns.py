"""Jobs as they are asked for and written when nobody is in the way."""

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


async def subjects(store: Store, query: Query[DueJob] | Query[Job], wanted: list[str]) -> list[str]:
    """What an index shows once it has caught up; what it shows in the end when it never does."""
    found: list[str] = []
    for _ in range(50):
        found = [each.subject async for each in store.each(query)]
        if found == wanted:
            break
    return found


async def now_is(store: Store) -> Job:
    found = await store.get(job(*TURN))
    assert found is not None
    return found


def same_shard(count: int) -> list[Job]:
    made = (a_job(subject=f"game-{number}#1") for number in range(1000))
    return [each for each in made if each.shard == SHARD][:count]


async def test_due_jobs_come_by_their_due_time_and_no_others(store: Store):
    jobs = same_shard(4)
    times = [NOW, NOW - 5, NOW + 1, NOW - 90_000_000]
    await store.write_many(put=[replace(each, due_at=at) for each, at in zip(jobs, times, strict=True)])
    wanted = [jobs[3].subject, jobs[1].subject, jobs[0].subject]
    assert await subjects(store, due_jobs(SHARD, NOW), wanted) == wanted
    assert await subjects(store, coming_jobs(SHARD), [*wanted, jobs[2].subject]) == [*wanted, jobs[2].subject]


async def test_a_claimed_job_is_due_again_at_the_end_of_its_run(store: Store):
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


async def test_a_renewed_job_is_due_later_and_still_shown_by_its_claim(store: Store):
    claimed = await running(store)
    await store.write(writes.renew_job(claimed, NOW + 120_000, NOW))
    assert await now_is(store) == replace(claimed, due_at=NOW + 120_000)
    await store.write(writes.finish_job(claimed))
    assert await store.get(job(*TURN)) is None


async def test_renewing_never_shortens_a_run(store: Store):
    claimed = await running(store, lasts=60_000)
    await store.write(writes.renew_job(claimed, NOW + 60_000, NOW))
    with pytest.raises(ConditionFailed):
        await store.write(writes.renew_job(claimed, NOW + 59_999, NOW))
    assert await now_is(store) == claimed
    with pytest.raises(ValueError, match="in the future"):
        writes.renew_job(claimed, NOW + 90_000, NOW + 90_000)


async def test_a_finished_job_leaves_the_index(store: Store):
    await store.write(writes.finish_job(await running(store)))
    assert await subjects(store, coming_jobs(SHARD), []) == []


async def test_a_daily_job_is_due_again_with_a_clean_slate(store: Store):
    await store.write(writes.reschedule_job(await running(store, attempts=3), NOW + 86_400_000))
    assert await now_is(store) == a_job(scheduled_for=NOW + 86_400_000, due_at=NOW + 86_400_000, run=NOW + 3)


async def test_a_job_asked_for_while_it_runs_is_due_once_more_when_it_is_finished(store: Store):
    claimed = await running(store, attempts=3)
    await store.write(writes.repeat_job(*TURN, at=NOW + 9))
    with pytest.raises(ConditionFailed) as refused:
        await store.write(writes.finish_job(claimed))
    found = refused.value.current
    assert isinstance(found, Job)
    assert found == replace(claimed, again_at=NOW + 9)
    await store.write(writes.finish_job(claimed, requested=found.again_at))
    assert await now_is(store) == a_job(scheduled_for=NOW + 9, due_at=NOW + 9, run=claimed.run)


async def test_the_earliest_time_for_which_a_job_is_asked_again_counts(store: Store):
    claimed = await running(store)
    await store.write(writes.repeat_job(*TURN, at=NOW + 9))
    with pytest.raises(ConditionFailed):
        await store.write(writes.repeat_job(*TURN, at=NOW + 9))
    await store.write(writes.repeat_job(*TURN, at=NOW + 8))
    with pytest.raises(ConditionFailed):
        await store.write(writes.finish_job(claimed, requested=NOW + 9))
    await store.write(writes.finish_job(await now_is(store)))
    assert (await now_is(store)).due_at == NOW + 8


@pytest.mark.parametrize(("asked", "due"), [(NOW + 8, NOW + 8), (NOW + 99, NOW + 50)])
async def test_a_daily_job_asked_for_while_it_runs_is_due_at_the_earlier_time(asked: int, due: int, store: Store):
    claimed = await running(store)
    await store.write(writes.repeat_job(*TURN, at=asked))
    for unseen in (None, asked + 1):
        with pytest.raises(ConditionFailed):
            await store.write(writes.reschedule_job(claimed, NOW + 50, requested=unseen))
    await store.write(writes.reschedule_job(claimed, NOW + 50, requested=asked))
    assert await now_is(store) == a_job(scheduled_for=due, due_at=due, run=claimed.run)


async def test_a_job_that_fails_remembers_for_when_it_was_asked_again(store: Store):
    claimed = await running(store)
    await store.write(writes.repeat_job(*TURN, at=NOW + 90_000))
    await store.write(writes.fail_job(claimed, "boom", NOW))
    again = await store.write(writes.claim_job(*TURN, runner=OTHER, now=NOW + 10_000, until=NOW + 20_000))
    assert again is not None
    await store.write(writes.finish_job(again))
    assert await now_is(store) == a_job(scheduled_for=NOW + 90_000, due_at=NOW + 90_000, run=again.run)


@pytest.mark.parametrize("found", [a_job(), a_job(state="dead", due_at=None, died_at=NOW)])
async def test_only_a_running_job_is_asked_for_once_more(found: Job, store: Store):
    await store.write_many(put=[found])
    with pytest.raises(ConditionFailed):
        await store.write(writes.repeat_job(*TURN, at=NOW))
    assert await now_is(store) == found


async def test_a_job_survives_an_outage_of_a_day_and_the_fortieth_failure_is_its_death(strict: Store):
    store = strict
    await store.write(writes.schedule_job(*TURN, at=NOW, now=NOW))
    now = NOW
    for attempt in range(1, MAX_JOB_ATTEMPTS + 1):
        claimed = await store.write(writes.claim_job(*TURN, runner=WEB, now=now, until=now + 60_000))
        assert claimed is not None
        failed = await store.write(writes.fail_job(claimed, f"failure {attempt}", now))
        assert failed is not None
        now = failed.due_at or now
    dead = await now_is(store)
    assert (dead.state, dead.due_at, dead.died_at, dead.owner) == ("dead", None, now, None)
    assert dead.last_error == "failure 40"
    assert now - NOW == 10_000 * (2**9 - 1) + 30 * HOUR > DAY
    assert await subjects(store, coming_jobs(SHARD), []) == []
    assert await subjects(store, dead_jobs(SHARD), [TURN[2]]) == [TURN[2]]


async def test_dead_jobs_are_listed_the_latest_first_with_everything_known(store: Store):
    jobs = [
        replace(each, state="dead", due_at=None, died_at=NOW + at, last_error="boom")
        for each, at in zip(same_shard(3), (5, 9, 7), strict=True)
    ]
    await store.write_many(put=jobs)
    wanted = [jobs[1].subject, jobs[2].subject, jobs[0].subject]
    assert await subjects(store, dead_jobs(SHARD), wanted) == wanted
    assert [each async for each in store.each(dead_jobs(SHARD)) if each.last_error != "boom"] == []


async def test_a_dead_job_is_not_claimed_but_may_be_tried_again(store: Store):
    await store.write_many(put=[a_job(state="dead", due_at=None, died_at=NOW, attempts=8)])
    with pytest.raises(ConditionFailed):
        await store.write(writes.claim_job(*TURN, runner=WEB, now=NOW, until=NOW + 1))
    await store.write(writes.retry_job(*TURN, at=NOW + 5))
    assert await now_is(store) == a_job(due_at=NOW + 5)
    with pytest.raises(ConditionFailed):
        await store.write(writes.retry_job(*TURN, at=NOW + 5))


async def test_a_waiting_job_moves_and_can_be_cancelled(store: Store):
    await store.write(writes.schedule_job(*TURN, at=NOW, now=NOW))
    await store.write(writes.move_job(*TURN, at=NOW + 7, now=NOW))
    assert await now_is(store) == a_job(scheduled_for=NOW + 7, due_at=NOW + 7)
    assert await subjects(store, due_jobs(SHARD, NOW), []) == []
    await store.write(writes.cancel_job(*TURN, now=NOW))
    await store.write(writes.cancel_job(*TURN, now=NOW))
    assert await store.get(job(*TURN)) is None


async def test_a_job_whose_runner_died_is_moved_and_then_its_late_words_are_refused(store: Store):
    lost = await running(store)
    with pytest.raises(ConditionFailed):
        await store.write(writes.move_job(*TURN, at=NOW + 99_000, now=NOW + 59_999))
    await store.write(writes.move_job(*TURN, at=NOW + 99_000, now=NOW + 60_000))
    moved = a_job(scheduled_for=NOW + 99_000, due_at=NOW + 99_000, attempts=1, run=lost.run)
    for late in (writes.finish_job(lost), writes.renew_job(lost, NOW + 120_000, NOW + 60_000)):
        with pytest.raises(ConditionFailed):
            await store.write(late)
    assert await now_is(store) == moved


async def test_a_job_whose_runner_died_is_cancelled(store: Store):
    await running(store)
    with pytest.raises(ConditionFailed):
        await store.write(writes.cancel_job(*TURN, now=NOW + 59_999))
    await store.write(writes.cancel_job(*TURN, now=NOW + 60_000))
    assert await store.get(job(*TURN)) is None


async def test_a_dead_job_is_cancelled_but_not_moved(store: Store):
    await store.write_many(put=[a_job(state="dead", due_at=None, died_at=NOW)])
    with pytest.raises(ConditionFailed):
        await store.write(writes.move_job(*TURN, at=NOW, now=NOW + DAY))
    await store.write(writes.cancel_job(*TURN, now=NOW))
    assert await store.get(job(*TURN)) is None


async def claimed_until(store: Store, now: int, until: int) -> Job:
    claimed = await store.write(writes.claim_job(*TURN, runner=WEB, now=now, until=until))
    assert claimed is not None
    return claimed


def last_words(claimed: Job, now: int) -> list[Plan[Job]]:
    """Everything that a runner may say of a run."""
    return [
        writes.finish_job(claimed),
        writes.renew_job(claimed, now + 90_000, now),
        writes.reschedule_job(claimed, now),
        writes.fail_job(claimed, "late", now),
    ]


async def test_two_runs_of_one_runner_with_the_same_end_are_told_apart(store: Store):
    await store.write(writes.schedule_job(*TURN, at=NOW, now=NOW))
    first = await claimed_until(store, NOW, NOW + 60_000)
    await store.write(writes.fail_job(first, "boom", NOW))
    second = await claimed_until(store, NOW + 10_000, NOW + 60_000)
    for late in last_words(first, NOW + 10_000):
        with pytest.raises(ConditionFailed):
            await store.write(late)
    assert await now_is(store) == second


async def test_a_job_that_is_done_and_scheduled_anew_counts_its_runs_on(store: Store):
    await store.write(writes.schedule_job(*TURN, at=NOW, now=NOW))
    first = await claimed_until(store, NOW, NOW + 60_000)
    await store.write(writes.finish_job(first))
    await store.write(writes.schedule_job(*TURN, at=NOW, now=NOW + 5))
    second = await claimed_until(store, NOW + 5, NOW + 60_000)
    for late in last_words(first, NOW + 5):
        with pytest.raises(ConditionFailed):
            await store.write(late)
    assert await now_is(store) == second


@pytest.mark.parametrize("end", ["reschedule", "fail", "die", "take over"])
async def test_a_run_that_has_ended_is_not_ended_again(end: str, store: Store):
    claimed = await running(store, attempts=MAX_JOB_ATTEMPTS if end == "die" else 1)
    if end == "reschedule":
        await store.write(writes.reschedule_job(claimed, NOW))
    elif end == "take over":
        # Clocks that disagree may give the run of another process the same number.
        await store.write_many(put=[replace(claimed, owner=OTHER)])
    else:
        await store.write(writes.fail_job(claimed, "boom", NOW))
    ended = await now_is(store)
    for late in last_words(claimed, NOW):
        with pytest.raises(ConditionFailed):
            await store.write(late)
    assert await now_is(store) == ended


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
    assert await now_is(store) == claimed


def test_a_job_that_nobody_runs_is_not_finished():
    for attempt in (
        lambda: writes.finish_job(a_job()),
        lambda: writes.renew_job(a_job(), NOW + 1, NOW),
        lambda: writes.reschedule_job(a_job(), NOW),
        lambda: writes.fail_job(a_job(), "", NOW),
    ):
        with pytest.raises(NotClaimed):
            attempt()
