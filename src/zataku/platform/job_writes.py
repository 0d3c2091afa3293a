"""Writes about jobs: scheduling, claiming, finishing and failing, safe with any number of runners."""

from zataku.platform.design import Job, platform
from zataku.platform.errors import NotClaimed
from zataku.platform.limits import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    MOST_ATTEMPTS,
    ErrorText,
    JobKind,
    Owner,
    OwnerId,
    Payload,
    Subject,
    System,
)
from zataku.table import Budget, Condition, Key, Plan, delete, path, put, update
from zataku.table.forms import Millis

_RUNNING = Job(
    system="othello",
    kind="close_turn",
    subject="3f2a#7",
    scheduled_for=1,
    due_at=2,
    state="running",
    owner=OwnerId("web-1"),
    attempts=1,
)

due_at = path(Job, lambda it: it.due_at)
scheduled_for = path(Job, lambda it: it.scheduled_for)
state = path(Job, lambda it: it.state)
owner = path(Job, lambda it: it.owner)
attempts = path(Job, lambda it: it.attempts)
payload = path(Job, lambda it: it.payload)
last_error = path(Job, lambda it: it.last_error)
died_at = path(Job, lambda it: it.died_at)


@platform.write(budget=Budget(writes=2))
def schedule_job(system: System, kind: JobKind, subject: Subject, at: Millis, what: Payload = "") -> Plan[Job]:
    """Something is to be done at a time. Scheduling what is scheduled already is refused and changes nothing.

    Whether it waits, runs or is dead: there is one job of an id. `move_job` gives a waiting one another time, and
    `retry_job` a dead one another chance.
    """
    made = Job(system=system, kind=kind, subject=subject, scheduled_for=at, due_at=at, payload=what)
    return Plan(put(made, if_absent=True))


@platform.write(budget=Budget(writes=3))
def move_job(system: System, kind: JobKind, subject: Subject, at: Millis) -> Plan[Job]:
    """A waiting job is due at another time, sooner or later. Refused when somebody runs it, and when it is dead."""
    edits = scheduled_for.set(at), due_at.set(at)
    return Plan(update(_key(system, kind, subject), *edits, when=state.equals("waiting")))


@platform.write(budget=Budget(writes=2))
def cancel_job(system: System, kind: JobKind, subject: Subject) -> Plan[Job]:
    """A job is not needed any more. Refused while somebody runs it; cancelling what is not there is no error."""
    return Plan(delete(_key(system, kind, subject), when=state.not_equals("running")))


@platform.write(budget=Budget(writes=3), example={"now": 1, "until": 2})
def claim_job(system: System, kind: JobKind, subject: Subject, runner: Owner, now: Millis, until: Millis) -> Plan[Job]:
    """A runner takes a due job until a moment by which it will have finished or renewed. Of many runners one gets it.

    The due time moves to the end of the run: a job of a runner that died comes due again by itself. The job that this
    gives back is what the runner shows to renew, finish or fail it. A runner whose reply was lost reads the job: it is
    its own when it has its name and ends at `until`.
    """
    if until <= now:
        raise ValueError("A run ends after it begins.")
    edits = state.set("running"), owner.set(runner), due_at.set(until), attempts.add(1)
    return Plan(update(_key(system, kind, subject), *edits, when=due_at.at_most(now)))


@platform.write(budget=Budget(writes=3), example={"job": _RUNNING})
def renew_job(job: Job, until: Millis) -> Plan[Job]:
    """A runner needs longer. Refused when another has taken the job."""
    return Plan(update(_key_of(job), due_at.set(until), when=_mine(job)))


@platform.write(budget=Budget(writes=2), example={"job": _RUNNING})
def finish_job(job: Job) -> Plan[Job]:
    """A job is done and goes. Refused when the run has lapsed and another has taken it."""
    return Plan(delete(_key_of(job), when=_mine(job)))


@platform.write(budget=Budget(writes=3), example={"job": _RUNNING})
def reschedule_job(job: Job, at: Millis) -> Plan[Job]:
    """A job is done for this time and is due again, as a daily one. Refused when another has taken it."""
    edits = (
        state.set("waiting"),
        owner.remove(),
        scheduled_for.set(at),
        due_at.set(at),
        attempts.set(0),
        last_error.remove(),
    )
    return Plan(update(_key_of(job), *edits, when=_mine(job)))


@platform.write(budget=Budget(writes=3, of="one more try; as many for the last"), example={"job": _RUNNING})
def fail_job(job: Job, problem: ErrorText, now: Millis) -> Plan[Job]:
    """A run went wrong: the job is due again after a pause that doubles each time, and dead after the eighth attempt.

    A runner that claims a job with more than eight attempts fails it before running it: its runners have died of it.
    """
    condition = _mine(job)
    noted = owner.remove(), last_error.set(problem)
    if job.attempts >= MOST_ATTEMPTS:
        return Plan(update(_key_of(job), state.set("dead"), due_at.remove(), died_at.set(now), *noted, when=condition))
    again = now + pause_after(job.attempts)
    return Plan(update(_key_of(job), state.set("waiting"), due_at.set(again), *noted, when=condition))


@platform.write(budget=Budget(writes=3))
def retry_job(system: System, kind: JobKind, subject: Subject, now: Millis) -> Plan[Job]:
    """A dead job is given another eight attempts, the first of them now."""
    edits = state.set("waiting"), due_at.set(now), died_at.remove(), attempts.set(0)
    return Plan(update(_key(system, kind, subject), *edits, when=state.equals("dead")))


def pause_after(attempts: int) -> int:
    """How long a job waits after so many attempts, in milliseconds."""
    return min(FIRST_PAUSE * 2 ** max(attempts - 1, 0), LONGEST_PAUSE)


def _mine(job: Job) -> Condition[Job]:
    """Nobody has claimed the job since: two runs, also of one runner, never end at the same moment."""
    if job.owner is None or job.due_at is None:
        raise NotClaimed("Nobody runs this job. Claim it, and show what the claim gave back.")
    return state.equals("running") & owner.equals(job.owner) & due_at.equals(job.due_at)


def _key(system: System, kind: JobKind, subject: Subject) -> Key[Job]:
    return Job.key(system=system, kind=kind, subject=subject)


def _key_of(job: Job) -> Key[Job]:
    return _key(job.system, job.kind, job.subject)
