"""A clock that runs, and that somebody can push."""

import asyncio
import time

import pytest

from zataku.clock import AdvanceableClock

DEADLINE = 5.0


async def test_it_runs_by_itself():
    clock = AdvanceableClock()
    assert abs(clock.now() - time.time()) < 1
    async with asyncio.timeout(DEADLINE):
        await clock.sleep(0.01)
        await clock.sleep(0)
        await clock.sleep(-5)


async def test_whoever_has_waited_long_enough_wakes_when_it_is_pushed_and_nobody_else():
    clock, woken = AdvanceableClock(), list[str]()

    async def wait(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(name)

    sleepers = [asyncio.create_task(wait(*each)) for each in (("hour", 3600), ("minute", 60), ("day", 86400))]
    await asyncio.sleep(0)
    await clock.advance(59)
    assert woken == []
    await clock.advance(3600)
    assert woken == ["minute", "hour"]
    assert clock.now() - time.time() == pytest.approx(3659, abs=1)
    sleepers[2].cancel()
    await asyncio.wait(sleepers)


async def test_whoever_sleeps_again_and_again_wakes_once_for_a_long_push():
    clock, rounds = AdvanceableClock(), 0

    async def beat() -> None:
        nonlocal rounds
        while True:
            await clock.sleep(30)
            rounds += 1

    beating = asyncio.create_task(beat())
    await asyncio.sleep(0)
    await clock.advance(86400)
    assert rounds == 1
    await clock.advance(30)
    assert rounds == 2
    beating.cancel()


async def test_it_is_never_pushed_back():
    clock = AdvanceableClock()
    before = clock.now()
    await clock.advance(-3600)
    assert clock.now() >= before


async def test_somebody_who_was_cancelled_in_their_sleep_keeps_nobody_from_waking():
    clock = AdvanceableClock()
    given_up = asyncio.create_task(clock.sleep(0.001))
    waiting = asyncio.create_task(clock.sleep(0.01))
    await asyncio.sleep(0)
    given_up.cancel()
    async with asyncio.timeout(DEADLINE):
        await waiting
