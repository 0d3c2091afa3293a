"""Writes about jobs: scheduling, claiming, finishing and failing, safe with any number of runners.

A budget speaks of a job of up to 1 KB. The largest has a payload of 1,000 characters and an error of 500, all of four
bytes: 6.5 KB.
"""

from zataku.platform.design import Job, platform
from zataku.platform.errors import NotClaimed
from zataku.platform.limits import (
    FIRST_RETRY_DELAY,
    MAX_JOB_ATTEMPTS,
    MAX_RETRY_DELAY,
    ErrorText,
    JobKind,
    Owner,
    OwnerId,
    Payload,
    Subject,
    System,
)
from zataku.table import Budget, Condition, Edit, Key, Millis, Plan, delete, path, put, update

_RUNNING = Job(
    system="othello",
    kind="close_turn",
    subject="3f2a#7",
    scheduled_for=1,
    due_at=2,
    state="running",
    owner=OwnerId("web-1"),
    attempts=1,
    run=1,
)

due_at = path(Job, lambda it: it.due_at)
scheduled_for = path(Job, lambda it: it.scheduled_for)
state = path(Job, lambda it: it.state)
owner = path(Job, lambda it: it.owner)
attempts = path(Job, lambda it: it.attempts)
run = path(Job, lambda it: it.run)
again_at = path(Job, lambda it: it.again_at)
last_error = path(Job, lambda it: it.last_error)
died_at = path(Job, lambda it: it.died_at)


@platform.write(budget=Budget(writes=2, of="a job of 1 KB; 6 with the largest payload"))
def schedule_job(
    system: System, kind: JobKind, subject: Subject, at: Millis, now: Millis, what: Payload = ""
) -> Plan[Job]:
    """Something is to be done at a time. Scheduling what is scheduled already is refused and changes nothing.

    There is one job of an id. The refusal shows it, and its state tells what to do instead: `move_job` gives a waiting
    one another time, `repeat_job` has a running one done once more, `retry_job` gives a dead one another chance. Daily
    tasks are scheduled at each start of a server, and retried when they are found dead.
    """
    made = Job(system=system, kind=kind, subject=subject, scheduled_for=at, due_at=at, run=now, payload=what)
    return Plan(put(made, if_absent=True))


@platform.write(budget=Budget(writes=3, of="a job of 1 KB; 9 for the largest"))
def move_job(system: System, kind: JobKind, subject: Subject, at: Millis, now: Millis) -> Plan[Job]:
    """A waiting job is due at another time, sooner or later. Refused while somebody runs it, and when it is dead.

    A job whose run has lapsed is waiting, too; its runner, should it still be there, has lost it.
    """
    edits = state.set("waiting"), owner.remove(), scheduled_for.set(at), due_at.set(at)
    return Plan(update(_key(system, kind, subject), *edits, when=state.equals("waiting") | due_at.at_most(now)))


@platform.write(budget=Budget(writes=1, of="a job of 1 KB; 7 for the largest"))
def repeat_job(system: System, kind: JobKind, subject: Subject, at: Millis) -> Plan[Job]:
    """A job that somebody runs is to be done once more: noted on it, and due when that run is finished.

    Of several times the earliest is kept. Refused when an earlier one is noted, which will do, and when nobody runs the
    job: schedule it then.
    """
    sooner = again_at.missing() | again_at.above(at)
    return Plan(update(_key(system, kind, subject), again_at.set(at), when=state.equals("running") & sooner))


@platform.write(budget=Budget(writes=2, of="a job of 1 KB; 8 for the largest"))
def cancel_job(system: System, kind: JobKind, subject: Subject, now: Millis) -> Plan[Job]:
    """A job is not needed any more. Refused while somebody runs it, until that run has lapsed.

    Cancelling what is not there is no error.
    """
    return Plan(delete(_key(system, kind, subject), when=state.not_equals("running") | due_at.at_most(now)))


@platform.write(budget=Budget(writes=3, of="a job of 1 KB; 9 for the largest"), example={"now": 1, "until": 2})
def claim_job(system: System, kind: JobKind, subject: Subject, runner: Owner, now: Millis, until: Millis) -> Plan[Job]:
    """A runner takes a due job until a moment by which it will have finished or renewed. Of many runners one gets it.

    The due time moves to the end of the run: a job of a runner that died comes due again by itself. The job that this
    gives back is what the runner shows to renew, finish or fail it; its number belongs to this run alone. A runner
    whose reply was lost reads the job: it is its own when it has its name and ends at `until`, since a process claims a
    job in one place at a time.
    """
    if until <= now:
        raise ValueError("A run ends after it begins.")
    edits = state.set("running"), owner.set(runner), due_at.set(until), attempts.add(1), run.add(1)
    return Plan(update(_key(system, kind, subject), *edits, when=due_at.at_most(now)))


@platform.write(
    budget=Budget(writes=3, of="a job of 1 KB; 9 for the largest"), example={"job": _RUNNING, "until": 3, "now": 2}
)
def renew_job(job: Job, until: Millis, now: Millis) -> Plan[Job]:
    """A runner needs longer, never shorter. Refused when another has taken the job."""
    if until <= now:
        raise ValueError("A run ends in the future.")
    return Plan(update(_key_of(job), due_at.set(until), when=_mine(job) & due_at.at_most(until)))


@platform.write(
    budget=Budget(writes=2, of="a job of 1 KB; 8 for the largest, and one more when it is due again"),
    example={"job": _RUNNING},
)
def finish_job(job: Job, asked: Millis | None = None) -> Plan[Job]:
    """A job is done and goes, or is due at the time for which it was asked again. Refused when another has taken it.

    Refused as well when it was asked for again since the claim. The refusal shows the job: while its `run` is the
    claim's, the runner finishes the claim with `asked` as it is found there.
    """
    asked = job.again_at if asked is None else asked
    if asked is None:
        return Plan(delete(_key_of(job), when=_mine(job) & again_at.missing()))
    return Plan(update(_key_of(job), *_due_anew(asked), when=_mine(job) & again_at.equals(asked)))


@platform.write(budget=Budget(writes=3, of="a job of 1 KB; 9 for the largest"), example={"job": _RUNNING})
def reschedule_job(job: Job, at: Millis, asked: Millis | None = None) -> Plan[Job]:
    """A job is done for this time and is due again, as a daily one, or sooner if it was asked for meanwhile.

    Refused when another has taken it, and when it was asked for again since the claim, as `finish_job` is.
    """
    asked = job.again_at if asked is None else asked
    if asked is None:
        return Plan(update(_key_of(job), *_due_anew(at), when=_mine(job) & again_at.missing()))
    return Plan(update(_key_of(job), *_due_anew(min(at, asked)), when=_mine(job) & again_at.equals(asked)))


@platform.write(
    budget=Budget(writes=3, of="a job of 1 KB; 9 for the largest, and 15 for its last try"), example={"job": _RUNNING}
)
def fail_job(job: Job, problem: ErrorText, now: Millis) -> Plan[Job]:
    """A run went wrong: the job is due again after a pause that doubles up to an hour, and dead after 40 attempts.

    A time for which it was asked again stays noted until a run is finished. A runner that claims a job with more than
    40 attempts fails it before running it: its runners have died of it.
    """
    condition = _mine(job)
    noted = owner.remove(), last_error.set(problem)
    if job.attempts >= MAX_JOB_ATTEMPTS:
        return Plan(update(_key_of(job), state.set("dead"), due_at.remove(), died_at.set(now), *noted, when=condition))
    again = now + pause_after(job.attempts)
    return Plan(update(_key_of(job), state.set("waiting"), due_at.set(again), *noted, when=condition))


@platform.write(budget=Budget(writes=3, of="a job of 1 KB; 15 for the largest"))
def retry_job(system: System, kind: JobKind, subject: Subject, at: Millis) -> Plan[Job]:
    """A dead job is given another 40 attempts, the first of them at a time. Refused for every other job."""
    edits = state.set("waiting"), due_at.set(at), died_at.remove(), attempts.set(0)
    return Plan(update(_key(system, kind, subject), *edits, when=state.equals("dead")))


def pause_after(attempts: int) -> int:
    """How long a job waits after so many attempts, in milliseconds."""
    return min(FIRST_RETRY_DELAY * 2 ** max(attempts - 1, 0), MAX_RETRY_DELAY)


def _due_anew(at: Millis) -> tuple[Edit[Job], ...]:
    """The job waits for its next time with a clean slate, but for the number of its runs."""
    return (
        state.set("waiting"),
        owner.remove(),
        scheduled_for.set(at),
        due_at.set(at),
        attempts.set(0),
        again_at.remove(),
        last_error.remove(),
    )


def _mine(job: Job) -> Condition[Job]:
    """The run goes on, and is this one: whatever ends a run takes the owner away, and no other run has its number."""
    if job.owner is None:
        raise NotClaimed("Nobody runs this job. Claim it, and show what the claim gave back.")
    return owner.equals(job.owner) & run.equals(job.run)


def _key(system: System, kind: JobKind, subject: Subject) -> Key[Job]:
    return Job.key(system=system, kind=kind, subject=subject)


def _key_of(job: Job) -> Key[Job]:
    return _key(job.system, job.kind, job.subject)
