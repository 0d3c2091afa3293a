"""Accounts, sessions, jobs and leases of the tests."""

from typing import Any, Literal

from msgspec.structs import replace

from tests.platform.conftest import NOW
from zataku.platform.design import Account, Job, Lease, NameClaim, Session
from zataku.platform.limits import (
    GUEST_TTL,
    LEASE_ITEM_TTL,
    SESSION_TTL,
    AccountId,
    OwnerId,
    expiry,
)
from zataku.table import Store
from zataku.text import fold

PASSWORD = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$aGFzaGhhc2hoYXNoaGFzaA"
WEB = OwnerId("web-1")
OTHER = OwnerId("web-2")
TURN: tuple[Literal["othello"], str, str] = ("othello", "close_turn", "3f2a#7")


def nth_account_id(number: int) -> AccountId:
    """An account id that is unique to a number."""
    return AccountId(f"00000000-0000-4000-a000-{number:012d}")


HANA = Account(
    account_id=nth_account_id(1),
    name="はなこ",
    password=PASSWORD,
    password_changed_at=NOW,
    language="ja",
    created_at=NOW,
    last_seen_at=NOW,
)
GUEST = Account(
    account_id=nth_account_id(2),
    role="guest",
    language="ko",
    created_at=NOW,
    last_seen_at=NOW,
    expires_at=expiry(NOW, GUEST_TTL),
)


def nth_hash(number: int) -> str:
    """A hash that is unique to a number."""
    return f"{number:064x}"


def a_session(user: Account, number: int) -> Session:
    """A session of a user, created now."""
    return Session(
        account_id=user.account_id,
        token_hash=nth_hash(number),
        generation=user.generation,
        user_agent="Firefox",
        created_at=NOW,
        last_used_at=NOW,
        expires_at=expiry(NOW, SESSION_TTL),
    )


async def stored_user(store: Store, user: Account = HANA) -> Account:
    """Store a user and the claim of the user's name."""
    assert user.name is not None
    claim = NameClaim(folded_name=fold(user.name), account_id=user.account_id, claimed_at=NOW)
    await store.write_many(put=[user, claim])
    return user


async def user_named(store: Store, number: int, name: str) -> Account:
    """Store another user."""
    return await stored_user(store, replace(HANA, account_id=nth_account_id(number), name=name))


def a_job(**fields: Any) -> Job:
    """The end of a turn, due now."""
    system, kind, subject = TURN
    defaults = {"system": system, "kind": kind, "subject": subject, "scheduled_for": NOW, "due_at": NOW, "run": NOW}
    return Job(**defaults | fields)


async def running(store: Store, lease_ms: int = 60_000, attempts: int = 1) -> Job:
    """Store a job that a process has started to run now."""
    job = a_job(state="running", owner=WEB, due_at=NOW + lease_ms, attempts=attempts, run=NOW + attempts)
    await store.write_many(put=[job])
    return job


def a_lease(**fields: Any) -> Lease:
    """A lease that a process holds for another ten seconds."""
    until = NOW + 10_000
    defaults = {"name": "room/drawing/7F3K9Q", "owner": WEB, "until": until, "epoch": 5}
    return Lease(**defaults | {"expires_at": expiry(until, LEASE_ITEM_TTL)} | fields)
