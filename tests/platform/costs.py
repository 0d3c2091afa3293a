"""The case that each budget speaks of, by the name of its access pattern."""

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
    hashed,
    numbered,
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
    ApiKey(account_id=ME, key_hash=hashed(number), label="将" * 40, scopes=SCOPES, created_at=NOW, last_used_at=NOW)
    for number in range(10)
]
RUNNING = a_job(state="running", owner=WEB, due_at=NOW + 60_000, attempts=1)
DEAD = a_job(state="dead", due_at=None, died_at=NOW, attempts=MAX_JOB_ATTEMPTS)
# The largest job: each of its characters takes four bytes.
PAYLOAD, PROBLEM = "𠮷" * 1000, "𠮷" * 500
HUGE: tuple[Literal["platform"], str, str] = ("platform", "k" * 30, "~" * 120)
LEASE = a_lease()
SHARD = a_job().shard


def in_shard(count: int, **given: Any) -> list[Job]:
    """So many jobs of one shard."""
    made = (a_job(subject=f"{numbered(number)}#{number}", **given) for number in range(1000))
    return [job for job in made if job.shard == SHARD][:count]


def huge(state: str = "waiting", **given: Any) -> Job:
    """The largest job in a state."""
    states: dict[str, dict[str, Any]] = {
        "waiting": {},
        "running": {"owner": "w" * 60, "due_at": NOW + 60_000, "attempts": 1},
        "dead": {"due_at": None, "died_at": NOW, "attempts": MAX_JOB_ATTEMPTS},
    }
    made = dict(zip(("system", "kind", "subject"), HUGE, strict=True), state=state, payload=PAYLOAD, last_error=PROBLEM)
    return a_job(**made | states[state] | given)


def reading(asked: Key[Any] | Query[Any], there: Sequence[Entity]) -> Case:
    """A read of what is there."""

    async def case(store: Store) -> Callable[[], Awaitable[Any]]:
        await store.write_many(put=there)
        return lambda: store.get(asked) if isinstance(asked, Key) else store.page(asked, limit=100)

    return case


def writing(plan: Plan[Any], *there: Entity) -> Case:
    """A write to what is there."""

    async def case(store: Store) -> Callable[[], Awaitable[Any]]:
        await store.write_many(put=there)
        return lambda: store.write(plan)

    return case


ACCOUNTS: dict[str, Case] = {
    "account": reading(design.account(ME), [USER]),
    "owner_of_name": reading(design.owner_of_name(LONG), [CLAIM]),
    "session": reading(design.session(ME, hashed(1)), SESSIONS[1:2]),
    "api_key": reading(design.api_key(ME, hashed(1)), KEYS[1:2]),
    "sessions_of": reading(design.sessions_of(ME), SESSIONS),
    "keys_of": reading(design.keys_of(ME), KEYS),
    "everything_of": reading(design.everything_of(ME), [USER, *SESSIONS, *KEYS]),
    "create_guest": writing(writes.create_guest(numbered(3), "ja", NOW)),
    "sign_up": writing(writes.sign_up(numbered(3), LONG, PASSWORD, "ja", NOW)),
    "become_user": writing(writes.become_user(GUEST, LONG, PASSWORD, NOW), GUEST),
    "rename": writing(writes.rename(USER, "駒" * 20, NOW), USER, CLAIM),
    "change_password": writing(writes.change_password(USER, PASSWORD.replace("aGFz", "bGFz"), NOW), USER),
    "choose_language": writing(writes.choose_language(ME, "ko"), USER),
    "grant_role": writing(writes.grant_role(ME, admin=True), USER),
    "record_visit": writing(writes.record_visit(GUEST, NOW + 90_000_000), GUEST),
    "sign_in": writing(writes.sign_in(USER, hashed(1), "~" * 200, NOW), USER),
    "touch_session": writing(writes.touch_session(ME, hashed(1), NOW + 600_000), SESSIONS[1]),
    "sign_out": writing(writes.sign_out(ME, hashed(1)), SESSIONS[1]),
    "sign_out_everywhere": writing(writes.sign_out_everywhere(ME), USER, *SESSIONS),
    "add_key": writing(writes.add_key(ME, hashed(1), "将" * 40, SCOPES, NOW), USER),
    "touch_key": writing(writes.touch_key(ME, hashed(1), NOW + 90_000_000), KEYS[1]),
    "revoke_key": writing(writes.revoke_key(ME, hashed(1)), KEYS[1]),
    "mark_deleted": writing(writes.mark_deleted(ME, NOW), USER),
    "remove_account": writing(
        writes.remove_account(replace(USER, deleted_at=NOW), NOW), replace(USER, deleted_at=NOW), CLAIM
    ),
}

JOBS: dict[str, Case] = {
    "job": reading(design.job(*TURN), [a_job()]),
    "due_jobs": reading(design.due_jobs(SHARD, NOW), in_shard(25)),
    "coming_jobs": reading(design.coming_jobs(SHARD), in_shard(50)),
    "dead_jobs": reading(
        design.dead_jobs(SHARD),
        in_shard(20, state="dead", due_at=None, died_at=NOW, attempts=40, last_error="e" * 500, payload="p" * 500),
    ),
    "schedule_job": writing(writes.schedule_job(*TURN, at=NOW, now=NOW, payload="p" * 700)),
    "move_job": writing(writes.move_job(*TURN, at=NOW + 1, now=NOW), a_job()),
    "repeat_job": writing(writes.repeat_job(*TURN, at=NOW), RUNNING),
    "cancel_job": writing(writes.cancel_job(*TURN, now=NOW), a_job()),
    "claim_job": writing(writes.claim_job(*TURN, runner=WEB, now=NOW, until=NOW + 1), a_job()),
    "renew_job": writing(writes.renew_job(RUNNING, NOW + 90_000, NOW), RUNNING),
    "finish_job": writing(writes.finish_job(RUNNING), RUNNING),
    "reschedule_job": writing(writes.reschedule_job(RUNNING, NOW + 90_000), RUNNING),
    "fail_job": writing(writes.fail_job(RUNNING, "e" * 200, NOW), RUNNING),
    "retry_job": writing(writes.retry_job(*TURN, at=NOW), DEAD),
}

LEASES: dict[str, Case] = {
    "lease": reading(design.lease(LEASE.name), [LEASE]),
    "take_lease": writing(writes.take_lease(LEASE, LEASE.name, OTHER, LEASE.until, LEASE.until + 1), LEASE),
    "renew_lease": writing(writes.renew_lease(LEASE, NOW + 20_000), LEASE),
    "release_lease": writing(writes.release_lease(LEASE, NOW), LEASE),
}

CASES = ACCOUNTS | JOBS | LEASES

# Other cases that the budgets name.
ALSO: dict[str, tuple[Case, float, float]] = {
    "nothing is due": (reading(design.due_jobs(SHARD, NOW - 1), in_shard(5)), 0.5, 0),
    "another spelling of a name": (
        writing(writes.rename(replace(HANA, name="Nana"), "NANA", NOW), replace(HANA, name="Nana")),
        0,
        1,
    ),
    "a guest is removed": (
        writing(writes.remove_account(replace(GUEST, deleted_at=NOW), NOW + 1000), replace(GUEST, deleted_at=NOW)),
        0,
        1,
    ),
    "the last attempt fails": (
        writing(writes.fail_job(replace(RUNNING, attempts=40), "e", NOW), replace(RUNNING, attempts=40)),
        0,
        3,
    ),
    "a job is finished and due again": (
        writing(writes.finish_job(RUNNING, requested=NOW), replace(RUNNING, again_at=NOW)),
        0,
        3,
    ),
    "the largest job is read": (reading(design.job(*HUGE), [huge()]), 2, 0),
    "a job is scheduled with the largest payload": (
        writing(writes.schedule_job(*HUGE, at=NOW, now=NOW, payload=PAYLOAD)),
        0,
        6,
    ),
    "the largest job is moved": (writing(writes.move_job(*HUGE, at=NOW + 1, now=NOW), huge()), 0, 9),
    "the largest job is asked for again": (writing(writes.repeat_job(*HUGE, at=NOW), huge("running")), 0, 7),
    "the largest job is cancelled": (writing(writes.cancel_job(*HUGE, now=NOW), huge()), 0, 8),
    "the largest job is claimed": (
        writing(writes.claim_job(*HUGE, runner=WEB, now=NOW, until=NOW + 1), huge()),
        0,
        9,
    ),
    "the largest job is renewed": (
        writing(writes.renew_job(huge("running"), NOW + 90_000, NOW), huge("running")),
        0,
        9,
    ),
    "the largest job is finished": (writing(writes.finish_job(huge("running")), huge("running")), 0, 8),
    "the largest job is finished and due again": (
        writing(writes.finish_job(huge("running"), requested=NOW), huge("running", again_at=NOW)),
        0,
        9,
    ),
    "the largest job is rescheduled": (
        writing(writes.reschedule_job(huge("running"), NOW + 90_000), huge("running")),
        0,
        9,
    ),
    "the largest job fails": (writing(writes.fail_job(huge("running"), PROBLEM, NOW), huge("running")), 0, 9),
    "the largest job dies": (
        writing(
            writes.fail_job(huge("running", attempts=MAX_JOB_ATTEMPTS), PROBLEM, NOW),
            huge("running", attempts=MAX_JOB_ATTEMPTS),
        ),
        0,
        15,
    ),
    "the largest job is tried again": (writing(writes.retry_job(*HUGE, at=NOW), huge("dead")), 0, 15),
}
