"""What the admin page is told, and what it asks for.

Moments are milliseconds since 1970. Lists that go on have `next`, which is asked for as `after`.
"""

from typing import Literal, TypeAlias

import msgspec

from zataku.platform.limits import AccountId, JobKind, JobState, Language, Role, Sha256, Subject, System
from zataku.table import KeyType, Millis


class _Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    pass


class _Asked(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    pass


# GET overview


class StoreFacts(_Wire, frozen=True, kw_only=True):
    """Where everything is kept, without any secret, and what the store says of itself."""

    place: str
    kind: Literal["embedded", "dynamodb"]
    capabilities: list[str]
    facts: dict[str, str]


class RoomCount(_Wire, frozen=True, kw_only=True):
    """How many rooms of a system run now in all processes, and how many people are in them."""

    kind: str
    rooms: int
    people: int


class JobCount(_Wire, frozen=True, kw_only=True):
    """How many jobs there are; with `more`, at least so many."""

    waiting: int
    running: int
    dead: int
    more: bool


class Overview(_Wire, frozen=True, kw_only=True):
    """The server at a glance. `process` is this process; sockets are its own."""

    version: str
    env: str
    store: StoreFacts
    bus: str
    process: str
    started_at: Millis
    now: Millis
    uptime_seconds: float
    sockets: int
    rooms: list[RoomCount]
    jobs: JobCount


# GET history


class HistoryAnswer(_Wire, frozen=True, kw_only=True):
    """How the last minutes went: `at` has the moments, each of the other lists as many values.

    A point is the mean of the `step_seconds` up to its moment; the longest is taken for `p95_ms` and `loop_lag_ms`.
    Null stands for nothing to tell: no request came, or the server did not run.
    """

    step_seconds: float
    at: list[Millis]
    requests_per_second: list[float | None]
    errors_per_second: list[float | None]
    median_ms: list[float | None]
    p95_ms: list[float | None]
    sockets: list[float | None]
    rooms: list[float | None]
    read_units_per_second: list[float | None]
    write_units_per_second: list[float | None]
    loop_lag_ms: list[float | None]
    memory_mb: list[float | None]


# GET tables, tables/NAME


class Prices(_Wire, frozen=True, kw_only=True):
    """What DynamoDB takes on demand, in a region and as of a date."""

    region: str
    as_of: str
    currency: str
    million_reads: float
    million_writes: float
    gigabyte_month: float


class MonthCost(_Wire, frozen=True, kw_only=True):
    """What a month would cost if it went on as it did since the server started."""

    reads: float
    writes: float
    storage: float
    total: float


class UnitsUsed(_Wire, frozen=True, kw_only=True):
    """How often something was asked, and the units of all calls together."""

    calls: int
    read_units: float
    write_units: float


PatternKind: TypeAlias = Literal["item", "query", "write", "other"]
"""`other` stands for calls that no declared pattern stands for, such as a scan."""


class PatternFigures(_Wire, frozen=True, kw_only=True):
    """What one access pattern has used since the server started, and since the store was made."""

    name: str
    kind: PatternKind
    says: str
    run: UnitsUsed
    ever: UnitsUsed
    units_per_call: float
    month: float


class IndexFigures(_Wire, frozen=True, kw_only=True):
    """An index: how far it is filled, and how much lies in it."""

    name: str
    state: Literal["creating", "active"]
    done: int
    total: int
    items: int
    bytes: int


class TableFigures(_Wire, frozen=True, kw_only=True):
    """A table of a design: what lies in it and what it costs. `name` is the one in the store."""

    name: str
    system: str
    kinds: list[str]
    items: int
    bytes: int
    indexes: list[IndexFigures]
    patterns: list[PatternFigures]
    month: MonthCost


class Tables(_Wire, frozen=True, kw_only=True):
    """All tables. Sizes were taken at `sized_at`; DynamoDB's own are some hours older. `others` are calls of none."""

    tables: list[TableFigures]
    others: list[PatternFigures]
    month: MonthCost
    prices: Prices
    measured_seconds: float
    sized_at: Millis


class KeyName(_Wire, frozen=True, kw_only=True):
    """An attribute that serves as a key."""

    name: str
    type: KeyType


class IndexShape(_Wire, frozen=True, kw_only=True):
    """The keys of an index, and what it holds beside them."""

    name: str
    pk: KeyName
    sk: KeyName | None
    local: bool
    projection: Literal["ALL", "KEYS_ONLY", "INCLUDE"]
    attributes: list[str]


class FieldShape(_Wire, frozen=True, kw_only=True):
    """A field as it is called in the table. A secret one is never shown."""

    name: str
    type: str
    says: str
    optional: bool
    secret: bool


class EntityShape(_Wire, frozen=True, kw_only=True):
    """A kind of item: `keys` has the form of each key attribute, such as `ACCOUNT#<accountId>`."""

    name: str
    says: str
    keys: dict[str, str]
    fields: list[FieldShape]


class TableDetail(_Wire, frozen=True, kw_only=True):
    """One table with its design, for whoever looks into it."""

    figures: TableFigures
    pk: KeyName
    sk: KeyName | None
    ttl: str | None
    stream: str | None
    indexes: list[IndexShape]
    entities: list[EntityShape]
    prices: Prices
    measured_seconds: float
    sized_at: Millis


# GET tables/NAME/items

KeyCondition: TypeAlias = Literal["eq", "lt", "le", "gt", "ge", "begins_with", "between"]
"""How sort keys are compared. `between` includes both ends, `sk` and `sk2`."""


class ItemView(_Wire, frozen=True, kw_only=True):
    """An item as it lies in the table.

    Attributes are in DynamoDB's JSON, `{"S": "text"}`, `{"N": "12.5"}`, `{"M": {…}}`, keys first. Those named in
    `masked` are secret and stand there as dots; a key that contains one has its first letters only. `kind` is null
    where no entity of the design fits.
    """

    kind: str | None
    key: dict[str, dict[str, object]]
    attributes: dict[str, dict[str, object]]
    masked: list[str]
    bytes: int


class ItemPage(_Wire, frozen=True, kw_only=True):
    """Some items, what reading them took, and where it goes on."""

    items: list[ItemView]
    read_units: float
    next: str | None


# Backups


class BackupView(_Wire, frozen=True, kw_only=True):
    """A backup. `making` has come as far as `done` of `total`; `failed` and `damaged` say why in `problem`.

    `unchecked` ones are looked through as soon as they are listed.
    """

    name: str
    state: Literal["making", "unchecked", "ready", "damaged", "failed"]
    bytes: int
    at: Millis
    done: int = 0
    total: int = 0
    problem: str | None = None


class Restoring(_Wire, frozen=True, kw_only=True):
    """The last restore since the server started: first a backup `saved_as` is taken of now, then all is replaced."""

    name: str
    state: Literal["saving", "restoring", "done", "failed"]
    saved_as: str
    at: Millis
    done: int = 0
    total: int = 0
    problem: str | None = None


class Backups(_Wire, frozen=True, kw_only=True):
    """All backups, the newest first. Only those that are `files` can be downloaded, brought, restored and deleted."""

    backups: list[BackupView]
    files: bool
    most_upload_bytes: int
    restoring: Restoring | None


class BackupBegun(_Wire, frozen=True, kw_only=True):
    """A backup is being made under this name."""

    name: str


class Confirmed(_Asked, frozen=True, kw_only=True):
    """The name once more, typed by the host, so that nothing is replaced by accident."""

    confirm: str


# Jobs


class JobView(_Wire, frozen=True, kw_only=True):
    """Something that is to be done. What has `lapsed` is run by nobody any more and is taken up again by itself."""

    system: System
    kind: JobKind
    subject: Subject
    state: JobState
    due_at: Millis | None
    attempts: int
    owner: str | None
    lapsed: bool = False
    died_at: Millis | None = None
    last_error: str | None = None


class JobPage(_Wire, frozen=True, kw_only=True):
    """Some jobs: those to come by their due time, dead ones the latest first. A later page may hold an earlier one."""

    jobs: list[JobView]
    next: str | None


class JobName(_Asked, frozen=True, kw_only=True):
    """Which job is meant."""

    system: System
    kind: JobKind
    subject: Subject


# Accounts and sessions


class AccountView(_Wire, frozen=True, kw_only=True):
    """Somebody who has an account here."""

    account_id: AccountId
    name: str | None
    role: Role
    language: Language
    created_at: Millis
    last_seen_at: Millis
    deleted_at: Millis | None


class AccountSession(_Wire, frozen=True, kw_only=True):
    """A browser that is signed in; one that does not `count` any more has been signed out. `mine` is the asking one."""

    id: Sha256
    user_agent: str
    created_at: Millis
    last_used_at: Millis
    expires_at: Millis
    counts: bool
    mine: bool


class AccountSessions(_Wire, frozen=True, kw_only=True):
    """An account with its sessions, the last used first."""

    account: AccountView
    sessions: list[AccountSession]


class OnlinePerson(_Wire, frozen=True, kw_only=True):
    """Somebody who is connected to this process now. The address is cut short, to the network they come from."""

    account_id: AccountId
    name: str | None
    role: Role
    addresses: list[str]
    since: Millis
    sockets: int
    topics: list[str]


class Online(_Wire, frozen=True, kw_only=True):
    """Everybody who is connected to this process now, the longest first; `left_out` are beyond what is listed."""

    people: list[OnlinePerson]
    sockets: int
    left_out: int
