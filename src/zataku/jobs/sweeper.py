"""What the store itself needs now and then."""

import asyncio
from random import Random

import structlog

from zataku.clock import Clock
from zataku.jobs.counters import Counts
from zataku.table import Store, TableError

log = structlog.stdlib.get_logger()

SWEPT_EVERY = 300.0
_PORTION = 1000
_BETWEEN_PORTIONS = 1.0


class Sweeping:
    """Deletes every few minutes what has expired, and the changes that every follower has seen.

    It is no job in the table: an embedded store has one process, and Amazon DynamoDB deletes by itself, where a sweep
    does nothing and costs nothing.
    """

    def __init__(self, store: Store, clock: Clock, random: Random, counts: Counts) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._running: asyncio.Task[None] | None = None
        self._counts = counts

    def start(self) -> None:
        """Begin at once: much may have expired while nobody was there."""
        self._running = asyncio.create_task(self._sweep_on())

    async def stop(self) -> None:
        """Sweep no more."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _sweep_on(self) -> None:
        while True:
            pause = SWEPT_EVERY * self._random.uniform(0.8, 1.2)
            try:
                swept = await self._store.sweep(_PORTION)
                self._counts.swept += swept
                if swept >= _PORTION:
                    pause = _BETWEEN_PORTIONS
            except TableError as problem:
                log.warning("not_swept", problem=str(problem))
            await self._clock.sleep(pause)
