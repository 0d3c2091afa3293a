"""The case that each budget is declared for, by the name of its access pattern."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from msgspec.structs import replace

from tests.platform.conftest import NOW
from tests.platform.items import (
    GUEST,
    HANA,
    OTHER,
    PASSWORD,
    TURN,
    WEB,
    a_job,
    a_lease,
    a_session,
    nth_account_id,
    nth_hash,
)
from tests.support.cost_assertions import Case
from zataku.platform import design, writes
from zataku.platform.design import ApiKey, Job, NameClaim
from zataku.platform.limits import MAX_JOB_ATTEMPTS
from zataku.table import Entity, Key, Plan, Query, Store
from zataku.text import fold

LONG = "将" * 20
USER = replace(HANA, name=LONG)
CLAIM = NameClaim(folded_name=fold(LONG), account_id=USER.account_id, claimed_at=NOW)
ME = USER.account_id
SYSTEMS = ("drawing", "othello", "ranking", "live", "kifu")
SCOPES = frozenset(f"{system}:{right}" for system in SYSTEMS for right in ("read", "write"))
SESSIONS = [replace(a_session(USER, number), user_agent="~" * 200) for number in range(20)]
KEYS = [
    ApiKey(account_id=ME, key_hash=nth_hash(number), label="将" * 40, scopes=SCOPES, created_at=NOW, last_used_at=NOW)
    for number in range(10)
]
RUNNING = a_job(state="running", owner=WEB, due_at=NOW + 60_000, attempts=1)
DEAD = a_job(state="dead", due_at=None, died_at=NOW, attempts=MAX_JOB_ATTEMPTS)
# The largest job: each of its characters takes four bytes.
PAYLOAD, PROBLEM = "𠮷" * 1000, "𠮷" * 500
LARGEST_JOB: tuple[Literal["platform"], str, str] = ("platform", "k" * 30, "~" * 120)
LEASE = a_lease()
SHARD = a_job().shard


def jobs_of_shard(count: int, **fields: Any) -> list[Job]:
    """A number of jobs of one shard."""
    jobs = (a_job(subject=f"{nth_account_id(number)}#{number}", **fields) for number in range(1000))
    return [job for job in jobs if job.shard == SHARD][:count]


def largest_job(state: str = "waiting", **fields: Any) -> Job:
    """The largest job in a state."""
    states: dict[str, dict[str, Any]] = {
        "waiting": {},
        "running": {"owner": "w" * 60, "due_at": NOW + 60_000, "attempts": 1},
        "dead": {"due_at": None, "died_at": NOW, "attempts": MAX_JOB_ATTEMPTS},
    }
    common = dict(
        zip(("system", "kind", "subject"), LARGEST_JOB, strict=True), state=state, payload=PAYLOAD, last_error=PROBLEM
    )
    return a_job(**common | states[state] | fields)


def read_case(read: Key[Any] | Query[Any], stored: Sequence[Entity]) -> Case:
    """A read from a store that holds some items."""

    async def case(store: Store) -> Callable[[], Awaitable[Any]]:
        await store.write_many(put=stored)
        return lambda: store.get(read) if isinstance(read, Key) else store.page(read, limit=100)

    return case


def write_case(plan: Plan[Any], *stored: Entity) -> Case:
    """A write to a store that holds some items."""

    async def case(store: Store) -> Callable[[], Awaitable[Any]]:
        await store.write_many(put=stored)
        return lambda: store.write(plan)

    return case


ACCOUNTS: dict[str, Case] = {
    "account": read_case(design.account(ME), [USER]),
    "owner_of_name": read_case(design.owner_of_name(LONG), [CLAIM]),
    "session": read_case(design.session(ME, nth_hash(1)), SESSIONS[1:2]),
    "api_key": read_case(design.api_key(ME, nth_hash(1)), KEYS[1:2]),
    "sessions_of": read_case(design.sessions_of(ME), SESSIONS),
    "keys_of": read_case(design.keys_of(ME), KEYS),
    "everything_of": read_case(design.everything_of(ME), [USER, *SESSIONS, *KEYS]),
    "create_guest": write_case(writes.create_guest(nth_account_id(3), "ja", NOW)),
    "sign_up": write_case(writes.sign_up(nth_account_id(3), LONG, PASSWORD, "ja", NOW)),
    "become_user": write_case(writes.become_user(GUEST, LONG, PASSWORD, NOW), GUEST),
    "rename": write_case(writes.rename(USER, "駒" * 20, NOW), USER, CLAIM),
    "change_password": write_case(writes.change_password(USER, PASSWORD.replace("aGFz", "bGFz"), NOW), USER),
    "choose_language": write_case(writes.choose_language(ME, "ko"), USER),
    "grant_role": write_case(writes.grant_role(ME, admin=True), USER),
    "record_visit": write_case(writes.record_visit(GUEST, NOW + 90_000_000), GUEST),
    "sign_in": write_case(writes.sign_in(USER, nth_hash(1), "~" * 200, NOW), USER),
    "touch_session": write_case(writes.touch_session(ME, nth_hash(1), NOW + 600_000), SESSIONS[1]),
    "sign_out": write_case(writes.sign_out(ME, nth_hash(1)), SESSIONS[1]),
    "sign_out_everywhere": write_case(writes.sign_out_everywhere(ME), USER, *SESSIONS),
    "add_key": write_case(writes.add_key(ME, nth_hash(1), "将" * 40, SCOPES, NOW), USER),
    "touch_key": write_case(writes.touch_key(ME, nth_hash(1), NOW + 90_000_000), KEYS[1]),
    "revoke_key": write_case(writes.revoke_key(ME, nth_hash(1)), KEYS[1]),
    "mark_deleted": write_case(writes.mark_deleted(ME, NOW), USER),
    "remove_account": write_case(
        writes.remove_account(replace(USER, deleted_at=NOW), NOW), replace(USER, deleted_at=NOW), CLAIM
    ),
}

JOBS: dict[str, Case] = {
    "job": read_case(design.job(*TURN), [a_job()]),
    "due_jobs": read_case(design.due_jobs(SHARD, NOW), jobs_of_shard(25)),
    "coming_jobs": read_case(design.coming_jobs(SHARD), jobs_of_shard(50)),
    "dead_jobs": read_case(
        design.dead_jobs(SHARD),
        jobs_of_shard(20, state="dead", due_at=None, died_at=NOW, attempts=40, last_error="e" * 500, payload="p" * 500),
    ),
    "schedule_job": write_case(writes.schedule_job(*TURN, at=NOW, now=NOW, payload="p" * 700)),
    "move_job": write_case(writes.move_job(*TURN, at=NOW + 1, now=NOW), a_job()),
    "repeat_job": write_case(writes.repeat_job(*TURN, at=NOW), RUNNING),
    "cancel_job": write_case(writes.cancel_job(*TURN, now=NOW), a_job()),
    "claim_job": write_case(writes.claim_job(*TURN, runner=WEB, now=NOW, until=NOW + 1), a_job()),
    "renew_job": write_case(writes.renew_job(RUNNING, NOW + 90_000, NOW), RUNNING),
    "finish_job": write_case(writes.finish_job(RUNNING), RUNNING),
    "reschedule_job": write_case(writes.reschedule_job(RUNNING, NOW + 90_000), RUNNING),
    "fail_job": write_case(writes.fail_job(RUNNING, "e" * 200, NOW), RUNNING),
    "retry_job": write_case(writes.retry_job(*TURN, at=NOW), DEAD),
}

LEASES: dict[str, Case] = {
    "lease": read_case(design.lease(LEASE.name), [LEASE]),
    "take_lease": write_case(writes.take_lease(LEASE, LEASE.name, OTHER, LEASE.until, LEASE.until + 1), LEASE),
    "renew_lease": write_case(writes.renew_lease(LEASE, NOW + 20_000), LEASE),
    "release_lease": write_case(writes.release_lease(LEASE, NOW), LEASE),
}

CASES = ACCOUNTS | JOBS | LEASES

# Further cases that the texts of the budgets mention: the case, its read units and its write units.
FURTHER_CASES: dict[str, tuple[Case, float, float]] = {
    "nothing is due": (read_case(design.due_jobs(SHARD, NOW - 1), jobs_of_shard(5)), 0.5, 0),
    "another spelling of a name": (
        write_case(writes.rename(replace(HANA, name="Nana"), "NANA", NOW), replace(HANA, name="Nana")),
        0,
        1,
    ),
    "a guest is removed": (
        write_case(writes.remove_account(replace(GUEST, deleted_at=NOW), NOW + 1000), replace(GUEST, deleted_at=NOW)),
        0,
        1,
    ),
    "the last attempt fails": (
        write_case(writes.fail_job(replace(RUNNING, attempts=40), "e", NOW), replace(RUNNING, attempts=40)),
        0,
        3,
    ),
    "a job is finished and due again": (
        write_case(writes.finish_job(RUNNING, requested=NOW), replace(RUNNING, again_at=NOW)),
        0,
        3,
    ),
    "the largest job is read": (read_case(design.job(*LARGEST_JOB), [largest_job()]), 2, 0),
    "a job is scheduled with the largest payload": (
        write_case(writes.schedule_job(*LARGEST_JOB, at=NOW, now=NOW, payload=PAYLOAD)),
        0,
        6,
    ),
    "the largest job is moved": (write_case(writes.move_job(*LARGEST_JOB, at=NOW + 1, now=NOW), largest_job()), 0, 9),
    "the largest job is requested again": (
        write_case(writes.repeat_job(*LARGEST_JOB, at=NOW), largest_job("running")),
        0,
        7,
    ),
    "the largest job is cancelled": (write_case(writes.cancel_job(*LARGEST_JOB, now=NOW), largest_job()), 0, 8),
    "the largest job is claimed": (
        write_case(writes.claim_job(*LARGEST_JOB, runner=WEB, now=NOW, until=NOW + 1), largest_job()),
        0,
        9,
    ),
    "the largest job is renewed": (
        write_case(writes.renew_job(largest_job("running"), NOW + 90_000, NOW), largest_job("running")),
        0,
        9,
    ),
    "the largest job is finished": (
        write_case(writes.finish_job(largest_job("running")), largest_job("running")),
        0,
        8,
    ),
    "the largest job is finished and due again": (
        write_case(writes.finish_job(largest_job("running"), requested=NOW), largest_job("running", again_at=NOW)),
        0,
        9,
    ),
    "the largest job is rescheduled": (
        write_case(writes.reschedule_job(largest_job("running"), NOW + 90_000), largest_job("running")),
        0,
        9,
    ),
    "the largest job fails": (
        write_case(writes.fail_job(largest_job("running"), PROBLEM, NOW), largest_job("running")),
        0,
        9,
    ),
    "the largest job dies": (
        write_case(
            writes.fail_job(largest_job("running", attempts=MAX_JOB_ATTEMPTS), PROBLEM, NOW),
            largest_job("running", attempts=MAX_JOB_ATTEMPTS),
        ),
        0,
        15,
    ),
    "the largest job is retried": (write_case(writes.retry_job(*LARGEST_JOB, at=NOW), largest_job("dead")), 0, 15),
}
