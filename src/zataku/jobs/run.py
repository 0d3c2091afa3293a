"""One run of a claimed job, from the claim to its end, and the counters of the background work of one process."""

import asyncio

import msgspec
import structlog

from zataku.clock import Clock
from zataku.jobs.claims import JobClaims
from zataku.jobs.definitions import DeadlineJob
from zataku.platform.design import Job
from zataku.platform.limits import MAX_JOB_ATTEMPTS, SECOND
from zataku.table import Millis, TableError

log = structlog.stdlib.get_logger()

# The share of the lease after which it is renewed, so that one failed renewal does not end the run.
_RENEWED_SHARE = 1 / 3
_RENEWAL_RETRY_SECONDS = 1.0


class JobCounters(msgspec.Struct, kw_only=True):
    """Counts since the start of this process. `lag` and `behind` are in seconds, as of the last measurement.

    - `runs`: runs that began; `running`: runs in progress.
    - `failures`: failed runs, failed batches of stream consumers, and jobs and changes passed over since they cannot be
      read; `deaths`: jobs given up after their last attempt.
    - `lost`: runs that another process took over.
    - `unknown`: kinds of jobs that no system here handles.
    - `swept`: expired items that were deleted.
    - `lag`: the time between due time and claim of the last job.
    - `behind`: the age of the oldest change in the last batch of each stream consumer here; 0 when there was none.
    """

    runs: int = 0
    running: int = 0
    failures: int = 0
    deaths: int = 0
    lost: int = 0
    unknown: int = 0
    swept: int = 0
    lag: float = 0.0
    behind: dict[str, float] = {}


class JobRun:
    """Runs a claimed job and renews its lease. The run is cancelled when another process takes the job."""

    def __init__(
        self, claims: JobClaims, clock: Clock, counters: JobCounters, definition: DeadlineJob, claim: Job
    ) -> None:
        self._claims = claims
        self._clock = clock
        self._counters = counters
        self._definition = definition
        self._claim = claim
        self._is_lost = False
        self._log = log.bind(system=claim.system, kind=claim.kind, subject=claim.subject)

    async def execute(self) -> None:
        """Run the handler and store the outcome. Cancelling this makes the job due again at once."""
        if self._claim.attempts > MAX_JOB_ATTEMPTS:
            await self._fail("Every process that ran this job stopped before the run was over.")
            return
        self._counters.runs += 1
        work = asyncio.create_task(self._handle())
        renewal = asyncio.create_task(self._renew(work))
        try:
            next_due_at = await work
        except asyncio.CancelledError:
            # The cancellation of this task was passed on to the handler, which has ended by now.
            if _is_cancelled():
                await self._claims.release(self._claim)
                raise
            if not self._is_lost:
                await self._fail("The job's handler was cancelled.")
            else:
                self._count_lost()
        except Exception as problem:  # noqa: BLE001 - every failure of a handler is stored, and the job is tried again
            self._log.warning("job_failed", attempts=self._claim.attempts, exc_info=problem)
            await self._fail(f"{type(problem).__name__}: {problem}")
        else:
            if not await self._claims.finish(self._claim, next_due_at):
                self._count_lost()
        finally:
            renewal.cancel()

    async def _handle(self) -> Millis | None:
        return await self._definition.handle(self._claim)

    async def _renew(self, work: "asyncio.Task[Millis | None]") -> None:
        """Renew the lease during the run; cancel the run when another process has the job, or may have it."""
        lease_ms = self._definition.lease_ms
        until = self._claim.due_at or 0
        pause = lease_ms * _RENEWED_SHARE / SECOND
        while True:
            await self._clock.sleep(pause)
            try:
                renewed = await self._claims.renew(self._claim, lease_ms)
            except TableError as problem:
                if self._claims.now() < until:
                    pause = min(_RENEWAL_RETRY_SECONDS, lease_ms * _RENEWED_SHARE / SECOND)
                    continue
                self._log.warning("job_not_renewed", problem=str(problem))
                renewed = None
            if renewed is None:
                self._is_lost = True
                work.cancel()
                return
            until, pause = renewed, lease_ms * _RENEWED_SHARE / SECOND

    async def _fail(self, problem: str) -> None:
        self._counters.failures += 1
        if await self._claims.fail(self._claim, problem):
            self._counters.deaths += 1
            self._log.error("job_dead", attempts=self._claim.attempts, problem=problem)

    def _count_lost(self) -> None:
        self._counters.lost += 1
        self._log.warning("job_lost")


def _is_cancelled() -> bool:
    """True when the current task is cancelled, rather than only the one it waits for."""
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0
