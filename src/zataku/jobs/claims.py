"""Taking a job, keeping it and letting it go, also when replies are lost on the way."""

from zataku.clock import Clock
from zataku.jobs.schedule import JobId
from zataku.platform import writes
from zataku.platform.design import Job
from zataku.platform.design import job as one_job
from zataku.platform.limits import MAX_JOB_ATTEMPTS, SECOND, ErrorText, OwnerId
from zataku.table import ConditionFailed, Millis, Plan, ResultUnknown, Store

_LONGEST_ERROR = 500
_TRIES = 20


class Claims:
    """What this process says of the jobs that it runs."""

    def __init__(self, store: Store, clock: Clock, process: str) -> None:
        self._store = store
        self._clock = clock
        self._owner = OwnerId(process)

    def now(self) -> Millis:
        """The moment, as jobs note it."""
        return int(self._clock.now() * SECOND)

    async def take(self, id_: JobId, lease_ms: Millis) -> Job | None:
        """The job for a run of this process; None when it is not due, or another has it."""
        now = self.now()
        until = now + lease_ms
        try:
            return await self._store.write(writes.claim_job(*id_, runner=self._owner, now=now, until=until))
        except ConditionFailed:
            return None
        except ResultUnknown:
            found = await self._store.get(one_job(*id_))
            return found if found is not None and found.owner == self._owner and found.due_at == until else None

    async def renew(self, claim: Job, lease_ms: Millis) -> Millis | None:
        """Until when the run may go on now; None when another has the job."""
        now = self.now()
        until = now + lease_ms
        try:
            await self._store.write(writes.renew_job(claim, until, now))
        except ConditionFailed:
            return None
        except ResultUnknown:
            found = await self._store.get(one_job(*id_of(claim)))
            if found is None or not self._same_run(found, claim):
                return None
            return found.due_at
        return until

    async def finish(self, claim: Job, again: Millis | None) -> bool:
        """The job is done, or done for this time. False when another had it already."""

        def ending(asked: Millis | None) -> Plan[Job]:
            if again is None:
                return writes.finish_job(claim, asked)
            return writes.reschedule_job(claim, again, asked)

        asked, unsure = claim.again_at, False
        for _ in range(_TRIES):
            try:
                await self._store.write(ending(asked))
            except ConditionFailed as refused:
                found = refused.current
                if not isinstance(found, Job) or not self._same_run(found, claim):
                    # After a lost reply this is the trace of our own write, as far as anybody can tell.
                    return unsure
                asked = found.again_at
            except ResultUnknown:
                unsure = True
            else:
                return True
        return unsure

    async def fail(self, claim: Job, problem: str) -> bool:
        """The run went wrong. True when the job is dead of it."""
        said: ErrorText = problem[-_LONGEST_ERROR:]
        unsure = False
        for _ in range(_TRIES):
            try:
                await self._store.write(writes.fail_job(claim, said, self.now()))
            except ConditionFailed:
                return unsure and claim.attempts >= MAX_JOB_ATTEMPTS
            except ResultUnknown:
                unsure = True
            else:
                break
        return claim.attempts >= MAX_JOB_ATTEMPTS

    async def give_back(self, claim: Job) -> bool:
        """The run is broken off, and whoever comes next may do it at once."""
        return await self.finish(claim, claim.scheduled_for)

    def _same_run(self, found: Job, claim: Job) -> bool:
        return found.owner == self._owner and found.run == claim.run


def id_of(job: Job) -> JobId:
    """What a job is known by."""
    return job.system, job.kind, job.subject
