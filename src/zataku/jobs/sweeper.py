"""The sweeper: deletes expired items and consumed change records of an embedded store."""

import asyncio
from random import Random

import structlog

from zataku.clock import Clock
from zataku.jobs.run import JobCounters
from zataku.table import Store, TableError

log = structlog.stdlib.get_logger()

SWEEP_INTERVAL_SECONDS = 300.0
_BATCH_SIZE = 1000
_SECONDS_BETWEEN_BATCHES = 1.0


class Sweeper:
    """Deletes expired items, and changes that every consumer has seen, every few minutes.

    It is not a job in the table: an embedded store has one process, and Amazon DynamoDB deletes by itself; there a
    sweep does nothing and costs nothing.
    """

    def __init__(self, store: Store, clock: Clock, random: Random, counters: JobCounters) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._task: asyncio.Task[None] | None = None
        self._counters = counters

    def start(self) -> None:
        """Start with a sweep: items may have expired while the server was down."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop sweeping."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            pause = SWEEP_INTERVAL_SECONDS * self._random.uniform(0.8, 1.2)
            try:
                swept = await self._store.sweep(_BATCH_SIZE)
                self._counters.swept += swept
                if swept >= _BATCH_SIZE:
                    pause = _SECONDS_BETWEEN_BATCHES
            except TableError as problem:
                log.warning("sweep_failed", problem=str(problem))
            await self._clock.sleep(pause)
