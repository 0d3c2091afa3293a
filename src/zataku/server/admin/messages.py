"""Requests and responses of the admin page.

Times are milliseconds since 1970. A list with more pages has `next`, which is sent back as `after`.
"""

from typing import Literal, TypeAlias

import msgspec

from zataku.platform.limits import AccountId, JobKind, JobState, Language, Role, Sha256, Subject, System
from zataku.table import KeyType, Millis


class _Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    pass


class _Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    pass


# GET overview


class StoreFacts(_Response, frozen=True, kw_only=True):
    """The store's location, without secrets, its capabilities and its own facts."""

    place: str
    kind: Literal["embedded", "dynamodb"]
    capabilities: list[str]
    facts: dict[str, str]


class RoomCount(_Response, frozen=True, kw_only=True):
    """The number of running rooms of a system in all processes, and of the people in them."""

    kind: str
    rooms: int
    people: int


class JobCount(_Response, frozen=True, kw_only=True):
    """The number of jobs by state; lower bounds when `more` is true."""

    waiting: int
    running: int
    dead: int
    more: bool


class Overview(_Response, frozen=True, kw_only=True):
    """The state of the server. `process` is this process; sockets are its own."""

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


class MetricHistory(_Response, frozen=True, kw_only=True):
    """Metrics of the last minutes: `at` has the times, each of the other lists as many values.

    A point is the mean of the `step_seconds` up to its time, and the maximum for `p95_ms` and `loop_lag_ms`. Null means
    no value: there were no requests, or the server did not run.
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


class Prices(_Response, frozen=True, kw_only=True):
    """DynamoDB's prices on demand, in a region and as of a date."""

    region: str
    as_of: str
    currency: str
    million_reads: float
    million_writes: float
    gigabyte_month: float


class MonthCost(_Response, frozen=True, kw_only=True):
    """The cost of a month at the use since the server started."""

    reads: float
    writes: float
    storage: float
    total: float


class UnitsUsed(_Response, frozen=True, kw_only=True):
    """The number of calls, and the units of all of them."""

    calls: int
    read_units: float
    write_units: float


PatternKind: TypeAlias = Literal["item", "query", "write", "other"]
"""`other` is for calls without a declared pattern, such as a scan."""


class PatternFigures(_Response, frozen=True, kw_only=True):
    """The use of one access pattern since the server started, and since the store was created."""

    name: str
    kind: PatternKind
    says: str
    run: UnitsUsed
    ever: UnitsUsed
    units_per_call: float
    month: float


class IndexFigures(_Response, frozen=True, kw_only=True):
    """An index: the progress of its creation, and its size."""

    name: str
    state: Literal["creating", "active"]
    done: int
    total: int
    items: int
    bytes: int


class TableFigures(_Response, frozen=True, kw_only=True):
    """A table of a design: its size and cost. `name` is the one in the store."""

    name: str
    system: str
    kinds: list[str]
    items: int
    bytes: int
    indexes: list[IndexFigures]
    patterns: list[PatternFigures]
    month: MonthCost


class Tables(_Response, frozen=True, kw_only=True):
    """All tables. Sizes are as of `sized_at`; DynamoDB's own are some hours older. `others` belong to no table."""

    tables: list[TableFigures]
    others: list[PatternFigures]
    month: MonthCost
    prices: Prices
    measured_seconds: float
    sized_at: Millis


class KeyName(_Response, frozen=True, kw_only=True):
    """A key attribute."""

    name: str
    type: KeyType


class IndexShape(_Response, frozen=True, kw_only=True):
    """The keys of an index, and its projection."""

    name: str
    pk: KeyName
    sk: KeyName | None
    local: bool
    projection: Literal["ALL", "KEYS_ONLY", "INCLUDE"]
    attributes: list[str]


class FieldShape(_Response, frozen=True, kw_only=True):
    """A field by its attribute name. A secret one is never shown."""

    name: str
    type: str
    says: str
    optional: bool
    secret: bool


class EntityShape(_Response, frozen=True, kw_only=True):
    """An entity: `keys` has the template of each key attribute, such as `ACCOUNT#<accountId>`."""

    name: str
    says: str
    keys: dict[str, str]
    fields: list[FieldShape]


class TableDetail(_Response, frozen=True, kw_only=True):
    """One table with its design."""

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


class ItemView(_Response, frozen=True, kw_only=True):
    """An item as it is stored.

    Attributes are in DynamoDB's JSON, `{"S": "text"}`, `{"N": "12.5"}`, `{"M": {…}}`, keys first. Those named in
    `masked` are secret and shown as dots; a key that contains one has its first letters only. `kind` is null when no
    entity of the design matches. `problem` says why the item does not fit its entity; null when it fits.
    """

    kind: str | None
    key: dict[str, dict[str, object]]
    attributes: dict[str, dict[str, object]]
    masked: list[str]
    bytes: int
    problem: str | None


class ItemPage(_Response, frozen=True, kw_only=True):
    """A page of items, with its cost and the cursor of the next page. `scanned` items were looked at for it."""

    items: list[ItemView]
    scanned: int
    read_units: float
    next: str | None


# Backups


class BackupView(_Response, frozen=True, kw_only=True):
    """A backup. `making` is in progress, `done` of `total`; `failed` and `damaged` have the reason in `problem`.

    `unchecked` ones are verified when they are listed.
    """

    name: str
    state: Literal["making", "unchecked", "ready", "damaged", "failed"]
    bytes: int
    at: Millis
    done: int = 0
    total: int = 0
    problem: str | None = None


class RestoreProgress(_Response, frozen=True, kw_only=True):
    """The last restore since the server started: the backup `saved_as` is created, then everything is replaced."""

    name: str
    state: Literal["saving", "restoring", "done", "failed"]
    saved_as: str
    at: Millis
    done: int = 0
    total: int = 0
    problem: str | None = None


class Backups(_Response, frozen=True, kw_only=True):
    """All backups, the newest first. Only `files` can be downloaded, uploaded, restored and deleted here."""

    backups: list[BackupView]
    files: bool
    most_upload_bytes: int
    restoring: RestoreProgress | None


class BackupStarted(_Response, frozen=True, kw_only=True):
    """A backup is being created under this name."""

    name: str


class RestoreConfirmation(_Request, frozen=True, kw_only=True):
    """The typed name of the backup, so that nothing is replaced by accident."""

    confirm: str


# Jobs


class JobView(_Response, frozen=True, kw_only=True):
    """A job. One that has `lapsed` has lost its runner and will be claimed again."""

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


class JobPage(_Response, frozen=True, kw_only=True):
    """A page of jobs by due time, dead ones the latest first. Pages may overlap in time."""

    jobs: list[JobView]
    next: str | None


class JobName(_Request, frozen=True, kw_only=True):
    """The identity of a job."""

    system: System
    kind: JobKind
    subject: Subject


# Accounts and sessions


class AccountView(_Response, frozen=True, kw_only=True):
    """An account."""

    account_id: AccountId
    name: str | None
    role: Role
    language: Language
    created_at: Millis
    last_seen_at: Millis
    deleted_at: Millis | None


class AccountSession(_Response, frozen=True, kw_only=True):
    """A session; one that does not `count` is signed out. `mine` is the session of the request."""

    id: Sha256
    user_agent: str
    created_at: Millis
    last_used_at: Millis
    expires_at: Millis
    counts: bool
    mine: bool


class AccountSessions(_Response, frozen=True, kw_only=True):
    """An account with its sessions, the last used first."""

    account: AccountView
    sessions: list[AccountSession]


class OnlinePerson(_Response, frozen=True, kw_only=True):
    """A person who is connected to this process. Addresses are truncated to their networks."""

    account_id: AccountId
    name: str | None
    role: Role
    addresses: list[str]
    since: Millis
    sockets: int
    topics: list[str]


class Online(_Response, frozen=True, kw_only=True):
    """Everyone who is connected to this process, the longest first; `left_out` counts those beyond the limit."""

    people: list[OnlinePerson]
    sockets: int
    left_out: int
