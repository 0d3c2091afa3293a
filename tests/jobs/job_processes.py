"""Processes that run jobs, work that notes what it does, and waiting for what others do."""

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
"""How long a test waits, in real seconds, for what must happen."""


async def wait_until(met: Callable[[], bool]) -> None:
    """Wait until it is so, while others work."""
    async with asyncio.timeout(DEADLINE):
        while not met():
            await asyncio.sleep(0.001)


async def advance_until(clock: ManualClock, seconds: float, met: Callable[[], bool], step: float = 0.25) -> None:
    """Let time go by in small steps until it is so, but no more than so many seconds of it.

    Nothing is asked of a store for a moment of which the clock has not heard the answer: between two steps everybody
    has come to rest.
    """
    async with asyncio.timeout(DEADLINE):
        await _rest()
        for _ in range(int(seconds / step)):
            if met():
                return
            await clock.advance(step)
            await _rest()
    await wait_until(met)


async def _rest() -> None:
    """Wait until nobody waits for a store."""
    quiet = 0
    while quiet < 10:
        await asyncio.sleep(0.0005 if Link.busy else 0)
        quiet = 0 if Link.busy else quiet + 1


async def stored_job(store: Store, subject: str, kind: str = "close_turn") -> Job | None:
    """A job of the tests, as it is now."""
    return await store.get(job("othello", kind, subject))


class RecordingHandler:
    """Work that notes what it is given. While `gate` is closed it does not come to an end."""

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

    async def handle(self, found: Job) -> int | None:
        """Do the job as the test wants it."""
        self.began.append((found.subject, self.clock.now()))
        self.concurrent += 1
        self.max_concurrent = max(self.max_concurrent, self.concurrent)
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
        return answer


class Link:
    """The way to the store, which can be cut: for the store, a process behind a cut link is as dead as a killed one."""

    busy: ClassVar[int] = 0
    """How many calls are under way through all wires, but for those that wait for changes."""

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
    """One of the server processes, with a runner and a schedule of its own."""

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
        """The process begins to run jobs."""
        await self.runner.start()
        return self

    async def stop(self, seconds: float = 20) -> None:
        """Stop it gently, while time goes by."""
        stopping = asyncio.ensure_future(self.runner.stop())
        await advance_until(self._clock, seconds, stopping.done)
        await stopping
