"""The schedule: makes jobs due at a time, and cancels them."""

from collections.abc import Callable
from typing import TypeAlias

from zataku.clock import Clock, now_ms
from zataku.platform import writes
from zataku.platform.design import Job
from zataku.platform.limits import JobKind, Payload, Subject, System
from zataku.table import ConditionFailed, Conflict, Millis, Plan, ResultUnknown, Store, TableError

JobId: TypeAlias = tuple[System, JobKind, Subject]
"""The identity of a job: its system, its kind, and what it is about."""

ScheduleListener: TypeAlias = Callable[[Millis, JobId], None]
"""Called with the due time and id of every job that this process schedules."""

# Each attempt finds the job in another state: so many lost races mean that many callers settle the same deadline.
_MAX_WRITE_ATTEMPTS = 20


class Schedule:
    """The deadlines of all systems in the platform table. Any process may run them."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._listeners: list[ScheduleListener] = []

    def add_listener(self, listener: ScheduleListener) -> None:
        """Call the listener for every job scheduled here, before the index of due jobs shows it."""
        self._listeners.append(listener)

    async def add(self, due_at: Millis, system: System, kind: JobKind, subject: Subject, payload: Payload = "") -> None:
        """Make the job run at that time, whatever state an earlier job of this id is in: waiting, running or dead.

        A running job runs once more afterwards; of several times requested during a run the earliest counts. An
        existing job keeps its payload: what changes belongs into the items of the system.
        """
        job_id = (system, kind, subject)
        current: Job | None = None
        problem: TableError | None = None
        for _ in range(_MAX_WRITE_ATTEMPTS):
            if current is not None and _is_settled(current, due_at):
                break
            try:
                await self._store.write(self._plan(job_id, due_at, payload, current))
                break
            except ConditionFailed as refused:
                # None: the job was done or cancelled since it was read, so that it is scheduled as a new one.
                current, problem = _current_job(refused), refused
            except ResultUnknown as lost:
                # Starting over ends in the same state, whether or not this write was stored.
                current, problem = None, lost
        else:
            raise Conflict(
                "Other callers keep changing the job, so it may not be scheduled. Schedule it again."
            ) from problem
        for listener in self._listeners:
            listener(due_at, job_id)

    async def cancel(self, system: System, kind: JobKind, subject: Subject) -> None:
        """Remove a job that is not needed any more. A run in progress is not disturbed."""
        for attempt in range(1, _MAX_WRITE_ATTEMPTS + 1):
            try:
                await self._store.write(writes.cancel_job(system, kind, subject, now_ms(self._clock)))
                return
            except ConditionFailed:
                return
            except ResultUnknown:
                if attempt == _MAX_WRITE_ATTEMPTS:
                    raise

    def _plan(self, job_id: JobId, due_at: Millis, payload: Payload, current: Job | None) -> Plan[Job]:
        """The write that makes the job due at that time, given the current one."""
        now = now_ms(self._clock)
        if current is None:
            return writes.schedule_job(*job_id, at=due_at, now=now, payload=payload)
        if current.state == "dead":
            return writes.retry_job(*job_id, at=due_at)
        if current.is_running(now):
            return writes.repeat_job(*job_id, at=due_at)
        return writes.move_job(*job_id, at=due_at, now=now)


def _is_settled(current: Job, due_at: Millis) -> bool:
    """True when the job as it is runs at the requested time."""
    if current.state == "running":
        return current.again_at is not None and current.again_at <= due_at
    return current.state == "waiting" and current.due_at == due_at


def _current_job(refused: ConditionFailed) -> Job | None:
    return refused.current if isinstance(refused.current, Job) else None
