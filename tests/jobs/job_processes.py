"""Server processes that run jobs, a handler that records its runs, and waits for both."""

import asyncio
from collections.abc import Callable, Sequence
from random import Random

from tests.support.manual_clock import ManualClock
from tests.support.store_link import linked_store, wait_for_pending_calls
from tests.support.stores import START
from zataku.jobs.definitions import DailyJob, DeadlineJob, JobHandler, StreamConsumer
from zataku.jobs.runner import JobRunner
from zataku.jobs.schedule import Schedule
from zataku.platform.design import Job, job
from zataku.platform.limits import MINUTE
from zataku.table import Store

NOW = int(START) * 1000
DEADLINE = 20.0
"""Real seconds after which a condition that does not hold fails the test."""


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition on the counters of a runner holds."""
    async with asyncio.timeout(DEADLINE):
        while not condition():
            await wait_for_pending_calls()


async def advance_until(clock: ManualClock, seconds: float, condition: Callable[[], bool], step: float = 0.25) -> None:
    """Advance the clock in small steps until a condition holds, by at most `seconds`.

    Every call to a store ends before the next step, so that a slow machine does not delay replies in clock time.
    """
    async with asyncio.timeout(DEADLINE):
        await wait_for_pending_calls()
        for _ in range(int(seconds / step)):
            if condition():
                return
            await clock.advance(step)
            await wait_for_pending_calls()
    await wait_until(condition)


async def stored_job(store: Store, subject: str, kind: str = "close_turn") -> Job | None:
    """The stored job, or None."""
    return await store.get(job("othello", kind, subject))


class RecordingHandler:
    """A handler that records its runs. While `gate` is closed, no run ends."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.done: list[str] = []
        self.started: list[tuple[str, float]] = []
        self.cancelled: list[str] = []
        self.concurrent = 0
        self.max_concurrent = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.results: dict[str, list[int | Exception | None]] = {}
        self._changed = asyncio.Event()

    async def wait_until_started(self, runs: int = 1) -> None:
        """Wait until a number of runs have started."""
        await self._wait_until(lambda: len(self.started) >= runs)

    async def wait_until_done(self, runs: int = 1) -> None:
        """Wait until a number of runs have ended without an error."""
        await self._wait_until(lambda: len(self.done) >= runs)

    async def wait_until_concurrent(self, runs: int) -> None:
        """Wait until a number of runs are active at once."""
        await self._wait_until(lambda: self.concurrent >= runs)

    async def _wait_until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def handle(self, job: Job) -> int | None:
        """Run a job with the next of its results: an error is raised, any other result is returned."""
        self.started.append((job.subject, self.clock.now()))
        self.concurrent += 1
        self.max_concurrent = max(self.max_concurrent, self.concurrent)
        self._changed.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.append(job.subject)
            raise
        finally:
            self.concurrent -= 1
        results = self.results.get(job.subject)
        result = results.pop(0) if results else None
        if isinstance(result, Exception):
            raise result
        self.done.append(job.subject)
        self._changed.set()
        return result


class Process:
    """A server process with a runner and a schedule of its own."""

    def __init__(
        self,
        store: Store,
        clock: ManualClock,
        name: str,
        handle: JobHandler | None = None,
        daily_jobs: Sequence[DailyJob] = (),
        stream_consumers: Sequence[StreamConsumer] = (),
        lease_ms: int = MINUTE,
    ) -> None:
        self.store, self.link = linked_store(store, clock)
        self.schedule = Schedule(self.store, clock)
        deadline_jobs = (
            []
            if handle is None
            else [DeadlineJob(system="othello", kind="close_turn", handle=handle, lease_ms=lease_ms)]
        )
        self.runner = JobRunner(
            store=self.store,
            clock=clock,
            random=Random(name),
            process=name,
            schedule=self.schedule,
            deadline_jobs=deadline_jobs,
            daily_jobs=daily_jobs,
            stream_consumers=stream_consumers,
        )
        self._clock = clock

    async def start(self) -> "Process":
        """Start to run jobs."""
        await self.runner.start()
        return self

    async def stop(self, seconds: float = 20) -> None:
        """Stop the runner while the clock advances."""
        stopping = asyncio.ensure_future(self.runner.stop())
        await advance_until(self._clock, seconds, stopping.done)
        await stopping
