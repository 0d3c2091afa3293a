"""The job runner: finds due jobs and runs them, each in one of any number of processes."""

import asyncio
import heapq
from collections.abc import Sequence
from random import Random

import structlog

from zataku.clock import Clock, has_passed, wait_until_done, wait_until_set
from zataku.jobs.claims import JobClaims
from zataku.jobs.daily import DailyJobs, time_zone
from zataku.jobs.definitions import DailyJob, DeadlineJob, StreamConsumer
from zataku.jobs.run import JobCounters, JobRun
from zataku.jobs.schedule import JobId, Schedule
from zataku.jobs.stream_consumers import StreamConsumers
from zataku.jobs.sweeper import Sweeper
from zataku.platform.design import DueJob, due_jobs
from zataku.platform.limits import JOB_SHARDS, SECOND, JobKind, Shard, System
from zataku.table import Millis, Store, UnreadableItem

log = structlog.stdlib.get_logger()

POLL_INTERVAL_MS = 1 * SECOND
MAX_CONCURRENT_RUNS = 8
STOP_SECONDS = 8.0
"""How long running jobs may continue when the server stops."""

# A poll looks further ahead than to the next one, so that no deadline falls between two polls.
_LOOKAHEAD_MS = 2 * POLL_INTERVAL_MS
_PAGE_SIZE = 25
_MAX_POLL_INTERVAL_MS = 30 * SECOND
_CANCEL_SECONDS = 2.0


class JobRunner:
    """Runs the jobs of all systems. `start` once, `stop` at the end; `counters` counts what has happened."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        random: Random,
        process: str,
        schedule: Schedule,
        deadline_jobs: Sequence[DeadlineJob] = (),
        daily_jobs: Sequence[DailyJob] = (),
        stream_consumers: Sequence[StreamConsumer] = (),
    ) -> None:
        self.counters = JobCounters()
        self._store = store
        self._clock = clock
        self._random = random
        self._claims = JobClaims(store, clock, process)
        self._scheduler = DailyJobs(store, clock, schedule)
        self._sweeper = Sweeper(store, clock, random, self.counters)
        self._daily_jobs = tuple(daily_jobs)
        self._definitions = _by_kind([*deadline_jobs, *map(self._scheduler.as_deadline_job, daily_jobs)])
        for daily in daily_jobs:
            # An unknown time zone raises here, before anything has started.
            time_zone(daily)
        self._consumers = StreamConsumers(store, clock, random, process, stream_consumers, self.counters)
        self._due = DueQueue()
        self._wake_up = asyncio.Event()
        self._runs: dict[JobId, asyncio.Task[None]] = {}
        self._unknown_kinds: set[tuple[System, JobKind]] = set()
        self._unreadable: set[str] = set()
        self._polling: asyncio.Task[None] | None = None
        self._is_stopping = False
        schedule.add_listener(self._job_scheduled)

    async def start(self) -> None:
        """Schedule the daily jobs, catch up with missed deadlines, and run jobs until `stop`."""
        for daily in self._daily_jobs:
            await self._scheduler.schedule(daily)
        self._sweeper.start()
        self._consumers.start()
        self._polling = asyncio.create_task(self._poll())

    async def stop(self) -> None:
        """Claim no more jobs. Runs may finish for a few seconds; then they are cancelled and due at once elsewhere."""
        self._is_stopping = True
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.wait([self._polling])
        await self._sweeper.stop()
        await self._consumers.stop()
        await wait_until_done(list(self._runs.values()), self._clock, STOP_SECONDS)
        unfinished = list(self._runs.values())
        for run in unfinished:
            run.cancel()
        await wait_until_done(unfinished, self._clock, _CANCEL_SECONDS)

    # Finding due jobs

    async def _poll(self) -> None:
        polled_at, next_poll, interval = 0, 0, POLL_INTERVAL_MS
        while True:
            self._wake_up.clear()
            now = self._claims.now()
            if has_passed(polled_at, now, next_poll - polled_at):
                polled_at = now
                try:
                    has_more = await self._find_due(now)
                    interval = POLL_INTERVAL_MS
                except Exception as problem:
                    # Deadlines that are known already must be met, whatever failed here.
                    log.warning("due_jobs_not_read", exc_info=problem)
                    has_more, interval = False, min(interval * 2, _MAX_POLL_INTERVAL_MS)
                next_poll = now + (
                    POLL_INTERVAL_MS // 10 if has_more else int(interval * self._random.uniform(0.8, 1.2))
                )
            self._start_due()
            await wait_until_set(self._wake_up, self._clock, self._idle_time(next_poll) / SECOND)

    def _idle_time(self, next_poll: Millis) -> Millis:
        """The milliseconds until the next poll or deadline."""
        due = self._due.next_time() if len(self._runs) < MAX_CONCURRENT_RUNS else None
        until = next_poll if due is None else min(due, next_poll)
        return max(until - self._claims.now(), 1)

    async def _find_due(self, now: Millis) -> bool:
        """Queue the jobs that are due soon; True when there are more than were queued."""
        has_more = False
        for shard in range(JOB_SHARDS):
            has_more |= await self._find_due_in(shard, now)
        return has_more

    async def _find_due_in(self, shard: Shard, now: Millis) -> bool:
        queued, cursor = 0, None
        while True:
            due_soon = due_jobs(shard, now + _LOOKAHEAD_MS)
            page = await self._store.page(due_soon, limit=_PAGE_SIZE, after=cursor, unreadable=self._report_unreadable)
            for due in page.items:
                queued += self._enqueue(due)
            # Read on when the page held jobs of unknown kinds: they may stay in front of others for ever.
            cursor = page.cursor
            if cursor is None or queued >= _PAGE_SIZE:
                return cursor is not None

    def _report_unreadable(self, job: UnreadableItem) -> None:
        """Log a job that cannot be read, once. It must not hold up those behind it."""
        key = " ".join(map(str, job.key.values()))
        if key not in self._unreadable:
            self._unreadable.add(key)
            self.counters.failures += 1
            log.error("job_unreadable", key=key, problem=job.reason)

    def _enqueue(self, due: DueJob) -> bool:
        kind = due.system, due.kind
        if kind not in self._definitions:
            if kind not in self._unknown_kinds:
                self._unknown_kinds.add(kind)
                self.counters.unknown += 1
                log.warning("job_kind_unknown", system=due.system, kind=due.kind)
            return False
        job_id = (due.system, due.kind, due.subject)
        if job_id not in self._runs:
            self._due.put(job_id, due.due_at)
        return True

    def _job_scheduled(self, due_at: Millis, job_id: JobId) -> None:
        if job_id[:2] in self._definitions and due_at <= self._claims.now() + _LOOKAHEAD_MS:
            self._due.put(job_id, due_at)
            self._wake_up.set()

    # Running them

    def _start_due(self) -> None:
        while len(self._runs) < MAX_CONCURRENT_RUNS and (due := self._due.pop(self._claims.now())) is not None:
            job_id, due_at = due
            if job_id not in self._runs:
                self._runs[job_id] = asyncio.create_task(self._run(job_id, due_at))

    async def _run(self, job_id: JobId, due_at: Millis) -> None:
        """Claim a job and run it."""
        definition = self._definitions[job_id[:2]]
        self.counters.running += 1
        try:
            claim = await self._claims.claim(job_id, definition.lease_ms)
            if claim is None:
                return
            if self._is_stopping:
                await self._claims.release(claim)
                return
            self.counters.lag = max(self._claims.now() - due_at, 0) / SECOND
            await JobRun(self._claims, self._clock, self.counters, definition, claim).execute()
        except Exception as problem:
            # The claim lapses, and the job is run again.
            log.warning("job_outcome_unknown", system=job_id[0], kind=job_id[1], subject=job_id[2], exc_info=problem)
        finally:
            self.counters.running -= 1
            del self._runs[job_id]
            self._wake_up.set()


class DueQueue:
    """Jobs by due time, so that a deadline is met to the moment and not at the next poll.

    An entry may be out of date: the claim decides.
    """

    def __init__(self) -> None:
        self._times: dict[JobId, Millis] = {}
        # Entries that differ from `_times` are outdated, and skipped when they are due.
        self._heap: list[tuple[Millis, JobId]] = []

    def put(self, job_id: JobId, due_at: Millis) -> None:
        """Add a job, or replace its due time."""
        if self._times.get(job_id) != due_at:
            self._times[job_id] = due_at
            heapq.heappush(self._heap, (due_at, job_id))

    def pop(self, now: Millis) -> tuple[JobId, Millis] | None:
        """Remove and return the job that has been due longest, with its due time; None when no job is due."""
        first = self.next_time()
        if first is None or first > now:
            return None
        due_at, job_id = heapq.heappop(self._heap)
        del self._times[job_id]
        return job_id, due_at

    def next_time(self) -> Millis | None:
        """The due time of the next job."""
        while self._heap and self._times.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None


def _by_kind(definitions: Sequence[DeadlineJob]) -> dict[tuple[System, JobKind], DeadlineJob]:
    by_kind: dict[tuple[System, JobKind], DeadlineJob] = {(job.system, job.kind): job for job in definitions}
    if len(by_kind) != len(definitions):
        raise ValueError("Two job definitions are of the same kind. Define each kind of job once.")
    return by_kind
