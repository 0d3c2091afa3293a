"""A clock for tests that stands still until it is advanced."""

import asyncio
import heapq
import itertools


class ManualClock:
    """A clock that stands still until it is advanced."""

    def __init__(self, now: float = 1_767_225_600.0) -> None:
        self._now = now
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._slept = asyncio.Event()

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has been advanced by that many seconds."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), waiting))
        self._slept.set()
        await waiting

    async def wait_for_sleepers(self, count: int = 1) -> None:
        """Wait until at least `count` tasks sleep by this clock."""
        while sum(not waiting.done() for _, _, waiting in self._sleepers) < count:
            self._slept.clear()
            await self._slept.wait()

    def set_back(self, seconds: float) -> None:
        """Set the clock back, as an operator does. Sleepers wait as long as they would have."""
        self._now -= seconds
        # The order stays the same, so that it is still a heap.
        self._sleepers = [(due - seconds, order, waiting) for due, order, waiting in self._sleepers]

    async def advance(self, seconds: float) -> None:
        """Move time on and wake the sleepers that are due, in the order of their due times."""
        until = self._now + seconds
        while self._sleepers and self._sleepers[0][0] <= until:
            due, _, waiting = heapq.heappop(self._sleepers)
            self._now = max(self._now, due)
            if not waiting.done():
                waiting.set_result(None)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        # A woken sleeper may have advanced the clock further; time never goes back.
        self._now = max(self._now, until)
