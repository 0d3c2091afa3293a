"""Jobs, leases and checkpoints as they are asked for and written when nobody is in the way."""

from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from tests.platform.conftest import NOW
from tests.platform.people import OTHER, TURN, WEB, a_job, a_lease, running
from zataku.clock import ManualClock
from zataku.platform import writes
from zataku.platform.design import (
    Checkpoint,
    DueJob,
    Job,
    checkpoint,
    checkpoints_of,
    coming_jobs,
    dead_jobs,
    due_jobs,
    job,
    lease,
)
from zataku.platform.errors import LeaseHeld, NotClaimed
from zataku.platform.limits import MOST_ATTEMPTS, OwnerId
from zataku.table import ConditionFailed, Query, Store

SHARD = a_job().shard
CONSUMER = ("vote-totals", "VoteBoardGame")


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
    await store.write(writes.schedule_job(*TURN, at=NOW, what='{"turn":7}'))
    claimed = await store.write(writes.claim_job(*TURN, runner=WEB, now=NOW, until=NOW + 60_000))
    assert claimed == a_job(state="running", owner=WEB, due_at=NOW + 60_000, attempts=1, payload='{"turn":7}')
    assert await subjects(store, due_jobs(SHARD, NOW), []) == []
    assert await subjects(store, due_jobs(SHARD, NOW + 60_000), [TURN[2]]) == [TURN[2]]


async def test_a_job_is_not_claimed_before_it_is_due(store: Store):
    await store.write(writes.schedule_job(*TURN, at=NOW + 1))
    with pytest.raises(ConditionFailed):
        await store.write(writes.claim_job(*TURN, runner=WEB, now=NOW, until=NOW + 60_000))
    with pytest.raises(ValueError, match="ends after"):
        writes.claim_job(*TURN, runner=WEB, now=NOW, until=NOW)


async def test_a_renewed_job_is_due_later_and_shown_by_its_new_end(store: Store):
    claimed = await running(store)
    renewed = await store.write(writes.renew_job(claimed, NOW + 120_000))
    assert renewed is not None
    assert renewed.due_at == NOW + 120_000
    with pytest.raises(ConditionFailed):
        await store.write(writes.finish_job(claimed))
    await store.write(writes.finish_job(renewed))
    assert await store.get(job(*TURN)) is None


async def test_a_finished_job_leaves_the_index(store: Store):
    await store.write(writes.finish_job(await running(store)))
    assert await subjects(store, coming_jobs(SHARD), []) == []


async def test_a_daily_job_is_due_again_with_a_clean_slate(store: Store):
    await store.write(writes.reschedule_job(await running(store, attempts=3), NOW + 86_400_000))
    assert await now_is(store) == a_job(scheduled_for=NOW + 86_400_000, due_at=NOW + 86_400_000)


async def test_a_failed_job_waits_and_the_eighth_failure_is_its_death(store: Store):
    await store.write(writes.schedule_job(*TURN, at=NOW))
    now = NOW
    for attempt in range(1, MOST_ATTEMPTS + 1):
        claimed = await store.write(writes.claim_job(*TURN, runner=WEB, now=now, until=now + 60_000))
        assert claimed is not None
        failed = await store.write(writes.fail_job(claimed, f"failure {attempt}", now))
        assert failed is not None
        now = failed.due_at or now
    dead = await now_is(store)
    assert (dead.state, dead.due_at, dead.died_at, dead.owner) == ("dead", None, now, None)
    assert dead.last_error == "failure 8"
    assert now - NOW == 10_000 * (2**7 - 1)
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
    await store.write(writes.retry_job(*TURN, now=NOW + 5))
    assert await now_is(store) == a_job(due_at=NOW + 5)
    with pytest.raises(ConditionFailed):
        await store.write(writes.retry_job(*TURN, now=NOW + 5))


async def test_a_waiting_job_moves_and_can_be_cancelled(store: Store):
    await store.write(writes.schedule_job(*TURN, at=NOW))
    await store.write(writes.move_job(*TURN, at=NOW + 7))
    assert await now_is(store) == a_job(scheduled_for=NOW + 7, due_at=NOW + 7)
    assert await subjects(store, due_jobs(SHARD, NOW), []) == []
    await store.write(writes.cancel_job(*TURN))
    await store.write(writes.cancel_job(*TURN))
    assert await store.get(job(*TURN)) is None


async def test_a_running_job_is_neither_moved_nor_cancelled_nor_scheduled_again(store: Store):
    claimed = await running(store)
    for plan in (
        writes.move_job(*TURN, at=NOW),
        writes.cancel_job(*TURN),
        writes.schedule_job(*TURN, at=NOW),
        writes.retry_job(*TURN, now=NOW),
    ):
        with pytest.raises(ConditionFailed):
            await store.write(plan)
    assert await now_is(store) == claimed


def test_a_job_that_nobody_runs_is_not_finished():
    for attempt in (
        lambda: writes.finish_job(a_job()),
        lambda: writes.renew_job(a_job(), NOW),
        lambda: writes.reschedule_job(a_job(), NOW),
        lambda: writes.fail_job(a_job(), "", NOW),
    ):
        with pytest.raises(NotClaimed):
            attempt()


async def taken(store: Store, owner: OwnerId, now: int) -> None:
    found = await store.get(lease("singleton/sweep"))
    await store.write(writes.take_lease(found, "singleton/sweep", owner, now, now + 10_000))


async def test_a_lease_goes_from_hand_to_hand_and_counts_its_owners(store: Store):
    await taken(store, WEB, NOW)
    first = await store.get(lease("singleton/sweep"))
    assert first is not None
    assert (first.owner, first.until, first.epoch) == (WEB, NOW + 10_000, NOW // 1000)
    await taken(store, WEB, NOW + 5_000)
    with pytest.raises(LeaseHeld):
        await taken(store, OTHER, NOW + 14_999)
    await taken(store, OTHER, NOW + 15_000)
    second = await store.get(lease("singleton/sweep"))
    assert second is not None
    assert (second.owner, second.epoch) == (OTHER, first.epoch + 1)
    await store.write(writes.renew_lease(second, NOW + 60_000))
    await store.write(writes.release_lease(second, NOW + 20_000))
    released = await store.get(lease("singleton/sweep"))
    assert released is not None
    assert (released.owner, released.until) == (None, NOW + 20_000)
    await taken(store, WEB, NOW + 20_000)
    third = await store.get(lease("singleton/sweep"))
    assert third is not None
    assert (third.owner, third.epoch) == (WEB, first.epoch + 2)


async def test_a_forgotten_lease_that_is_taken_anew_still_counts_upwards(store: Store, clock: ManualClock):
    await taken(store, WEB, NOW)
    before = await store.get(lease("singleton/sweep"))
    assert before is not None
    await clock.advance(8 * 24 * 60 * 60)
    assert await store.get(lease("singleton/sweep")) is None
    await taken(store, OTHER, int(clock.now()) * 1000)
    after = await store.get(lease("singleton/sweep"))
    assert after is not None
    assert after.epoch > before.epoch


@pytest.mark.parametrize("write", [lambda it: writes.renew_lease(it, NOW), lambda it: writes.release_lease(it, NOW)])
def test_a_lease_that_nobody_holds_is_neither_renewed_nor_released(write: Callable[..., Awaitable[None]]):
    with pytest.raises(LeaseHeld):
        write(a_lease(owner=None))
    with pytest.raises(ValueError, match="ends after"):
        writes.take_lease(None, "singleton/sweep", WEB, NOW, NOW)


async def test_a_checkpoint_moves_with_its_epoch_and_is_found_shard_by_shard(store: Store):
    for shard in ("shard-1", "shard-0"):
        await store.write(writes.move_checkpoint(*CONSUMER, shard, "10", 5, NOW))
    await store.write(writes.move_checkpoint(*CONSUMER, "shard-0", "20", 5, NOW + 1))
    await store.write(writes.move_checkpoint("others", CONSUMER[1], "shard-0", "1", 1, NOW))
    found = await store.get(checkpoint(*CONSUMER, "shard-0"))
    assert found == Checkpoint(
        consumer=CONSUMER[0], table=CONSUMER[1], shard="shard-0", position="20", epoch=5, moved_at=NOW + 1
    )
    listed = [each.shard async for each in store.each(checkpoints_of(*CONSUMER))]
    assert listed == ["shard-0", "shard-1"]
