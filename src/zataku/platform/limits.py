"""Field types and limits of the platform: identifiers, names, hashes, texts and durations."""

from typing import Annotated, Literal, NewType, TypeAlias

from msgspec import Meta

from zataku.table import UUID_PATTERN, Millis, Seconds, anchored

# Accounts

AccountId = NewType("AccountId", str)
AccountUuid: TypeAlias = Annotated[
    AccountId,
    Meta(pattern=anchored(UUID_PATTERN), description="Id of the account"),
]
"""The id of an account, made with a guest's first cookie and never changed."""

AccountName: TypeAlias = Annotated[str, Meta(min_length=2, max_length=20, description="Name as its owner spells it")]
"""A name of 2 to 20 characters. The allowed characters are defined in `names`."""

FoldedName: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=60,
        description="The name as `text.fold` returns it: width and case make no difference",
    ),
]
"""A name as it is claimed. Folding turns one character into up to three, and may join a letter with its mark."""

Role: TypeAlias = Literal["guest", "user", "admin"]
"""A guest has no name and no password; an admin may do everything."""

Language: TypeAlias = Literal["ja", "ko", "en"]
"""A language of the pages."""

PasswordHash: TypeAlias = Annotated[
    str,
    Meta(
        pattern=anchored(
            r"\$argon2id\$v=19\$m=[0-9]{1,7},t=[0-9]{1,2},p=[0-9]{1,2}\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{16,86}"
        ),
        description="Argon2id, in its usual text form",
    ),
]
"""A hashed password with its parameters and salt. Other algorithms are refused."""

Generation: TypeAlias = Annotated[int, Meta(ge=1, le=999_999_999, description="Goes up to end all earlier sessions")]
"""Sessions belong to the generation they were made in."""

# Credentials

Sha256: TypeAlias = Annotated[str, Meta(pattern=anchored("[0-9a-f]{64}"), description="SHA-256 of the secret, in hex")]
"""The stored hash of a secret that only its owner knows."""

UserAgent: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[ -~]{0,200}"), description="The browser's User-Agent, at most 200 characters")
]
"""A User-Agent header, truncated, in printable ASCII."""

Label: TypeAlias = Annotated[str, Meta(min_length=1, max_length=40, description="The label that its owner gave it")]
"""The label of an API key: one line of at most 40 characters."""

Scope: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[a-z][a-z0-9_]{0,14}:(?:read|write)"), description="system:right")
]
"""A right of an API key, such as ranking:write."""

Scopes: TypeAlias = Annotated[frozenset[Scope], Meta(max_length=20, description="What the key may do")]
"""Reading and writing are two scopes for each of at most ten systems."""

# Jobs and leases

System: TypeAlias = Annotated[str, Meta(pattern=anchored("[a-z][a-z0-9_]{0,14}"), description="Name of the system")]
"""The system that a job belongs to."""

JobKind: TypeAlias = Annotated[str, Meta(pattern=anchored("[a-z][a-z_]{0,29}"), description="Kind of the job")]
"""The kind of a job, such as close_turn."""

Subject: TypeAlias = Annotated[str, Meta(pattern=anchored("[!-~]{1,120}"), description="Subject of the job")]
"""The subject of a job: ids and numbers, in printable ASCII without spaces. It may contain `#`."""

Shard: TypeAlias = Annotated[int, Meta(ge=0, le=3, description="One of four partitions of the indexes of jobs")]
"""A job's partition in the indexes, by a hash of its id."""

JobState: TypeAlias = Literal["waiting", "running", "dead"]
"""A running job whose run has lapsed counts as waiting, whatever its state says."""

Payload: TypeAlias = Annotated[str, Meta(max_length=1000, description="Further arguments of the handler, as JSON")]
"""A few values for the handler; large ones belong into the items of the system."""

Attempts: TypeAlias = Annotated[int, Meta(ge=0, le=999_999_999, description="Claims since its last success")]
"""Runs that began, including those whose process died."""

RunNumber: TypeAlias = Annotated[
    int, Meta(ge=1, le=999_999_999_999_999, description="Goes up with each claim and never down")
]
"""Distinguishes the runs of a job. It starts with the millisecond in which the job was scheduled."""

ErrorText: TypeAlias = Annotated[str, Meta(max_length=500, description="The last error")]
"""The end of an error message, for operators."""

OwnerId = NewType("OwnerId", str)
Owner: TypeAlias = Annotated[
    OwnerId, Meta(pattern=anchored("[A-Za-z0-9._:-]{1,60}"), description="The process, with a new name at each start")
]
"""A process that runs jobs or holds leases. A restarted process is another one."""

LeaseName: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[A-Za-z0-9._:/-]{1,150}"), description="What it protects, such as room/drawing/7F3K9Q")
]
"""The name of something that one process may do at a time."""

Epoch: TypeAlias = Annotated[int, Meta(ge=1, le=999_999_999_999, description="Goes up each time it changes hands")]
"""Orders the owners of a lease in time."""

# Durations

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
"""Durations in milliseconds, like all times here but `expiresAt`."""

SESSION_TTL = 30 * DAY
GUEST_TTL = 90 * DAY
"""How long a session or guest lasts after its last use."""

SESSION_TOUCH_INTERVAL = 10 * MINUTE
VISIT_TOUCH_INTERVAL = DAY
KEY_TOUCH_INTERVAL = DAY
"""The minimum time between two recorded uses, so that most requests cost no write."""

JOB_SHARDS = 4
MAX_JOB_ATTEMPTS = 40
FIRST_RETRY_DELAY = 10 * SECOND
MAX_RETRY_DELAY = HOUR
"""A failed job is tried again after 10 s, 20 s, 40 s and so on up to every hour, and is dead after 40 attempts.

The delays add up to 31 hours: what a job depends on may be down for a day.
"""

MAX_CLOCK_SKEW = MINUTE
"""How far the clocks of two processes may be apart.

A lease that ends later than that after any process can have asked for is of a clock that was set back since.
"""

LEASE_ITEM_TTL = 7 * DAY
"""How long the item of a lease without an owner is stored."""


def expiry(now: Millis, ttl: int) -> Seconds:
    """The value of `expiresAt` for an item that lasts `ttl` milliseconds from `now`, in seconds."""
    return (now + ttl) // SECOND
