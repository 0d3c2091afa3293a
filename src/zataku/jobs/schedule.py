"""Having something done at a time."""

from collections.abc import Callable
from typing import TypeAlias

from zataku.clock import Clock
from zataku.platform import writes
from zataku.platform.design import Job
from zataku.platform.limits import SECOND, JobKind, Payload, Subject, System
from zataku.table import ConditionFailed, Conflict, Millis, Plan, ResultUnknown, Store, TableError

JobId: TypeAlias = tuple[System, JobKind, Subject]
"""What a job is known by: whose it is, what it does, and to what."""

Hear: TypeAlias = Callable[[Millis, JobId], None]
"""Is told of a job that was scheduled here, and when it is due."""

# Each try meets the job in another state; whoever loses so often is in a crowd that settles the same deadline.
_TRIES = 20


class Schedule:
    """Deadlines of all systems, kept in the platform table. Any process may run them."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._listeners: list[Hear] = []

    def listen(self, hear: Hear) -> None:
        """Tell somebody in this process at once of what is scheduled in it, before the index shows it."""
        self._listeners.append(hear)

    async def at(self, when: Millis, system: System, kind: JobKind, subject: Subject, what: Payload = "") -> None:
        """Have it done at that time, whatever became of an earlier job of this id: waiting, running or dead.

        One that runs now is done once more afterwards; of several times asked for during a run the earliest counts. A
        job that is there keeps the payload it was made with: what changes lies in the items of the system.
        """
        id_ = (system, kind, subject)
        found: Job | None = None
        problem: TableError | None = None
        for _ in range(_TRIES):
            if found is not None and _will_do(found, when):
                break
            try:
                await self._store.write(self._asking(id_, when, what, found))
                break
            except ConditionFailed as refused:
                # None: the job was done or cancelled since it was seen. It is scheduled anew then.
                found, problem = _job(refused), refused
            except ResultUnknown as lost:
                # Whatever came of it, asking from the beginning ends in the same state.
                found, problem = None, lost
        else:
            raise Conflict("The job changes hands all the time. Nothing is certain; schedule it again.") from problem
        for hear in self._listeners:
            hear(when, id_)

    async def never(self, system: System, kind: JobKind, subject: Subject) -> None:
        """It is not needed any more. A run that goes on is not disturbed."""
        for tried in range(1, _TRIES + 1):
            try:
                await self._store.write(writes.cancel_job(system, kind, subject, self._now()))
                return
            except ConditionFailed:
                return
            except ResultUnknown:
                if tried == _TRIES:
                    raise

    def _asking(self, id_: JobId, when: Millis, what: Payload, found: Job | None) -> Plan[Job]:
        """The write that has a job done at a time, by the state in which it was found."""
        now = self._now()
        if found is None:
            return writes.schedule_job(*id_, at=when, now=now, what=what)
        if found.state == "dead":
            return writes.retry_job(*id_, at=when)
        if found.state == "running" and found.due_at is not None and found.due_at > now:
            return writes.repeat_job(*id_, at=when)
        return writes.move_job(*id_, at=when, now=now)

    def _now(self) -> Millis:
        return int(self._clock.now() * SECOND)


def _will_do(found: Job, when: Millis) -> bool:
    """True when the job as it is does what was asked for."""
    if found.state == "running":
        return found.again_at is not None and found.again_at <= when
    return found.state == "waiting" and found.due_at == when


def _job(refused: ConditionFailed) -> Job | None:
    return refused.current if isinstance(refused.current, Job) else None
