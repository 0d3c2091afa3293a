"""The manual clock of tests, whose sleepers wake when it is advanced, and the system clock."""

import asyncio
import time

import pytest

from tests.support.manual_clock import ManualClock
from zataku.clock import SystemClock, has_passed


async def sleeper(clock: ManualClock, seconds: float, name: str, woken: list[tuple[str, float]]) -> None:
    await clock.sleep(seconds)
    woken.append((name, clock.now()))


def start_sleepers(clock: ManualClock, woken: list[tuple[str, float]], **waits: float) -> list[asyncio.Task[None]]:
    return [asyncio.ensure_future(sleeper(clock, seconds, name, woken)) for name, seconds in waits.items()]


async def test_a_manual_clock_moves_only_when_it_is_advanced() -> None:
    clock = ManualClock(100)
    assert clock.now() == clock.now() == 100
    await clock.advance(2.5)
    assert clock.now() == 102.5


async def test_sleepers_wake_in_the_order_of_their_due_times_and_at_them() -> None:
    clock, woken = ManualClock(0), list[tuple[str, float]]()
    waiting = start_sleepers(clock, woken, last=30, first=10, middle=20)
    await clock.wait_for_sleepers(3)
    await clock.advance(30)
    await asyncio.gather(*waiting)
    assert woken == [("first", 10), ("middle", 20), ("last", 30)]
    assert clock.now() == 30


async def test_sleepers_due_at_the_same_time_wake_in_the_order_in_which_they_began() -> None:
    clock, woken = ManualClock(0), list[tuple[str, float]]()
    waiting = start_sleepers(clock, woken, one=5, two=5, three=5)
    await clock.wait_for_sleepers(3)
    await clock.advance(5)
    await asyncio.gather(*waiting)
    assert [name for name, _ in woken] == ["one", "two", "three"]


async def test_a_sleeper_that_is_not_due_keeps_sleeping() -> None:
    clock, woken = ManualClock(0), list[tuple[str, float]]()
    (waiting,) = start_sleepers(clock, woken, patient=10)
    await clock.wait_for_sleepers()
    await clock.advance(9.999)
    assert not woken
    await clock.advance(0.001)
    await waiting
    assert [name for name, _ in woken] == ["patient"]


async def test_a_task_that_sleeps_again_wakes_again_within_one_advance() -> None:
    clock, woken_at = ManualClock(0), list[float]()

    async def sleep_repeatedly() -> None:
        while True:
            await clock.sleep(10)
            woken_at.append(clock.now())

    sleeping = asyncio.ensure_future(sleep_repeatedly())
    await clock.wait_for_sleepers()
    await clock.advance(35)
    assert woken_at == [10, 20, 30]
    sleeping.cancel()


async def test_a_cancelled_sleeper_does_not_disturb_the_others() -> None:
    clock, woken = ManualClock(0), list[tuple[str, float]]()
    cancelled, stays = start_sleepers(clock, woken, cancelled=5, stays=6)
    await clock.wait_for_sleepers(2)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    await clock.advance(10)
    await stays
    assert woken == [("stays", 6)]
    assert clock.now() == 10


async def test_waiting_for_sleepers_counts_only_those_that_still_sleep() -> None:
    clock, woken = ManualClock(0), list[tuple[str, float]]()
    early, cancelled, late = start_sleepers(clock, woken, early=5, cancelled=6, late=7)
    await clock.wait_for_sleepers(3)
    await clock.advance(5)
    await early
    cancelled.cancel()
    await asyncio.wait({cancelled})
    await clock.wait_for_sleepers(1)
    waiting = asyncio.ensure_future(clock.wait_for_sleepers(2))
    await asyncio.sleep(0)
    assert not waiting.done()
    (another,) = start_sleepers(clock, woken, another=1)
    await waiting
    await clock.advance(2)
    await asyncio.gather(late, another)
    assert [name for name, _ in woken] == ["early", "another", "late"]


async def test_a_sleep_of_zero_seconds_lets_other_tasks_run() -> None:
    clock = ManualClock(0)
    ran: list[str] = []

    async def other() -> None:
        ran.append("other")

    task = asyncio.ensure_future(other())
    await clock.sleep(0)
    await clock.sleep(-1)
    assert ran == ["other"]
    assert clock.now() == 0
    await task


async def test_time_never_goes_back_when_a_woken_sleeper_advances_the_clock_itself() -> None:
    clock, seen = ManualClock(0), list[float]()

    async def sleep_and_advance() -> None:
        await clock.sleep(1)
        await clock.advance(100)
        seen.append(clock.now())

    waiting = asyncio.ensure_future(sleep_and_advance())
    await clock.wait_for_sleepers()
    await clock.advance(2)
    await waiting
    assert seen == [101]
    assert clock.now() == 101


async def test_the_system_clock_returns_the_time_and_sleeps() -> None:
    clock = SystemClock()
    before = time.time()
    await clock.sleep(0.001)
    assert before < clock.now() <= time.time()


@pytest.mark.parametrize(
    ("now", "passed"), [(100, False), (103.9, False), (104, True), (99.9, True), (100 - 7200, True), (9000, True)]
)
def test_seconds_have_passed_also_when_the_clock_was_set_back(now: float, passed: bool) -> None:
    assert has_passed(100, now, 4) is passed
