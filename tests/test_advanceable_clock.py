"""A clock that runs, and that can be advanced."""

import asyncio
import time

import pytest

from zataku.clock import AdvanceableClock

DEADLINE = 5.0


async def test_an_advanceable_clock_runs_by_itself():
    clock = AdvanceableClock()
    assert abs(clock.now() - time.time()) < 1
    async with asyncio.timeout(DEADLINE):
        await clock.sleep(0.01)
        await clock.sleep(0)
        await clock.sleep(-5)


async def test_an_advance_wakes_the_sleepers_that_are_due_and_no_others():
    clock, woken = AdvanceableClock(), list[str]()

    async def wait(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(name)

    waits = {"hour": 3600, "minute": 60, "day": 86400}
    sleepers = [asyncio.create_task(wait(name, seconds)) for name, seconds in waits.items()]
    await asyncio.sleep(0)
    await clock.advance(59)
    assert woken == []
    await clock.advance(3600)
    assert woken == ["minute", "hour"]
    assert clock.now() - time.time() == pytest.approx(3659, abs=1)
    sleepers[2].cancel()
    await asyncio.wait(sleepers)


async def test_a_task_that_sleeps_repeatedly_wakes_once_for_a_long_advance():
    clock, rounds = AdvanceableClock(), 0

    async def sleep_repeatedly() -> None:
        nonlocal rounds
        while True:
            await clock.sleep(30)
            rounds += 1

    sleeping = asyncio.create_task(sleep_repeatedly())
    await asyncio.sleep(0)
    await clock.advance(86400)
    assert rounds == 1
    await clock.advance(30)
    assert rounds == 2
    sleeping.cancel()


async def test_an_advanceable_clock_never_goes_back():
    clock = AdvanceableClock()
    before = clock.now()
    await clock.advance(-3600)
    assert clock.now() >= before


async def test_a_cancelled_sleeper_does_not_keep_others_from_waking():
    clock = AdvanceableClock()
    cancelled = asyncio.create_task(clock.sleep(0.001))
    waiting = asyncio.create_task(clock.sleep(0.01))
    await asyncio.sleep(0)
    cancelled.cancel()
    async with asyncio.timeout(DEADLINE):
        await waiting
