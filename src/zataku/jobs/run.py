"""One run of a job, from the claim to its end."""

import asyncio

import structlog

from zataku.clock import Clock
from zataku.jobs.claims import Claims
from zataku.jobs.counters import Counts
from zataku.jobs.definitions import DeadlineJob
from zataku.platform.design import Job
from zataku.platform.limits import MAX_JOB_ATTEMPTS, SECOND
from zataku.table import Millis, TableError

log = structlog.stdlib.get_logger()

# A run is renewed when this part of its time is over, so that one failed try is not the last.
_RENEWED_AFTER = 1 / 3
_PAUSE = 1.0


class Run:
    """A claimed job being done. It is renewed while it goes on, and broken off when another process has taken it."""

    def __init__(self, claims: Claims, clock: Clock, counts: Counts, task: DeadlineJob, claim: Job) -> None:
        self._claims = claims
        self._clock = clock
        self._counts = counts
        self._task = task
        self._claim = claim
        self._lost = False
        self._log = log.bind(system=claim.system, kind=claim.kind, subject=claim.subject)

    async def carry_out(self) -> None:
        """Do it and say how it ended. Cancelling breaks the run off and makes the job due again at once."""
        if self._claim.attempts > MAX_JOB_ATTEMPTS:
            await self._failed("Its runners did not live to finish it.")
            return
        self._counts.runs += 1
        work = asyncio.create_task(self._work())
        renewing = asyncio.create_task(self._keep(work))
        try:
            again = await work
        except asyncio.CancelledError:
            # Waiting passes a cancellation on to the work, which has ended by now.
            if _asked_to_stop():
                await self._claims.give_back(self._claim)
                raise
            if not self._lost:
                await self._failed("Its work was cancelled.")
            else:
                self._lose()
        except Exception as problem:  # noqa: BLE001 - whatever goes wrong in a job is noted on it, and it is tried again
            self._log.warning("job_failed", attempts=self._claim.attempts, exc_info=problem)
            await self._failed(f"{type(problem).__name__}: {problem}")
        else:
            if not await self._claims.finish(self._claim, again):
                self._lose()
        finally:
            renewing.cancel()

    async def _work(self) -> Millis | None:
        return await self._task.handle(self._claim)

    async def _keep(self, work: "asyncio.Task[Millis | None]") -> None:
        """Renew the run as long as it goes on; break it off when it is another's, or may be."""
        lease_ms = self._task.lease_ms
        until = self._claim.due_at or 0
        pause = lease_ms * _RENEWED_AFTER / SECOND
        while True:
            await self._clock.sleep(pause)
            try:
                renewed = await self._claims.renew(self._claim, lease_ms)
            except TableError as problem:
                if self._claims.now() < until:
                    pause = min(_PAUSE, lease_ms * _RENEWED_AFTER / SECOND)
                    continue
                self._log.warning("job_not_renewed", problem=str(problem))
                renewed = None
            if renewed is None:
                self._lost = True
                work.cancel()
                return
            until, pause = renewed, lease_ms * _RENEWED_AFTER / SECOND

    async def _failed(self, problem: str) -> None:
        self._counts.failures += 1
        if await self._claims.fail(self._claim, problem):
            self._counts.deaths += 1
            self._log.error("job_dead", attempts=self._claim.attempts, problem=problem)

    def _lose(self) -> None:
        self._counts.lost += 1
        self._log.warning("job_lost")


def _asked_to_stop() -> bool:
    """True when this very run is broken off, and not only what it waited for."""
    running = asyncio.current_task()
    return running is not None and running.cancelling() > 0
