"""Server processes that run jobs, a handler that records its runs, and waits for both."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from random import Random
from typing import Any, ClassVar, cast

from tests.support.stores import START
from zataku.clock import ManualClock
from zataku.jobs.definitions import DailyJob, DeadlineJob, JobHandler, StreamConsumer
from zataku.jobs.runner import JobRunner
from zataku.jobs.schedule import Schedule
from zataku.platform.design import Job, job
from zataku.platform.limits import MINUTE
from zataku.table import Backend, Store, StoreUnreachable

NOW = int(START) * 1000
DEADLINE = 20.0
"""Real seconds after which a condition that does not hold fails the test."""


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition on the counters of a runner holds."""
    async with asyncio.timeout(DEADLINE):
        while not condition():
            await asyncio.sleep(0.001)


async def advance_until(clock: ManualClock, seconds: float, condition: Callable[[], bool], step: float = 0.25) -> None:
    """Advance the clock in small steps until a condition holds, by at most `seconds`.

    Every call to a store ends before the next step, so that a slow machine does not delay replies in clock time.
    """
    async with asyncio.timeout(DEADLINE):
        await _wait_for_calls()
        for _ in range(int(seconds / step)):
            if condition():
                return
            await clock.advance(step)
            await _wait_for_calls()
    await wait_until(condition)


async def _wait_for_calls() -> None:
    """Wait until no call to a store is pending."""
    quiet = 0
    while quiet < 10:
        await asyncio.sleep(0.0005 if StoreLink.pending_calls else 0)
        quiet = 0 if StoreLink.pending_calls else quiet + 1


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


class StoreLink:
    """A connection to the store that can be cut: to the store, a process behind a cut link looks killed."""

    pending_calls: ClassVar[int] = 0
    """The number of pending calls over all links, except those that wait for changes."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.cut = False

    def __getattr__(self, name: str) -> Any:
        if self.cut:
            raise StoreUnreachable("The link is cut.")
        attribute = getattr(self._backend, name)
        return attribute if name == "changes" or not callable(attribute) else partial(self._call, attribute)

    async def _call(self, call: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any) -> Any:
        StoreLink.pending_calls += 1
        try:
            return await call(*arguments, **options)
        finally:
            StoreLink.pending_calls -= 1


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
        self.link = StoreLink(store.backend)
        self.store = Store(cast("Backend", self.link), store.tables, secret=b"", clock=clock, retry=store.retry)
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
