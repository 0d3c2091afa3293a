"""The port between the typed layer and a place that keeps items.

A backend knows keys, items and expressions, nothing of entities. It checks what it is given as DynamoDB would and
raises the errors of `zataku.table.backend.errors`. `zataku.table.store.store` states what every operation promises.
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from zataku.table.backend.cost import ConsumedCapacity, Usage
from zataku.table.backend.expression import Action, Expression
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.backend.values import Item, KeyValue

# A stored item as it comes back: already unpacked, or the bytes of `packed.pack`.
Row: TypeAlias = Item | bytes
ItemKey: TypeAlias = tuple[KeyValue, KeyValue | None]
# Where a page ended: the key attributes of its last item by name (table keys and index keys).
Position: TypeAlias = dict[str, KeyValue]
Capability: TypeAlias = Literal["transactions", "streams", "ttl", "local-indexes", "backups"]
Progress: TypeAlias = Callable[[int, int], None]


class GetItem(Struct, frozen=True):
    """Read one item. `lagging` lets a strict store answer from a little while ago."""

    table: TableSchema
    key: ItemKey
    strong: bool = False
    attributes: tuple[str, ...] | None = None
    lagging: bool = False


class KeyRange(Struct, frozen=True):
    """A stretch of sort keys. "between" includes both ends; "begins" is for strings and bytes."""

    sign: Literal["=", "<", "<=", ">", ">=", "between", "begins"]
    low: KeyValue
    high: KeyValue | None = None


class QueryItems(Struct, frozen=True):
    """Read one partition of a table or index in the order of its sort key.

    `limit` counts the items looked at, before the filter, as the 1 MB of a page does.
    """

    table: TableSchema
    pk: KeyValue
    index: IndexSchema | None = None
    range: KeyRange | None = None
    newest_first: bool = False
    limit: int | None = None
    start: Position | None = None
    filter: Expression | None = None
    attributes: tuple[str, ...] | None = None
    strong: bool = False
    count_only: bool = False
    lagging: bool = False


class ScanItems(Struct, frozen=True):
    """Read a whole table or index, in no promised order; segment i of n for parallel jobs."""

    table: TableSchema
    index: IndexSchema | None = None
    limit: int | None = None
    start: Position | None = None
    filter: Expression | None = None
    attributes: tuple[str, ...] | None = None
    strong: bool = False
    segment: int = 0
    segments: int = 1


class Rows(Struct):
    """One page: `scanned` items were looked at, `count` passed the filter, `resume` is None at the end."""

    rows: list[Row]
    resume: Position | None
    count: int
    scanned: int


class PutItem(Struct, frozen=True):
    """Write a whole item, replacing what lies there."""

    table: TableSchema
    item: Item
    condition: Expression | None = None


class UpdateItem(Struct, frozen=True):
    """Change parts of an item; without a condition an absent item is created with its keys."""

    table: TableSchema
    key: ItemKey
    actions: tuple[Action, ...]
    condition: Expression | None = None


class DeleteItem(Struct, frozen=True):
    """Take an item away; an absent one is no error."""

    table: TableSchema
    key: ItemKey
    condition: Expression | None = None


class CheckItem(Struct, frozen=True):
    """Demand something of an item in a transaction without writing it."""

    table: TableSchema
    key: ItemKey
    condition: Expression


Write: TypeAlias = PutItem | UpdateItem | DeleteItem
TransactWrite: TypeAlias = PutItem | UpdateItem | DeleteItem | CheckItem


class Written(Struct):
    """What an accepted write found and left.

    `new` is there after a put or update, `old` after a delete. A backend may leave out the old state of a put or
    update: DynamoDB tells one of the two.
    """

    old: Row | None
    new: Row | None


class RawChange(Struct):
    """One record of a stream. `position` orders the records of one item and serves as checkpoint."""

    position: str
    kind: Literal["INSERT", "MODIFY", "REMOVE"]
    at: float
    keys: Item
    old: Row | None
    new: Row | None
    expired: bool = False


class IndexState(Struct):
    """How far an index is: queries are refused until it is active."""

    table: str
    index: str
    status: Literal["creating", "active"]
    done: int = 0
    total: int = 0


class Size(Struct):
    """How much lies in a table (`index` None) or one of its indexes, by DynamoDB's count of bytes."""

    table: str
    index: str | None
    items: int
    bytes: int


class Backend(Protocol):
    """A place that keeps items. Calls add the units they use to `consumed`."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this store can do beyond reading and writing single items."""
        ...

    async def start(self, tables: Sequence[TableSchema]) -> None:
        """Create or update the tables; new global indexes fill in the background, other changes are refused."""
        ...

    async def close(self) -> None:
        """Finish what was accepted, then let go of the store. Safe to call twice."""
        ...

    async def get(self, read: GetItem, consumed: ConsumedCapacity | None = None) -> Row | None:
        """One item, or None."""
        ...

    async def query(self, read: QueryItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a partition."""
        ...

    async def scan(self, read: ScanItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a table."""
        ...

    async def batch_get(
        self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None
    ) -> list[Row | Literal["unprocessed"] | None]:
        """At most 100 items, each by itself; any of them may come back unprocessed."""
        ...

    async def snapshot(self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None) -> list[Row | None]:
        """At most 100 items as they were at one moment."""
        ...

    async def write(self, write: Write, consumed: ConsumedCapacity | None = None) -> Written:
        """One conditional write, durable when this returns."""
        ...

    async def batch_write(
        self, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> list[PutItem | DeleteItem]:
        """At most 25 unconditional writes, each by itself; returns those that were not processed."""
        ...

    async def transact(
        self, writes: Sequence[TransactWrite], token: str | None = None, consumed: ConsumedCapacity | None = None
    ) -> None:
        """All or nothing, at most 100 items; the same token within ten minutes does nothing again."""
        ...

    async def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> list[RawChange]:
        """The oldest changes that the consumer has not acknowledged, waiting up to `wait` seconds for the first."""
        ...

    async def acknowledge(self, table: TableSchema, consumer: str, position: str) -> None:
        """The consumer is done with everything up to this position; durable."""
        ...

    async def forget(self, table: TableSchema, consumer: str) -> None:
        """Drop a consumer and its checkpoint."""
        ...

    async def sweep(self, table: TableSchema, now: float, limit: int) -> int:
        """Delete at most so many items whose TTL has passed; returns how many."""
        ...

    async def index_states(self) -> list[IndexState]:
        """The state of every index."""
        ...

    async def sizes(self) -> list[Size]:
        """How much lies in every table and index. DynamoDB's figures are some hours old."""
        ...

    async def facts(self) -> dict[str, str]:
        """What a host wants to know of the store itself, as names and values: where it lies, how it is protected."""
        ...

    async def add_usage(self, usage: Sequence[Usage]) -> None:
        """Add to the sums per access pattern that outlive the process."""
        ...

    async def usage(self) -> list[Usage]:
        """The sums per access pattern since the store was made."""
        ...

    async def backup(self, destination: str, progress: Progress | None = None) -> None:
        """Make a complete copy while the store goes on working: a file of that path, or a backup of that name."""
        ...

    async def restore(self, source: str, progress: Progress | None = None) -> None:
        """Replace everything by a backup; calls that arrive meanwhile wait."""
        ...

    async def secret(self) -> bytes:
        """32 random bytes made once for this store, for signing cursors."""
        ...
