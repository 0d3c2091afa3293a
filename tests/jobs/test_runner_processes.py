"""Several processes on one store: a job runs in one of them, and none is lost with its process."""

import asyncio
from collections import Counter

import pytest
from structlog.testing import capture_logs

from tests.jobs.conftest import Processes
from tests.jobs.job_processes import DEADLINE, NOW, RecordingHandler, advance_until, stored_job
from tests.support.manual_clock import ManualClock
from zataku.platform.limits import SECOND
from zataku.platform.writes import schedule_job
from zataku.table import Store


@pytest.fixture
def handler(clock: ManualClock) -> RecordingHandler:
    return RecordingHandler(clock)


async def test_several_runners_run_a_job_twice_only_after_a_lost_reply(
    contested: Store, clock: ManualClock, processes: Processes
):
    handler = RecordingHandler(clock)
    subjects = [f"{number}" for number in range(60)]
    with capture_logs():
        webs = [await processes(contested, f"web-{number}", handle=handler.handle).start() for number in range(3)]
        for number, subject in enumerate(subjects):
            await webs[number % 3].schedule.add(NOW + 40 * number, "othello", "close_turn", subject)
        await advance_until(clock, 120, lambda: set(handler.done) == set(subjects))
        await advance_until(clock, 5, lambda: not any(web.runner.counters.running for web in webs))
    # A lost reply may cause a second run: the runner cannot tell whether the first was stored.
    twice = [subject for subject, times in Counter(handler.done).items() if times > 1]
    assert len(twice) <= sum(web.runner.counters.lost for web in webs) + _lost_replies(contested)
    assert await stored_job(contested, "0") is None


def _lost_replies(store: Store) -> int:
    return store.backend.injected["lost_reply"]  # type: ignore[attr-defined]  both stores count their faults


async def test_the_job_of_a_killed_runner_is_run_by_another_when_its_lease_expires(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    stuck = RecordingHandler(clock)
    stuck.gate.clear()
    with capture_logs():
        killed = await processes(store, "web-1", handle=stuck.handle, lease_ms=30 * SECOND).start()
        await killed.schedule.add(NOW, "othello", "close_turn", "a")
        await stuck.wait_until_started()
        killed.link.cut = True
        await processes(store, "web-2", handle=handler.handle, lease_ms=30 * SECOND).start()
        await advance_until(clock, 29, lambda: clock.now() > NOW / 1000 + 28.5)
        assert handler.started == []
        await advance_until(clock, 5, lambda: handler.done == ["a"])
        await advance_until(clock, 5, lambda: stuck.cancelled == ["a"])
    assert stuck.done == []


async def test_the_lease_of_a_long_run_is_renewed_and_no_other_process_claims_it(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    handler.gate.clear()
    other = RecordingHandler(clock)
    web = await processes(store, "web-1", handle=handler.handle, lease_ms=3 * SECOND).start()
    await web.schedule.add(NOW, "othello", "close_turn", "a")
    await handler.wait_until_started()
    await processes(store, "web-2", handle=other.handle, lease_ms=3 * SECOND).start()
    await advance_until(clock, 20, lambda: clock.now() > NOW / 1000 + 15)
    handler.gate.set()
    await handler.wait_until_done()
    assert handler.done == ["a"]
    assert (handler.started, other.started) == ([("a", NOW / 1000)], [])


async def test_a_run_that_another_process_has_claimed_is_cancelled_and_writes_nothing_more(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    stuck = RecordingHandler(clock)
    stuck.gate.clear()
    with capture_logs() as logs:
        paused = await processes(store, "web-1", handle=stuck.handle, lease_ms=6 * SECOND).start()
        await paused.schedule.add(NOW, "othello", "close_turn", "a")
        await stuck.wait_until_started()
        paused.link.cut = True
        handler.gate.clear()
        await processes(store, "web-2", handle=handler.handle, lease_ms=60 * SECOND).start()
        await advance_until(clock, 10, lambda: len(handler.started) == 1)
        claimed = await stored_job(store, "a")
        paused.link.cut = False
        await advance_until(clock, 10, lambda: stuck.cancelled == ["a"])
        await advance_until(clock, 2, lambda: paused.runner.counters.lost == 1)
        assert await stored_job(store, "a") == claimed
    handler.gate.set()
    await handler.wait_until_done()
    assert handler.done == ["a"]
    assert "job_lost" in [entry["event"] for entry in logs]


async def test_a_stopping_server_waits_for_its_active_runs(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    handler.gate.clear()
    web = await processes(store, "web-1", handle=handler.handle).start()
    await web.schedule.add(NOW, "othello", "close_turn", "a")
    await handler.wait_until_started()
    stopping = asyncio.ensure_future(web.runner.stop())
    await web.schedule.add(NOW, "othello", "close_turn", "b")
    await advance_until(clock, 8, lambda: clock.now() > NOW / 1000 + 6)
    assert not stopping.done()
    handler.gate.set()
    await asyncio.wait_for(stopping, DEADLINE)
    assert handler.done == ["a"]
    assert await stored_job(store, "a") is None
    assert await stored_job(store, "b") is not None


async def test_a_run_that_does_not_finish_before_the_stop_is_released(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    stuck = RecordingHandler(clock)
    stuck.gate.clear()
    web = await processes(store, "web-1", handle=stuck.handle).start()
    await web.schedule.add(NOW, "othello", "close_turn", "a", payload="{}")
    await stuck.wait_until_started()
    await web.stop()
    assert stuck.cancelled == ["a"]
    stored = await stored_job(store, "a")
    assert stored is not None
    assert (stored.state, stored.due_at, stored.payload) == ("waiting", NOW, "{}")
    await processes(store, "web-2", handle=handler.handle).start()
    await handler.wait_until_done()
    assert handler.done == ["a"]


async def test_jobs_run_again_when_an_unreachable_store_returns(
    store: Store, clock: ManualClock, handler: RecordingHandler, processes: Processes
):
    with capture_logs() as logs:
        web = await processes(store, "web-1", handle=handler.handle).start()
        await advance_until(clock, 1, lambda: True)
        web.link.cut = True
        await advance_until(clock, 20, lambda: len(logs) >= 2)
        web.link.cut = False
        await store.write(schedule_job("othello", "close_turn", "a", at=NOW, now=NOW))
        await advance_until(clock, 40, lambda: handler.done == ["a"])
    assert {entry["event"] for entry in logs} == {"due_jobs_not_read"}
