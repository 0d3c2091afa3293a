"""The source of time. Code that waits or stores times takes a `Clock`, so that tests can advance it."""

import asyncio
import heapq
import itertools
import time
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, Protocol


class Clock(Protocol):
    """The current time, and sleeping by it."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds."""
        ...


def now_ms(clock: Clock) -> int:
    """The time in milliseconds since 1970, as it is stored and sent."""
    return int(clock.now() * 1000)


async def wait_until_set(event: asyncio.Event, clock: Clock, seconds: float) -> None:
    """Wait until the event is set, but at most the given number of seconds by the clock."""
    waiting = asyncio.ensure_future(event.wait())
    try:
        await wait_until_done([waiting], clock, seconds)
    finally:
        waiting.cancel()


async def wait_until_done(tasks: Collection["asyncio.Future[Any]"], clock: Clock, seconds: float) -> None:
    """Wait until all tasks are done, but at most the given number of seconds by the clock. They are not cancelled."""
    if not tasks:
        return
    timer = asyncio.ensure_future(clock.sleep(seconds))
    all_done = asyncio.ensure_future(asyncio.wait(tasks))
    try:
        await asyncio.wait({timer, all_done}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        timer.cancel()
        all_done.cancel()


def has_passed(since: float, now: float, seconds: float) -> bool:
    """True when so many seconds have passed, and when the clock was set back: nobody waits until it has caught up."""
    return not since <= now < since + seconds


def instant_ms(seconds: float) -> str:
    """A Unix time as ISO 8601 in UTC to the millisecond, rounded down: `2026-02-21T10:30:00.000Z`."""
    millis = int(seconds * 1000 + 1e-3)
    stamp = datetime.fromtimestamp(millis // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{stamp}.{millis % 1000:03d}Z"


def instant_seconds(instant: str) -> float:
    """The Unix time of an ISO 8601 instant."""
    return datetime.fromisoformat(instant).timestamp()


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds."""
        await asyncio.sleep(seconds)


class AdvanceableClock:
    """The machine's clock, which can also be advanced: sleepers that are due by it wake up."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._alarm: asyncio.TimerHandle | None = None

    def now(self) -> float:
        """Seconds since 1970, UTC, plus the seconds it was advanced."""
        return time.time() + self._ahead

    async def sleep(self, seconds: float) -> None:
        """Wait that long, or until the clock has been advanced that far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now() + seconds, next(self._order), waiting))
        if self._sleepers[0][2] is waiting:
            self._set_alarm()
        await waiting

    async def advance(self, seconds: float) -> None:
        """Move time on at once, never back, as if the machine had slept, and wake the due sleepers in their order."""
        self._ahead += max(0.0, seconds)
        self._wake()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def _wake(self) -> None:
        now = self.now()
        while self._sleepers and self._sleepers[0][0] <= now:
            waiting = heapq.heappop(self._sleepers)[2]
            if not waiting.done():
                waiting.set_result(None)
        self._set_alarm()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        # Cancelled sleepers need no alarm.
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        if self._sleepers:
            wait = max(0.0, self._sleepers[0][0] - self.now())
            self._alarm = asyncio.get_running_loop().call_later(wait, self._wake)
