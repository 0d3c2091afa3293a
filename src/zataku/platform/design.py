"""What the five systems and the server share: accounts, sessions, API keys, jobs and leases.

- **Everything of an account is in its partition**: the account, its sessions, its keys. A cookie or key carries the
  id of its account in addition to the secret, so that both items are read strongly by their keys in one call
  (`store.get_many([session(...), account(...)])`, 2 read units). Authentication uses no index, and what an account has
  is a strong query.
- **A secret is never stored**, only its SHA-256; passwords as Argon2id.
- **A session is valid in its own generation only.** Signing out everywhere is one write to the account, however many
  sessions there are; those of earlier generations are void at once and expire by their time to live.
- **A guest costs nothing until something of theirs is stored.** The cookie alone carries the id; the account is written
  with the first thing they store, expires 90 days after the last visit, and keeps its id when it becomes a user's. A
  guest's cookie is valid while there is no account, or one of a guest that is not deleted.
- **A name is an item of its own**, written in the same transaction as the account, so that one name has one owner.
- **A job is due, or dead.** The index of due jobs is sparse and spread over four partitions. Claiming a job moves its
  due time to the end of the run, so that the job of a runner that died becomes due again by itself. A runner must still
  be the owner, with the same run number, to renew, finish or fail its job. The number goes up with each claim; the
  first is the millisecond of scheduling, so that a job that is scheduled again continues counting.
- **No deadline is lost to a run**: one that is requested while its job runs is stored on the job, and finishing the run
  makes it due. A failing job is tried for 31 hours before it is dead.
- **A lease is for liveness; its epoch is for safety.** The epoch goes up whenever the lease changes hands. The first
  epoch is the second in which the lease was taken, so that an expired lease that is taken again still counts upwards.
- **No stream**: nothing is derived from this table. Marking an account as deleted schedules the job that removes it in
  the same transaction, which needs no consumer.

Times are in milliseconds since 1970, except `expiresAt`, which DynamoDB reads in seconds.
"""

from typing import Annotated
from zlib import crc32

from msgspec import Meta

from zataku.platform.limits import (
    JOB_SHARDS,
    AccountName,
    AccountUuid,
    Attempts,
    Epoch,
    ErrorText,
    FoldedName,
    Generation,
    JobKind,
    JobState,
    Label,
    Language,
    LeaseName,
    Owner,
    PasswordHash,
    Payload,
    Role,
    RunNumber,
    Scopes,
    Sha256,
    Shard,
    Subject,
    System,
    UserAgent,
)
from zataku.platform.names import check_name, claim_form
from zataku.table import (
    Budget,
    Departure,
    Entity,
    InKey,
    Key,
    Millis,
    OnDemand,
    Seconds,
    Span,
    Table,
    View,
    capacity_alarm,
    derived,
    error_rate_alarm,
    include,
    throttle_alarm,
)
from zataku.table.lint import check
from zataku.text import fold

TITLE = "Platform"
DEPARTURES: tuple[Departure, ...] = ()
"""None: the design follows no document."""

_ACCOUNT = {"account_id": "456e7890-e89b-42d3-a456-426614174001"}
_HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

platform = Table(
    "Zataku-Platform",
    pk="PK",
    sk="SK",
    ttl="expiresAt",
    recovery=True,
    capacity=OnDemand(max_reads=2000, max_writes=1000),
    transactions=True,
    alarms=[capacity_alarm("read"), capacity_alarm("write"), throttle_alarm("write"), error_rate_alarm(percent=5)],
)
due = platform.index("GSI1", pk="GSI1PK", sk="GSI1SK", projection=include("dueAt", "state", "owner", "attempts"))
dead = platform.index("GSI2", pk="GSI2PK", sk="GSI2SK")


# Accounts


@platform.entity(pk="ACCOUNT#{account_id}", sk="ACCOUNT", version="version")
class Account(Entity, frozen=True, kw_only=True, rename="camel"):
    """A guest, a user with name and password, or an admin.

    A guest has neither name nor password and expires. An account that is marked as deleted changes no more; when what
    it owned in every system has been removed, it is left as a deleted guest for 90 days, so that no old cookie revives
    the id.
    """

    account_id: AccountUuid
    role: Role = "user"
    name: AccountName | None = None
    password: PasswordHash | None = None
    password_changed_at: Annotated[Millis, Meta(description="When the password was set")] | None = None
    language: Annotated[Language, Meta(description="Language of the pages")]
    generation: Generation = 1
    created_at: Annotated[Millis, Meta(description="When it was created")]
    last_seen_at: Annotated[Millis, Meta(description="Last visit, to the day")]
    deleted_at: Annotated[Millis, Meta(description="When it was marked as deleted")] | None = None
    expires_at: Seconds | None = None
    version: int = 1

    def __post_init__(self) -> None:
        """Check the fields against each other."""
        if self.name is not None:
            check_name(self.name)
        signed_up = (self.name, self.password, self.password_changed_at)
        if self.role == "guest":
            if any(part is not None for part in signed_up) or self.expires_at is None:
                raise ValueError("A guest has no name and no password, and expires.")
            return
        if any(part is None for part in signed_up):
            raise ValueError("A user has a name, a password, and the time when it was set.")
        if self.expires_at is not None and self.deleted_at is None:
            raise ValueError("A user does not expire.")

    def __repr__(self) -> str:
        return f"Account({self.account_id!r}, {self.role!r}, {self.name!r}, …)"


@platform.entity(pk="NAME#{folded_name}", sk="NAME")
class NameClaim(Entity, frozen=True, kw_only=True, rename="camel"):
    """A name that is taken, with its owner. Names that differ only in width or case are the same."""

    folded_name: FoldedName
    account_id: AccountUuid
    claimed_at: Annotated[Millis, Meta(description="When it was taken")]

    def __post_init__(self) -> None:
        """Refuse a name that no lookup would find."""
        if fold(self.folded_name) != self.folded_name:
            raise ValueError("A name is claimed in the form that `fold` returns.")


@platform.entity(pk="ACCOUNT#{account_id}", sk="SESSION#{token_hash}")
class Session(Entity, frozen=True, kw_only=True, rename="camel"):
    """A browser that is signed in, valid while its generation is the account's, for 30 days after its last use."""

    account_id: AccountUuid
    token_hash: Sha256
    generation: Generation
    user_agent: UserAgent
    created_at: Annotated[Millis, Meta(description="When it was created")]
    last_used_at: Annotated[Millis, Meta(description="Last use, to ten minutes")]
    expires_at: Seconds


@platform.entity(pk="ACCOUNT#{account_id}", sk="KEY#{key_hash}")
class ApiKey(Entity, frozen=True, kw_only=True, rename="camel"):
    """A key with which a program acts for an account, within its scopes. Signing out everywhere does not revoke it."""

    account_id: AccountUuid
    key_hash: Sha256
    label: Label
    scopes: Scopes = frozenset()
    created_at: Annotated[Millis, Meta(description="When it was created")]
    last_used_at: Annotated[Millis, Meta(description="Last use, to the day")] | None = None
    expires_at: Seconds | None = None

    def __post_init__(self) -> None:
        """Refuse labels that are not one line."""
        if not self.label.isprintable() or self.label != self.label.strip():
            raise ValueError("A label is one line of printable characters, without spaces at its ends.")


# Jobs


@platform.entity(
    pk="JOB#{system}#{kind}#{subject}",
    sk="JOB",
    index={
        "GSI1PK": "DUE#{shard:01d}",
        "GSI1SK": "{due_at:015d}",
        "GSI2PK": "DEAD#{shard:01d}",
        "GSI2SK": "{died_at:015d}",
    },
)
class Job(Entity, frozen=True, kw_only=True, rename="camel"):
    """A deadline or a daily job, due at a time.

    The key is the job's identity, so that scheduling the same deadline twice is one job. While a job runs, its due time
    is the end of the run; a dead one has none. A job may run twice, when a runner is slow or its reply is lost: its
    handler must be idempotent.
    """

    system: InKey[System]
    kind: InKey[JobKind]
    subject: InKey[Subject]
    scheduled_for: Annotated[Millis, Meta(description="The time it was scheduled for")]
    due_at: Annotated[Millis, Meta(description="When a runner may claim it; the end of its run")] | None = None
    state: JobState = "waiting"
    owner: Owner | None = None
    attempts: Attempts = 0
    run: RunNumber
    again_at: Annotated[Millis, Meta(description="When it is due again after the run")] | None = None
    payload: Payload = ""
    last_error: ErrorText | None = None
    died_at: Annotated[Millis, Meta(description="When its last attempt failed")] | None = None

    def __post_init__(self) -> None:
        """Refuse a job that no runner or list would find."""
        if (self.due_at is None) != (self.state == "dead") or (self.state == "dead" and self.died_at is None):
            raise ValueError("A job has a due time, or a time of death.")
        if self.state == "running" and self.owner is None:
            raise ValueError("A running job has an owner.")

    def is_running(self, now: Millis) -> bool:
        """True while a runner holds the job; a run that has lapsed counts as waiting."""
        return self.state == "running" and self.due_at is not None and self.due_at > now

    @derived("system", "kind", "subject")
    def shard(self) -> Shard:
        """The job's partition in the indexes."""
        return crc32(f"{self.system}#{self.kind}#{self.subject}".encode()) % JOB_SHARDS


@platform.view(Job)
class DueJob(View, frozen=True, kw_only=True, rename="camel"):
    """A job as the index of due jobs projects it: enough to claim and to list it."""

    system: System
    kind: JobKind
    subject: Subject
    due_at: Millis
    state: JobState
    owner: Owner | None = None
    attempts: Attempts


# Leases


@platform.entity(pk="LEASE#{name}", sk="LEASE")
class Lease(Entity, frozen=True, kw_only=True, rename="camel"):
    """The exclusive right of one process to do something, such as to run a room, until it lapses or is renewed."""

    name: LeaseName
    owner: Owner | None = None
    until: Annotated[Millis, Meta(description="When it lapses unless it is renewed")]
    epoch: Epoch
    expires_at: Seconds


# Access patterns


@platform.item(strong=True, example=_ACCOUNT, budget=Budget(reads=1, of="a user with a name of 20 characters"))
def account(account_id: AccountUuid) -> Key[Account]:
    """One account, read strongly."""
    return Account.key(account_id=account_id)


@platform.item(strong=True, budget=Budget(reads=1))
def owner_of_name(name: str) -> Key[NameClaim]:
    """The claim on a name, in any spelling; none for what cannot be a name. Serves signing in."""
    return NameClaim.key(folded_name=claim_form(name))


@platform.item(strong=True, example={**_ACCOUNT, "token_hash": _HASH}, budget=Budget(reads=1))
def session(account_id: AccountUuid, token_hash: str) -> Key[Session]:
    """One session by the two parts of its cookie, read strongly together with its account."""
    return Session.key(account_id=account_id, token_hash=token_hash)


@platform.item(strong=True, example={**_ACCOUNT, "key_hash": _HASH}, budget=Budget(reads=1))
def api_key(account_id: AccountUuid, key_hash: str) -> Key[ApiKey]:
    """One API key by its two parts, read strongly together with its account."""
    return ApiKey.key(account_id=account_id, key_hash=key_hash)


@platform.query(
    returns=Session,
    strong=True,
    example=_ACCOUNT,
    budget=Budget(reads=3, of="20 sessions of long user agents"),
)
def sessions_of(account_id: AccountUuid) -> Span:
    """The sessions of an account, those of earlier generations included until they expire."""
    return platform.partition(Session.partition(account_id=account_id)).begins_with("SESSION#")


@platform.query(
    returns=ApiKey,
    strong=True,
    example=_ACCOUNT,
    budget=Budget(reads=2, of="10 keys with long labels and all scopes"),
)
def keys_of(account_id: AccountUuid) -> Span:
    """The API keys of an account."""
    return platform.partition(ApiKey.partition(account_id=account_id)).begins_with("KEY#")


@platform.query(
    returns=(Account, Session, ApiKey),
    strong=True,
    example=_ACCOUNT,
    budget=Budget(reads=4, of="an account with 20 sessions and 10 keys"),
)
def everything_of(account_id: AccountUuid) -> Span:
    """An account with all its sessions and keys. Serves the export for its owner, and its removal."""
    return platform.partition(Account.partition(account_id=account_id))


@platform.item(strong=True, budget=Budget(reads=1, of="a job of 4 KB; 2 for the largest"))
def job(system: System, kind: JobKind, subject: Subject) -> Key[Job]:
    """One job, read strongly."""
    return Job.key(system=system, kind=kind, subject=subject)


@platform.query(returns=DueJob, budget=Budget(reads=0.5, of="25 due jobs, and for none"))
def due_jobs(shard: Shard, now: Millis) -> Span:
    """The due jobs of one of the four shards, the longest due first. Two runners may see a job; one claims it."""
    return due.partition(f"DUE#{shard}").until(f"{now:015d}")


@platform.query(returns=DueJob, budget=Budget(reads=1, of="50 jobs"))
def coming_jobs(shard: Shard) -> Span:
    """Every job of a shard that waits or runs, by due time. Serves `zataku jobs` and the admin page."""
    return due.partition(f"DUE#{shard}")


@platform.query(
    returns=Job, budget=Budget(reads=3, of="20 dead jobs with errors of 500 characters and payloads of 500")
)
def dead_jobs(shard: Shard) -> Span:
    """The dead jobs of a shard, the latest first."""
    return dead.partition(f"DEAD#{shard}").newest_first()


@platform.item(strong=True, budget=Budget(reads=1))
def lease(name: LeaseName) -> Key[Lease]:
    """One lease, read strongly."""
    return Lease.key(name=name)


TABLES = (platform,)

check(platform)

__all__ = ["DEPARTURES", "TABLES", "TITLE"]
