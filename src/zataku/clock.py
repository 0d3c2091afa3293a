"""The one source of time. Everything that waits or stamps takes a `Clock`, so that tests can move time by hand."""

import asyncio
import heapq
import itertools
import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""
        await asyncio.sleep(seconds)


class ManualClock:
    """A clock that stands still until somebody advances it."""

    def __init__(self, now: float = 1_767_225_600.0) -> None:
        self._now = now
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has been advanced that far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), waiting))
        await waiting

    async def advance(self, seconds: float) -> None:
        """Move time on and let everyone whose wait is over run, in the order of their due times."""
        until = self._now + seconds
        while self._sleepers and self._sleepers[0][0] <= until:
            due, _, waiting = heapq.heappop(self._sleepers)
            self._now = max(self._now, due)
            if not waiting.done():
                waiting.set_result(None)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        # Somebody who woke up may have advanced the clock further; time never goes back.
        self._now = max(self._now, until)
