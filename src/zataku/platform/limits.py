"""What values may be: identifiers, names, hashes, texts and lengths of time, each with its limit."""

from typing import Annotated, Literal, NewType, TypeAlias

from msgspec import Meta

from zataku.table import UUID_PATTERN, Millis, Seconds, anchored

# Who

AccountId = NewType("AccountId", str)
AccountUuid: TypeAlias = Annotated[
    AccountId,
    Meta(pattern=anchored(UUID_PATTERN), description="Id of the account"),
]
"""The id of an account, made when a guest first comes and kept for good."""

AccountName: TypeAlias = Annotated[str, Meta(min_length=2, max_length=20, description="Name as its owner spells it")]
"""A name of 2 to 20 characters. Which characters it may have is said in `names`."""

FoldedName: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=60,
        description="The name as `texts.folded` makes it: width and case make no difference",
    ),
]
"""A name as it is claimed. Folding makes at most three characters of one, and may make one of a letter and its mark."""

Role: TypeAlias = Literal["guest", "user", "admin"]
"""A guest has no name and no password; an admin may do everything."""

Language: TypeAlias = Literal["ja", "ko", "en"]
"""The language that somebody chose."""

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

# How they come in

Sha256: TypeAlias = Annotated[str, Meta(pattern=anchored("[0-9a-f]{64}"), description="SHA-256 of the secret, in hex")]
"""What is kept of a secret that only its owner knows."""

UserAgent: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[ -~]{0,200}"), description="What the browser calls itself, at most 200 characters")
]
"""A browser's name for itself, cut short, in printable ASCII."""

Label: TypeAlias = Annotated[str, Meta(min_length=1, max_length=40, description="What its owner calls it")]
"""What people call an API key: one line of at most 40 characters."""

Scope: TypeAlias = Annotated[
    str, Meta(pattern=anchored("(?:drawing|othello|ranking|live|kifu):(?:read|write)"), description="system:right")
]
"""What an API key may do, such as ranking:write."""

Scopes: TypeAlias = Annotated[frozenset[Scope], Meta(max_length=10, description="What the key may do")]
"""Reading and writing of five systems make ten scopes."""

# What is to be done, and by whom

System: TypeAlias = Literal["drawing", "othello", "ranking", "live", "kifu", "platform"]
"""Whose job it is."""

JobKind: TypeAlias = Annotated[str, Meta(pattern=anchored("[a-z][a-z_]{0,29}"), description="What is to be done")]
"""What a job does, such as close_turn."""

Subject: TypeAlias = Annotated[str, Meta(pattern=anchored("[!-~]{1,120}"), description="What it is to be done to")]
"""What a job is about: ids and numbers, in printable ASCII without spaces. It may contain `#`."""

Shard: TypeAlias = Annotated[int, Meta(ge=0, le=3, description="One of four partitions of the indexes of jobs")]
"""Where a job lies in the indexes, by a hash of its id."""

JobState: TypeAlias = Literal["waiting", "running", "dead"]
"""A running job whose runner died is waiting again as soon as its run has lapsed, whatever its state says."""

Payload: TypeAlias = Annotated[
    str, Meta(max_length=1000, description="What the runner must know beside the id, as JSON")
]
"""A few values for the runner; what is large lies in the items of the system."""

Attempts: TypeAlias = Annotated[
    int, Meta(ge=0, le=999_999_999, description="How often it was claimed since it last succeeded")
]
"""Runs that began, those included of which nothing was heard again."""

RunNumber: TypeAlias = Annotated[
    int, Meta(ge=1, le=999_999_999_999_999, description="Goes up with each claim and never down")
]
"""Tells the runs of a job apart. It begins with the millisecond in which the job was scheduled."""

ErrorText: TypeAlias = Annotated[str, Meta(max_length=500, description="What went wrong the last time")]
"""The end of an error message, for whoever looks at dead jobs."""

OwnerId = NewType("OwnerId", str)
Owner: TypeAlias = Annotated[
    OwnerId, Meta(pattern=anchored("[A-Za-z0-9._:-]{1,60}"), description="The process, with a new name at each start")
]
"""A process that runs jobs or holds leases. A restarted process is another one."""

LeaseName: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[A-Za-z0-9._:/-]{1,150}"), description="What it is about, such as room/drawing/7F3K9Q")
]
"""What only one process may do at a time."""

Epoch: TypeAlias = Annotated[int, Meta(ge=1, le=999_999_999_999, description="Goes up each time it changes hands")]
"""Tells the owners of a lease apart, the earlier from the later."""

Consumer: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[a-z][a-z0-9_-]{0,39}"), description="Who reads the stream")
]
"""A reader of a stream by name, such as ranking-totals."""

TableName: TypeAlias = Annotated[str, Meta(pattern=anchored("[A-Za-z0-9_.-]{3,255}"), description="Name of the table")]
"""A table as DynamoDB names it."""

StreamShard: TypeAlias = Annotated[str, Meta(pattern=anchored("[A-Za-z0-9-]{1,65}"), description="Part of the stream")]
"""A shard of a stream as the store names it."""

Position: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[0-9]{1,40}"), description="The last change that is dealt with")
]
"""The number of a change in its stream, as the stream writes it."""

POSITION_DIGITS = 40
Reached: TypeAlias = Annotated[
    str,
    Meta(pattern=anchored("[0-9]{40}"), description="The position with 40 digits, so that it compares as it counts"),
]
"""Streams write their numbers in different widths, and a store compares texts from the left."""

# How long

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
"""Lengths of time in milliseconds, as all moments here but `expiresAt`."""

SESSION_TTL = 30 * DAY
GUEST_TTL = 90 * DAY
"""How long a session or guest outlives its last use."""

SESSION_TOUCH_INTERVAL = 10 * MINUTE
VISIT_TOUCH_INTERVAL = DAY
KEY_TOUCH_INTERVAL = DAY
"""How much later a use must be than the last noted one to be noted: a visit costs no write."""

JOB_SHARDS = 4
MAX_JOB_ATTEMPTS = 40
FIRST_RETRY_DELAY = 10 * SECOND
MAX_RETRY_DELAY = HOUR
"""A failed job is tried again after 10 s, 20 s, 40 s and so on up to every hour, and is dead after 40 attempts.

The pauses add up to 31 hours: what a job needs may be away for a day.
"""

LEASE_ITEM_TTL = 7 * DAY
CHECKPOINT_REMEMBERED = 7 * DAY
"""How long a lease that nobody holds, or a checkpoint that nobody moves, is kept."""


def expiry(now: Millis, lasts: int) -> Seconds:
    """The time to live of something that outlives `now` by so long, in the seconds that the table wants."""
    return (now + lasts) // SECOND
