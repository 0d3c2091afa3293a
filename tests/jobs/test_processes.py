"""Several processes on one store: nothing is done twice, and nothing is lost with a process that goes."""

import asyncio
from collections import Counter

import pytest
from structlog.testing import capture_logs

from tests.jobs.conftest import Processes
from tests.jobs.working import NOW, Deeds, one, passing, until
from zataku.clock import ManualClock
from zataku.platform.limits import SECOND
from zataku.platform.writes import schedule_job
from zataku.table import Store


@pytest.fixture
def deeds(clock: ManualClock) -> Deeds:
    return Deeds(clock)


async def test_two_runners_never_run_one_job_twice(contested: Store, clock: ManualClock, processes: Processes):
    deeds = Deeds(clock)
    subjects = [f"{number}" for number in range(60)]
    with capture_logs():
        webs = [await processes(contested, f"web-{number}", handle=deeds.work).start() for number in range(3)]
        for number, subject in enumerate(subjects):
            await webs[number % 3].schedule.add(NOW + 40 * number, "othello", "close_turn", subject)
        await passing(clock, 120, lambda: set(deeds.done) == set(subjects))
        await passing(clock, 5, lambda: not any(web.runner.counters.running for web in webs))
    # A reply that is lost on the way may cost a second run: nobody can tell whether the first was noted.
    twice = [subject for subject, times in Counter(deeds.done).items() if times > 1]
    assert len(twice) <= sum(web.runner.counters.lost for web in webs) + _lost_replies(contested)
    assert await one(contested, "0") is None


def _lost_replies(store: Store) -> int:
    return store.backend.injected["lost_reply"]  # type: ignore[attr-defined]  both stores count their faults


async def test_the_job_of_a_killed_runner_is_done_by_another_when_its_time_is_over(
    store: Store, clock: ManualClock, deeds: Deeds, processes: Processes
):
    stuck = Deeds(clock)
    stuck.gate.clear()
    with capture_logs():
        killed = await processes(store, "web-1", handle=stuck.work, lease_ms=30 * SECOND).start()
        await killed.schedule.add(NOW, "othello", "close_turn", "a")
        await until(lambda: len(stuck.began) == 1)
        killed.wire.cut = True
        await processes(store, "web-2", handle=deeds.work, lease_ms=30 * SECOND).start()
        await passing(clock, 29, lambda: clock.now() > NOW / 1000 + 28.5)
        assert deeds.began == []
        await passing(clock, 5, lambda: deeds.done == ["a"])
        await passing(clock, 5, lambda: stuck.broken_off == ["a"])
    assert stuck.done == []


async def test_a_long_run_is_renewed_and_nobody_else_takes_it(
    store: Store, clock: ManualClock, deeds: Deeds, processes: Processes
):
    deeds.gate.clear()
    other = Deeds(clock)
    web = await processes(store, "web-1", handle=deeds.work, lease_ms=3 * SECOND).start()
    await web.schedule.add(NOW, "othello", "close_turn", "a")
    await until(lambda: len(deeds.began) == 1)
    await processes(store, "web-2", handle=other.work, lease_ms=3 * SECOND).start()
    await passing(clock, 20, lambda: clock.now() > NOW / 1000 + 15)
    deeds.gate.set()
    await until(lambda: deeds.done == ["a"])
    assert (deeds.began, other.began) == ([("a", NOW / 1000)], [])


async def test_a_run_that_another_process_has_taken_is_broken_off_and_says_nothing_more(
    store: Store, clock: ManualClock, deeds: Deeds, processes: Processes
):
    stuck = Deeds(clock)
    stuck.gate.clear()
    with capture_logs() as said:
        paused = await processes(store, "web-1", handle=stuck.work, lease_ms=6 * SECOND).start()
        await paused.schedule.add(NOW, "othello", "close_turn", "a")
        await until(lambda: len(stuck.began) == 1)
        paused.wire.cut = True
        deeds.gate.clear()
        await processes(store, "web-2", handle=deeds.work, lease_ms=60 * SECOND).start()
        await passing(clock, 10, lambda: len(deeds.began) == 1)
        taken = await one(store, "a")
        paused.wire.cut = False
        await passing(clock, 10, lambda: stuck.broken_off == ["a"])
        await passing(clock, 2, lambda: paused.runner.counters.lost == 1)
        assert await one(store, "a") == taken
    deeds.gate.set()
    await until(lambda: deeds.done == ["a"])
    assert "job_lost" in [line["event"] for line in said]


async def test_what_runs_may_finish_when_the_server_stops(
    store: Store, clock: ManualClock, deeds: Deeds, processes: Processes
):
    deeds.gate.clear()
    web = await processes(store, "web-1", handle=deeds.work).start()
    await web.schedule.add(NOW, "othello", "close_turn", "a")
    await until(lambda: len(deeds.began) == 1)
    stopping = asyncio.ensure_future(web.runner.stop())
    await web.schedule.add(NOW, "othello", "close_turn", "b")
    await passing(clock, 8, lambda: clock.now() > NOW / 1000 + 6)
    assert not stopping.done()
    deeds.gate.set()
    await until(stopping.done)
    assert deeds.done == ["a"]
    assert await one(store, "a") is None
    assert await one(store, "b") is not None


async def test_what_does_not_finish_in_time_is_handed_over_at_once(
    store: Store, clock: ManualClock, deeds: Deeds, processes: Processes
):
    stuck = Deeds(clock)
    stuck.gate.clear()
    web = await processes(store, "web-1", handle=stuck.work).start()
    await web.schedule.add(NOW, "othello", "close_turn", "a", payload="{}")
    await until(lambda: len(stuck.began) == 1)
    await web.stop()
    assert stuck.broken_off == ["a"]
    found = await one(store, "a")
    assert found is not None
    assert (found.state, found.due_at, found.payload) == ("waiting", NOW, "{}")
    await processes(store, "web-2", handle=deeds.work).start()
    await until(lambda: deeds.done == ["a"])


async def test_an_unreachable_store_is_waited_for(store: Store, clock: ManualClock, deeds: Deeds, processes: Processes):
    with capture_logs() as said:
        web = await processes(store, "web-1", handle=deeds.work).start()
        await passing(clock, 1, lambda: True)
        web.wire.cut = True
        await passing(clock, 20, lambda: len(said) >= 2)
        web.wire.cut = False
        await store.write(schedule_job("othello", "close_turn", "a", at=NOW, now=NOW))
        await passing(clock, 40, lambda: deeds.done == ["a"])
    assert {line["event"] for line in said} == {"due_jobs_not_read"}
