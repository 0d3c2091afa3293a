"""Claims: how a process takes a job, renews its run and ends it, also when replies of the store are lost."""

from zataku.clock import Clock, now_ms
from zataku.jobs.schedule import JobId
from zataku.platform import writes
from zataku.platform.design import Job
from zataku.platform.design import job as job_item
from zataku.platform.limits import MAX_JOB_ATTEMPTS, ErrorText, OwnerId
from zataku.table import ConditionFailed, Millis, Plan, ResultUnknown, Store

_MAX_ERROR_LENGTH = 500
_MAX_WRITE_ATTEMPTS = 20


class JobClaims:
    """The claims of one process on jobs."""

    def __init__(self, store: Store, clock: Clock, process: str) -> None:
        self._store = store
        self._clock = clock
        self._owner = OwnerId(process)

    def now(self) -> Millis:
        """The time in milliseconds, as jobs store it."""
        return now_ms(self._clock)

    async def claim(self, job_id: JobId, lease_ms: Millis) -> Job | None:
        """The job, claimed for a run of this process; None when it is not due or another process has it."""
        now = self.now()
        until = now + lease_ms
        try:
            return await self._store.write(writes.claim_job(*job_id, runner=self._owner, now=now, until=until))
        except ConditionFailed:
            return None
        except ResultUnknown:
            stored = await self._store.get(job_item(*job_id))
            return stored if stored is not None and stored.owner == self._owner and stored.due_at == until else None

    async def renew(self, claim: Job, lease_ms: Millis) -> Millis | None:
        """The new end of the run's lease; None when another process has the job."""
        now = self.now()
        until = now + lease_ms
        try:
            await self._store.write(writes.renew_job(claim, until, now))
        except ConditionFailed:
            return None
        except ResultUnknown:
            stored = await self._store.get(job_item(claim.system, claim.kind, claim.subject))
            return stored.due_at if stored is not None and self._is_same_run(stored, claim) else None
        return until

    async def finish(self, claim: Job, next_due_at: Millis | None) -> bool:
        """End the run: delete the job, or make it due again. False when another process has taken it."""

        def ending(again_at: Millis | None) -> Plan[Job]:
            if next_due_at is None:
                return writes.finish_job(claim, again_at)
            return writes.reschedule_job(claim, next_due_at, again_at)

        again_at, is_uncertain = claim.again_at, False
        for _ in range(_MAX_WRITE_ATTEMPTS):
            try:
                await self._store.write(ending(again_at))
            except ConditionFailed as refused:
                current = refused.current
                if not isinstance(current, Job) or not self._is_same_run(current, claim):
                    # After a lost reply the likely reason is that this write was stored.
                    return is_uncertain
                again_at = current.again_at
            except ResultUnknown:
                is_uncertain = True
            else:
                return True
        return is_uncertain

    async def fail(self, claim: Job, problem: str) -> bool:
        """Record a failed run. True when it was the job's last attempt, so that the job is dead."""
        error: ErrorText = problem[-_MAX_ERROR_LENGTH:]
        is_uncertain = False
        for _ in range(_MAX_WRITE_ATTEMPTS):
            try:
                await self._store.write(writes.fail_job(claim, error, self.now()))
            except ConditionFailed:
                return is_uncertain and claim.attempts >= MAX_JOB_ATTEMPTS
            except ResultUnknown:
                is_uncertain = True
            else:
                break
        return claim.attempts >= MAX_JOB_ATTEMPTS

    async def release(self, claim: Job) -> bool:
        """Abandon the run and make the job due at once for any process."""
        return await self.finish(claim, claim.scheduled_for)

    def _is_same_run(self, stored: Job, claim: Job) -> bool:
        return stored.owner == self._owner and stored.run == claim.run
