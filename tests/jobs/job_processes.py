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
"""A test fails when a condition does not hold after so many real seconds."""


async def wait_until(met: Callable[[], bool]) -> None:
    """Wait until a condition on the counters of a runner holds."""
    async with asyncio.timeout(DEADLINE):
        while not met():
            await asyncio.sleep(0.001)


async def advance_until(clock: ManualClock, seconds: float, met: Callable[[], bool], step: float = 0.25) -> None:
    """Advance the clock in small steps until a condition holds, by so many of its seconds at most.

    Every call to a store ends before the next step, so that a slow machine delays no reply by the clock.
    """
    async with asyncio.timeout(DEADLINE):
        await _wait_for_calls()
        for _ in range(int(seconds / step)):
            if met():
                return
            await clock.advance(step)
            await _wait_for_calls()
    await wait_until(met)


async def _wait_for_calls() -> None:
    """Wait until no call to a store is under way."""
    quiet = 0
    while quiet < 10:
        await asyncio.sleep(0.0005 if Link.busy else 0)
        quiet = 0 if Link.busy else quiet + 1


async def stored_job(store: Store, subject: str, kind: str = "close_turn") -> Job | None:
    """A job as it is stored now."""
    return await store.get(job("othello", kind, subject))


class RecordingHandler:
    """A handler that records its runs. While `gate` is closed, no run ends."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.done: list[str] = []
        self.began: list[tuple[str, float]] = []
        self.cancelled: list[str] = []
        self.concurrent = 0
        self.max_concurrent = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.answers: dict[str, list[int | Exception | None]] = {}
        self._changed = asyncio.Event()

    async def wait_until_begun(self, runs: int = 1) -> None:
        """Wait until so many runs have begun."""
        await self._wait_until(lambda: len(self.began) >= runs)

    async def wait_until_done(self, runs: int = 1) -> None:
        """Wait until so many runs have ended without an error."""
        await self._wait_until(lambda: len(self.done) >= runs)

    async def wait_until_concurrent(self, runs: int) -> None:
        """Wait until so many runs are under way at once."""
        await self._wait_until(lambda: self.concurrent >= runs)

    async def _wait_until(self, met: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE):
            while not met():
                self._changed.clear()
                await self._changed.wait()

    async def handle(self, found: Job) -> int | None:
        """Run a job with the next of its answers: an error is raised, all else returned."""
        self.began.append((found.subject, self.clock.now()))
        self.concurrent += 1
        self.max_concurrent = max(self.max_concurrent, self.concurrent)
        self._changed.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled.append(found.subject)
            raise
        finally:
            self.concurrent -= 1
        answers = self.answers.get(found.subject)
        answer = answers.pop(0) if answers else None
        if isinstance(answer, Exception):
            raise answer
        self.done.append(found.subject)
        self._changed.set()
        return answer


class Link:
    """A connection to the store that can be cut: to the store, a process behind a cut link looks killed."""

    busy: ClassVar[int] = 0
    """The number of calls under way over all links, except those that wait for changes."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.cut = False

    def __getattr__(self, name: str) -> Any:
        if self.cut:
            raise StoreUnreachable("The link is cut.")
        found = getattr(self._backend, name)
        return found if name == "changes" or not callable(found) else partial(self._call, found)

    async def _call(self, call: Callable[..., Awaitable[Any]], *given: Any, **named: Any) -> Any:
        Link.busy += 1
        try:
            return await call(*given, **named)
        finally:
            Link.busy -= 1


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
        self.link = Link(store.backend)
        self.store = Store(cast("Backend", self.link), store.tables, secret=b"", clock=clock, retry=store.retry)
        self.schedule = Schedule(self.store, clock)
        tasks = (
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
            deadline_jobs=tasks,
            daily_jobs=daily_jobs,
            stream_consumers=stream_consumers,
        )
        self._clock = clock

    async def start(self) -> "Process":
        """Begin to run jobs."""
        await self.runner.start()
        return self

    async def stop(self, seconds: float = 20) -> None:
        """Stop the runner while the clock advances."""
        stopping = asyncio.ensure_future(self.runner.stop())
        await advance_until(self._clock, seconds, stopping.done)
        await stopping
