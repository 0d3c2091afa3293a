"""The runner: does what is due, in as many processes as there are, each job in one of them."""

import asyncio
from collections.abc import Sequence
from random import Random

import structlog

from zataku.clock import Clock
from zataku.jobs.claims import Claims
from zataku.jobs.counters import Counts
from zataku.jobs.daily import Days
from zataku.jobs.definitions import DailyJob, DeadlineJob, StreamConsumer
from zataku.jobs.due_queue import Agenda
from zataku.jobs.run import Run
from zataku.jobs.schedule import JobId, Schedule
from zataku.jobs.stream_consumers import Following
from zataku.jobs.sweeper import Sweeping
from zataku.jobs.time_of_day import zone_of
from zataku.jobs.timeouts import wait_until_done, wait_until_set
from zataku.platform.design import DueJob, due_jobs
from zataku.platform.limits import JOB_SHARDS, SECOND, JobKind, Shard, System
from zataku.table import Millis, Store

log = structlog.stdlib.get_logger()

LOOKS_EVERY = 1 * SECOND
MOST_AT_ONCE = 8
LAST_RUNS = 8.0
"""How long running jobs may go on when the server stops, in seconds."""

# A look sees a little further than to the next one, so that no deadline falls between two looks.
_AHEAD = 2 * LOOKS_EVERY
_MOST_SEEN = 25
_LONGEST_PAUSE = 30 * SECOND
_BREAKING_OFF = 2.0


class JobRunner:
    """Does the jobs of all systems. `start` once, `stop` at the end; `counts` says how it goes."""

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
        self.counts = Counts()
        self._store = store
        self._clock = clock
        self._random = random
        self._claims = Claims(store, clock, process)
        self._days = Days(store, clock, schedule)
        self._sweeping = Sweeping(store, clock, random, self.counts)
        self._daily = tuple(daily_jobs)
        self._tasks = _by_kind([*deadline_jobs, *map(self._days.task, daily_jobs)])
        for each in daily_jobs:
            zone_of(each)
        self._following = Following(store, clock, random, process, stream_consumers, self.counts)
        self._agenda = Agenda()
        self._awake = asyncio.Event()
        self._runs: dict[JobId, asyncio.Task[None]] = {}
        self._unknown: set[tuple[System, JobKind]] = set()
        self._looking: asyncio.Task[None] | None = None
        self._stopping = False
        schedule.listen(self._hear)

    async def start(self) -> None:
        """Schedule what is done every day, catch up with what was missed, and go on until `stop`."""
        for each in self._daily:
            await self._days.begin(each)
        self._sweeping.start()
        self._following.start()
        self._looking = asyncio.create_task(self._look_on())

    async def stop(self) -> None:
        """Take no more. What runs may finish for a few seconds; then it is broken off, and due at once for others."""
        self._stopping = True
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        await self._sweeping.stop()
        await self._following.stop()
        await wait_until_done(list(self._runs.values()), self._clock, LAST_RUNS)
        left = list(self._runs.values())
        for run in left:
            run.cancel()
        await wait_until_done(left, self._clock, _BREAKING_OFF)

    # Finding what is due

    async def _look_on(self) -> None:
        looking_at, pause = 0, LOOKS_EVERY
        while True:
            self._awake.clear()
            now = self._claims.now()
            if now >= looking_at:
                try:
                    more = await self._look(now)
                    pause = LOOKS_EVERY
                except Exception as problem:
                    # Whatever it was, deadlines go on being met.
                    log.warning("jobs_not_seen", exc_info=problem)
                    more, pause = False, min(pause * 2, _LONGEST_PAUSE)
                looking_at = now + (LOOKS_EVERY // 10 if more else int(pause * self._random.uniform(0.8, 1.2)))
            self._begin_due()
            await wait_until_set(self._awake, self._clock, self._rest(looking_at) / SECOND)

    def _rest(self, looking_at: Millis) -> Millis:
        """How long there is nothing to do."""
        due = self._agenda.next() if len(self._runs) < MOST_AT_ONCE else None
        until = looking_at if due is None else min(due, looking_at)
        return max(until - self._claims.now(), 1)

    async def _look(self, now: Millis) -> bool:
        """Note what is due soon; True when there is more of it than was noted."""
        more = False
        for shard in range(JOB_SHARDS):
            more |= await self._look_at(shard, now)
        return more

    async def _look_at(self, shard: Shard, now: Millis) -> bool:
        seen, after = 0, None
        while True:
            page = await self._store.page(due_jobs(shard, now + _AHEAD), limit=_MOST_SEEN, after=after)
            for each in page.items:
                seen += self._note(each)
            # Jobs of kinds that nobody here does may lie in front of others for ever.
            after = page.cursor
            if after is None or seen >= _MOST_SEEN:
                return after is not None

    def _note(self, due: DueJob) -> bool:
        kind = due.system, due.kind
        if kind not in self._tasks:
            if kind not in self._unknown:
                self._unknown.add(kind)
                self.counts.unknown += 1
                log.warning("job_of_unknown_kind", system=due.system, kind=due.kind)
            return False
        id_ = (due.system, due.kind, due.subject)
        if id_ not in self._runs:
            self._agenda.note(id_, due.due_at)
        return True

    def _hear(self, when: Millis, id_: JobId) -> None:
        if id_[:2] in self._tasks and when <= self._claims.now() + _AHEAD:
            self._agenda.note(id_, when)
            self._awake.set()

    # Doing it

    def _begin_due(self) -> None:
        while len(self._runs) < MOST_AT_ONCE and (due := self._agenda.take(self._claims.now())) is not None:
            id_, when = due
            if id_ not in self._runs:
                self._runs[id_] = asyncio.create_task(self._do(id_, when))

    async def _do(self, id_: JobId, when: Millis) -> None:
        """Claim a job and carry it out."""
        task = self._tasks[id_[:2]]
        self.counts.running += 1
        try:
            claim = await self._claims.take(id_, task.lease_ms)
            if claim is None:
                return
            if self._stopping:
                await self._claims.give_back(claim)
                return
            self.counts.lag = max(self._claims.now() - when, 0) / SECOND
            await Run(self._claims, self._clock, self.counts, task, claim).carry_out()
        except Exception as problem:
            # Whatever it was, its run lapses, and then it is done again.
            log.warning("job_unsettled", system=id_[0], kind=id_[1], subject=id_[2], exc_info=problem)
        finally:
            self.counts.running -= 1
            del self._runs[id_]
            self._awake.set()


def _by_kind(tasks: Sequence[DeadlineJob]) -> dict[tuple[System, JobKind], DeadlineJob]:
    made: dict[tuple[System, JobKind], DeadlineJob] = {(task.system, task.kind): task for task in tasks}
    if len(made) != len(tasks):
        raise ValueError("Two tasks are of the same kind. Give each kind of job one task.")
    return made
