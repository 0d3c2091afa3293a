"""What an operator does to a single job, on the command line and on the admin page alike: retry and cancel."""

from uuid import uuid4

from zataku.clock import Clock, now_ms
from zataku.errors import CHANGED_SINCE, Conflict, NotFound
from zataku.jobs.schedule import JobId
from zataku.platform import writes
from zataku.platform.design import Job, job
from zataku.table import BadInput, Plan, Store, TransactionCancelled


class JobAdministration:
    """Retries and cancels jobs. A job that runs is never touched: it is refused with the code `job_running`."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def retry(self, job_id: JobId) -> None:
        """Make a dead job due now with a fresh set of attempts, or a waiting one due now instead of later."""
        stored = await self._idle_job(job_id)
        now = now_ms(self._clock)
        if stored.state == "dead":
            await self._write(writes.retry_job(*job_id, at=now))
        else:
            await self._write(writes.move_job(*job_id, at=now, now=now))

    async def cancel(self, job_id: JobId) -> None:
        """Delete a job. What it was scheduled for does not happen."""
        await self._idle_job(job_id)
        await self._write(writes.cancel_job(*job_id, now=now_ms(self._clock)))

    async def _idle_job(self, job_id: JobId) -> Job:
        try:
            stored = await self._store.get(job(*job_id))
        except BadInput:
            # An operator may type an id that is not a valid key.
            stored = None
        if stored is None:
            raise NotFound("There is no such job. It may be done by now.", code="no_such_job")
        if stored.is_running(now_ms(self._clock)):
            raise Conflict("It's running right now. Try again when it's done.", code="job_running")
        return stored

    async def _write(self, plan: Plan[Job]) -> None:
        try:
            # The token makes the write idempotent, so that the store repeats it after a lost reply.
            await self._store.write(plan, token=str(uuid4()))
        except TransactionCancelled as refused:
            if refused.conflict:
                raise
            raise Conflict(CHANGED_SINCE) from None
