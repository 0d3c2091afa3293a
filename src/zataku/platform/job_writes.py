"""Writes of jobs: schedule, claim, finish and fail, safe with any number of runners.

Budgets are for a job of up to 1 KB. The largest has a payload of 1,000 characters and an error of 500, all of four
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
    system: System, kind: JobKind, subject: Subject, at: Millis, now: Millis, payload: Payload = ""
) -> Plan[Job]:
    """Schedule a job. Refused, without a change, when a job of this id exists.

    The refusal carries that job, and its state decides what to do instead: `move_job` gives a waiting one another time,
    `repeat_job` makes a running one due again, `retry_job` gives a dead one new attempts. Daily jobs are scheduled at
    each start of a server, and retried when they are dead.
    """
    job = Job(system=system, kind=kind, subject=subject, scheduled_for=at, due_at=at, run=now, payload=payload)
    return Plan(put(job, if_absent=True))


@platform.write(budget=Budget(writes=3, of="a job of 1 KB; 9 for the largest"))
def move_job(system: System, kind: JobKind, subject: Subject, at: Millis, now: Millis) -> Plan[Job]:
    """Move a waiting job to another time, sooner or later. Refused while it runs, and when it is dead.

    A job whose run has lapsed is waiting, too; its runner, if it still runs, has lost it.
    """
    edits = state.set("waiting"), owner.remove(), scheduled_for.set(at), due_at.set(at)
    return Plan(update(_key(system, kind, subject), *edits, when=state.equals("waiting") | due_at.at_most(now)))


@platform.write(budget=Budget(writes=1, of="a job of 1 KB; 7 for the largest"))
def repeat_job(system: System, kind: JobKind, subject: Subject, at: Millis) -> Plan[Job]:
    """Make a running job due once more: the time is stored on it, and counts when the run is finished.

    Of several times the earliest is stored. Refused when an earlier one is stored, and when the job does not run:
    schedule it then.
    """
    sooner = again_at.missing() | again_at.above(at)
    return Plan(update(_key(system, kind, subject), again_at.set(at), when=state.equals("running") & sooner))


@platform.write(budget=Budget(writes=2, of="a job of 1 KB; 8 for the largest"))
def cancel_job(system: System, kind: JobKind, subject: Subject, now: Millis) -> Plan[Job]:
    """Delete a job that is not needed any more. Refused while it runs, until that run has lapsed.

    Cancelling a job that does not exist is not an error.
    """
    return Plan(delete(_key(system, kind, subject), when=state.not_equals("running") | due_at.at_most(now)))


@platform.write(budget=Budget(writes=3, of="a job of 1 KB; 9 for the largest"), example={"now": 1, "until": 2})
def claim_job(system: System, kind: JobKind, subject: Subject, runner: Owner, now: Millis, until: Millis) -> Plan[Job]:
    """A runner claims a due job until a time by which it finishes or renews it. Of many runners one gets it.

    The due time moves to the end of the run: the job of a runner that died becomes due again by itself. The job that
    this returns is the claim, needed to renew, finish or fail it; its number belongs to this run alone. A runner whose
    reply was lost reads the job: the claim is its own when it has its name and ends at `until`, since a process claims
    a job in one place at a time.
    """
    if until <= now:
        raise ValueError("A run ends after it begins.")
    edits = state.set("running"), owner.set(runner), due_at.set(until), attempts.add(1), run.add(1)
    return Plan(update(_key(system, kind, subject), *edits, when=due_at.at_most(now)))


@platform.write(
    budget=Budget(writes=3, of="a job of 1 KB; 9 for the largest"), example={"job": _RUNNING, "until": 3, "now": 2}
)
def renew_job(job: Job, until: Millis, now: Millis) -> Plan[Job]:
    """A runner extends its run, and never shortens it. Refused when another runner has claimed the job."""
    if until <= now:
        raise ValueError("A run ends in the future.")
    return Plan(update(_key_of(job), due_at.set(until), when=_is_claimed(job) & due_at.at_most(until)))


@platform.write(
    budget=Budget(writes=2, of="a job of 1 KB; 8 for the largest, and one more when it is due again"),
    example={"job": _RUNNING},
)
def finish_job(job: Job, requested: Millis | None = None) -> Plan[Job]:
    """Delete a job that is done, or make it due at the time requested during the run. Refused when another claimed it.

    Also refused when a time was requested since the claim. The refusal carries the job: while its `run` is the claim's,
    the runner finishes the claim with its `again_at` as `requested`.
    """
    requested = job.again_at if requested is None else requested
    if requested is None:
        return Plan(delete(_key_of(job), when=_is_claimed(job) & again_at.missing()))
    return Plan(update(_key_of(job), *_due_again(requested), when=_is_claimed(job) & again_at.equals(requested)))


@platform.write(budget=Budget(writes=3, of="a job of 1 KB; 9 for the largest"), example={"job": _RUNNING})
def reschedule_job(job: Job, at: Millis, requested: Millis | None = None) -> Plan[Job]:
    """Finish a run of a job that is due again, as a daily one, or sooner if that was requested during the run.

    Refused when another runner claimed it, and when a time was requested since the claim, as `finish_job` is.
    """
    requested = job.again_at if requested is None else requested
    if requested is None:
        return Plan(update(_key_of(job), *_due_again(at), when=_is_claimed(job) & again_at.missing()))
    edits = _due_again(min(at, requested))
    return Plan(update(_key_of(job), *edits, when=_is_claimed(job) & again_at.equals(requested)))


@platform.write(
    budget=Budget(writes=3, of="a job of 1 KB; 9 for the largest, and 15 for its last try"), example={"job": _RUNNING}
)
def fail_job(job: Job, problem: ErrorText, now: Millis) -> Plan[Job]:
    """Record a failed run: the job is due again after a delay that doubles up to an hour, and dead after 40 attempts.

    A time requested during the run stays stored until a run is finished. A runner that claims a job with more than 40
    attempts fails it without running it: the runs before have killed their processes.
    """
    condition = _is_claimed(job)
    failure = owner.remove(), last_error.set(problem)
    if job.attempts >= MAX_JOB_ATTEMPTS:
        return Plan(
            update(_key_of(job), state.set("dead"), due_at.remove(), died_at.set(now), *failure, when=condition)
        )
    next_attempt = now + retry_delay(job.attempts)
    return Plan(update(_key_of(job), state.set("waiting"), due_at.set(next_attempt), *failure, when=condition))


@platform.write(budget=Budget(writes=3, of="a job of 1 KB; 15 for the largest"))
def retry_job(system: System, kind: JobKind, subject: Subject, at: Millis) -> Plan[Job]:
    """Give a dead job another 40 attempts, the first at a given time. Refused for every other job."""
    edits = state.set("waiting"), due_at.set(at), died_at.remove(), attempts.set(0)
    return Plan(update(_key(system, kind, subject), *edits, when=state.equals("dead")))


def retry_delay(attempts: int) -> int:
    """The milliseconds until the next attempt after so many failed ones."""
    return min(FIRST_RETRY_DELAY * 2 ** max(attempts - 1, 0), MAX_RETRY_DELAY)


def _due_again(at: Millis) -> tuple[Edit[Job], ...]:
    """The edits that make a job wait for its next time with everything reset but the run number."""
    return (
        state.set("waiting"),
        owner.remove(),
        scheduled_for.set(at),
        due_at.set(at),
        attempts.set(0),
        again_at.remove(),
        last_error.remove(),
    )


def _is_claimed(job: Job) -> Condition[Job]:
    """The condition that this run has not ended: its end removes the owner, and no other run has its number."""
    if job.owner is None:
        raise NotClaimed("This job has no owner. Claim it, and pass what the claim returned.")
    return owner.equals(job.owner) & run.equals(job.run)


def _key(system: System, kind: JobKind, subject: Subject) -> Key[Job]:
    return Job.key(system=system, kind=kind, subject=subject)


def _key_of(job: Job) -> Key[Job]:
    return _key(job.system, job.kind, job.subject)
