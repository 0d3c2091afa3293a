"""Due jobs run at their time, once, in one of the processes."""

import asyncio
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.jobs.conftest import Processes
from tests.jobs.job_processes import NOW, RecordingHandler, advance_until, stored_job, wait_until
from tests.support.manual_clock import ManualClock
from zataku.jobs.definitions import DeadlineJob
from zataku.jobs.runner import MAX_CONCURRENT_RUNS, JobRunner
from zataku.platform import writes
from zataku.platform.design import Job, platform
from zataku.platform.limits import MAX_JOB_ATTEMPTS, OwnerId
from zataku.table import Store
from zataku.table.backend.port import PutItem
from zataku.table.schema.entity import binding_of


@pytest.fixture
def handler(clock: ManualClock) -> RecordingHandler:
    return RecordingHandler(clock)


async def test_a_job_runs_at_its_time_and_is_deleted(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    web = await processes(store, "web-1", handle=handler.handle).start()
    await web.schedule.add(NOW + 5_300, "othello", "close_turn", "a")
    await advance_until(clock, 10, lambda: handler.done == ["a"], step=0.1)
    assert handler.started == [("a", pytest.approx(NOW / 1000 + 5.3, abs=0.11))]
    await advance_until(clock, 1, lambda: not web.runner.counters.running)
    assert await stored_job(store, "a") is None


async def test_a_job_that_is_due_at_once_does_not_wait_for_the_next_poll(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    web = await processes(store, "web-1", handle=handler.handle).start()
    await advance_until(clock, 1, lambda: True)
    await web.schedule.add(NOW, "othello", "close_turn", "a")
    await handler.wait_until_done()
    assert handler.done == ["a"]
    assert clock.now() == NOW / 1000


async def test_a_job_scheduled_by_another_process_runs(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    await processes(store, "web-1", handle=handler.handle).start()
    await store.write(writes.schedule_job("othello", "close_turn", "a", at=NOW + 3_000, now=NOW))
    await advance_until(clock, 5, lambda: handler.done == ["a"])
    assert clock.now() >= NOW / 1000 + 3


async def test_due_jobs_are_found_when_the_clock_is_set_back(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    await processes(store, "web-1", handle=handler.handle).start()
    await advance_until(clock, 5, lambda: clock.now() > NOW / 1000 + 3)
    clock.set_back(7200)
    back = int(clock.now() * 1000)
    await store.write(writes.schedule_job("othello", "close_turn", "a", at=back + 1_000, now=back))
    await advance_until(clock, 10, lambda: handler.done == ["a"])


async def test_overdue_jobs_run_after_a_start_with_the_oldest_first(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    for number in range(5):
        await store.write(writes.schedule_job("othello", "close_turn", f"{number}", at=NOW - 9_000 * number, now=NOW))
    await processes(store, "web-1", handle=handler.handle).start()
    await handler.wait_until_done(5)
    assert len(handler.done) == 5
    assert [subject for subject, _ in handler.started] == ["4", "3", "2", "1", "0"]


async def test_a_job_that_cannot_be_read_is_logged_once_and_holds_up_no_other(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    await store.write(writes.schedule_job("othello", "close_turn", "damaged", at=NOW - 9_000, now=NOW))
    await store.write(writes.schedule_job("othello", "close_turn", "whole", at=NOW - 5_000, now=NOW))
    damaged = await stored_job(store, "damaged")
    assert damaged is not None
    item = {**binding_of(Job).encode(damaged), "state": "lost"}
    await store.calls("foreign", lambda used: store.backend.write(PutItem(store.schema(platform), item), used))
    with capture_logs() as logs:
        await processes(store, "web-1", handle=handler.handle).start()
        await handler.wait_until_done()
        await advance_until(clock, 30, lambda: clock.now() >= NOW / 1000 + 25)
    assert handler.done == ["whole"]
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["job_unreadable"]


async def test_a_job_that_returns_a_time_runs_again_at_that_time(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    handler.results["a"] = [NOW + 4_000, None]
    web = await processes(store, "web-1", handle=handler.handle).start()
    await web.schedule.add(NOW, "othello", "close_turn", "a")
    await advance_until(clock, 10, lambda: handler.done == ["a", "a"])
    assert handler.started[1][1] >= NOW / 1000 + 4
    await advance_until(clock, 1, lambda: not web.runner.counters.running)
    assert await stored_job(store, "a") is None


async def test_a_deadline_scheduled_during_a_run_is_kept(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    handler.gate.clear()
    web = await processes(store, "web-1", handle=handler.handle).start()
    await web.schedule.add(NOW, "othello", "close_turn", "a")
    await handler.wait_until_started()
    await web.schedule.add(NOW + 3_000, "othello", "close_turn", "a")
    handler.gate.set()
    await advance_until(clock, 10, lambda: handler.done == ["a", "a"])
    assert handler.started[1][1] >= NOW / 1000 + 3


async def test_at_most_eight_jobs_run_at_once_and_the_others_follow(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    handler.gate.clear()
    web = await processes(store, "web-1", handle=handler.handle).start()
    for number in range(120):
        await web.schedule.add(NOW, "othello", "close_turn", f"{number}")
    await handler.wait_until_concurrent(MAX_CONCURRENT_RUNS)
    await advance_until(clock, 2, lambda: clock.now() >= NOW / 1000 + 1.9)
    assert handler.concurrent == MAX_CONCURRENT_RUNS
    handler.gate.set()
    await advance_until(clock, 60, lambda: len(handler.done) == 120)
    assert (len(set(handler.done)), handler.max_concurrent) == (120, MAX_CONCURRENT_RUNS)


async def test_a_failed_job_is_retried_after_a_growing_delay(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    handler.results["a"] = [OSError("no disk"), ValueError("x" * 900), None]
    web = await processes(store, "web-1", handle=handler.handle).start()
    with capture_logs() as logs:
        await web.schedule.add(NOW, "othello", "close_turn", "a")
        await wait_until(lambda: web.runner.counters.failures == 1)
        await advance_until(clock, 15, lambda: web.runner.counters.failures == 2 and not web.runner.counters.running)
        stored = await stored_job(store, "a")
        await advance_until(clock, 30, lambda: handler.done == ["a"])
    assert stored is not None
    assert (stored.attempts, len(stored.last_error or "")) == (2, 500)
    started = [at - NOW / 1000 for _, at in handler.started]
    assert started[1] >= 10
    assert started[2] - started[1] >= 20
    assert [entry["event"] for entry in logs].count("job_failed") == 2


async def test_a_job_is_dead_after_its_fortieth_failure(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    handler.results["a"] = [OSError("no disk")]
    await store.write(writes.schedule_job("othello", "close_turn", "a", at=NOW, now=NOW))
    claim = await store.write(
        writes.claim_job("othello", "close_turn", "a", runner=OwnerId("old"), now=NOW, until=NOW + 1)
    )
    assert claim is not None
    for _ in range(MAX_JOB_ATTEMPTS - 2):
        claim = await store.write(
            writes.claim_job("othello", "close_turn", "a", runner=OwnerId("old"), now=NOW + 1, until=NOW + 2)
        )
        await store.write(writes.move_job("othello", "close_turn", "a", at=NOW, now=NOW + 2))
    web = await processes(store, "web-1", handle=handler.handle).start()
    with capture_logs():
        await wait_until(lambda: web.runner.counters.deaths == 1 and not web.runner.counters.running)
    stored = await stored_job(store, "a")
    assert stored is not None
    assert (stored.state, stored.attempts, stored.last_error) == ("dead", MAX_JOB_ATTEMPTS, "OSError: no disk")


async def test_a_job_whose_runners_died_too_often_is_dead_without_another_run(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    await store.write(writes.schedule_job("othello", "close_turn", "a", at=NOW, now=NOW))
    for number in range(MAX_JOB_ATTEMPTS):
        now = NOW + number
        await store.write(writes.claim_job("othello", "close_turn", "a", runner=OwnerId("old"), now=now, until=now + 1))
    await clock.advance(60)
    web = await processes(store, "web-1", handle=handler.handle).start()
    with capture_logs():
        await wait_until(lambda: web.runner.counters.deaths == 1)
    assert handler.started == []


async def test_jobs_of_unknown_kinds_are_left_alone_and_logged_once(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    for number in range(120):
        await store.write(writes.schedule_job("kifu", "from_the_future", f"{number}", at=NOW - 99, now=NOW))
    await store.write(writes.schedule_job("othello", "close_turn", "a", at=NOW, now=NOW))
    with capture_logs() as logs:
        web = await processes(store, "web-1", handle=handler.handle).start()
        await advance_until(clock, 5, lambda: clock.now() > NOW / 1000 + 3)
    assert handler.done == ["a"]
    assert [entry["event"] for entry in logs] == ["job_kind_unknown"]
    assert web.runner.counters.unknown == 1


async def test_a_handler_that_cancels_itself_counts_as_failed(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    async def cancel_itself(_job: object) -> None:
        raise asyncio.CancelledError

    web = await processes(store, "web-1", handle=cancel_itself).start()
    with capture_logs():
        await web.schedule.add(NOW, "othello", "close_turn", "a")
        await wait_until(lambda: web.runner.counters.failures == 1 and not web.runner.counters.running)
    stored = await stored_job(store, "a")
    assert stored is not None
    assert (stored.state, stored.due_at) == ("waiting", NOW + 10_000)


async def test_two_handlers_of_one_kind_are_refused(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    job = DeadlineJob(system="othello", kind="close_turn", handle=handler.handle)
    process = processes(store, "web-1")
    with pytest.raises(ValueError, match="same kind"):
        JobRunner(
            store=store,
            clock=clock,
            random=Random(1),
            process="web-2",
            schedule=process.schedule,
            deadline_jobs=[job, job],
        )


async def test_a_handler_that_raises_before_its_first_await_counts_as_failed(
    store: Store, clock: ManualClock, processes: Processes
):
    def raise_at_once(_job: object) -> Any:
        raise KeyError("turn")

    web = await processes(store, "web-1", handle=raise_at_once).start()
    with capture_logs():
        await web.schedule.add(NOW, "othello", "close_turn", "a")
        await wait_until(lambda: web.runner.counters.failures == 1 and not web.runner.counters.running)
    stored = await stored_job(store, "a")
    assert stored is not None
    assert stored.last_error == "KeyError: 'turn'"
