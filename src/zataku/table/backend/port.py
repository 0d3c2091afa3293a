"""The port between the typed store and a database of plain items.

A backend handles keys, items and expressions; it has no entities. It validates requests as DynamoDB does and raises
the errors of `zataku.table.backend.errors`. `Backend` documents what every operation promises; the guarantees of all
of them (durability, consistency, order) are those of `zataku.table.store.store`.
"""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from zataku.table.backend.cost import ConsumedCapacity, Usage
from zataku.table.backend.expression import Action, Expression
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.backend.values import Item, KeyValue

# A stored item as a backend returns it: unpacked, or the bytes of `values.pack`.
Row: TypeAlias = Item | bytes
ItemKey: TypeAlias = tuple[KeyValue, KeyValue | None]
# The end of a page: the key attributes of its last item by name (table keys and index keys).
Position: TypeAlias = dict[str, KeyValue]
Capability: TypeAlias = Literal["transactions", "streams", "ttl", "local-indexes", "backups"]
Progress: TypeAlias = Callable[[int, int], None]


class GetItem(Struct, frozen=True):
    """Read one item. `lagging` allows fault injection to answer from an earlier state."""

    table: TableSchema
    key: ItemKey
    strong: bool = False
    attributes: tuple[str, ...] | None = None
    lagging: bool = False


class KeyRange(Struct, frozen=True):
    """A range of sort keys. "between" includes both ends; "begins" is for strings and bytes."""

    sign: Literal["=", "<", "<=", ">", ">=", "between", "begins"]
    low: KeyValue
    high: KeyValue | None = None


class QueryItems(Struct, frozen=True):
    """Read one partition of a table or index in the order of its sort key.

    `limit` counts the items evaluated before the filter, as does the 1 MB limit of a page.
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
    """Read a whole table or index in unspecified order; segment i of n for parallel jobs."""

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
    """One page: `scanned` items were evaluated, `count` passed the filter, `resume` is None at the end."""

    rows: list[Row]
    resume: Position | None
    count: int
    scanned: int


class PutItem(Struct, frozen=True):
    """Write a whole item, replacing an existing one."""

    table: TableSchema
    item: Item
    condition: Expression | None = None


class UpdateItem(Struct, frozen=True):
    """Edit an item; without a condition an absent item is created with its keys."""

    table: TableSchema
    key: ItemKey
    actions: tuple[Action, ...]
    condition: Expression | None = None


class DeleteItem(Struct, frozen=True):
    """Delete an item; an absent one is not an error."""

    table: TableSchema
    key: ItemKey
    condition: Expression | None = None


class CheckItem(Struct, frozen=True):
    """Require a condition of an item in a transaction without writing it."""

    table: TableSchema
    key: ItemKey
    condition: Expression


Write: TypeAlias = PutItem | UpdateItem | DeleteItem
TransactWrite: TypeAlias = PutItem | UpdateItem | DeleteItem | CheckItem


class Written(Struct):
    """The states of an item before and after a write.

    `new` is set after a put or update, `old` after a delete. A backend may omit the old state of a put or update, since
    DynamoDB returns one of the two.
    """

    old: Row | None
    new: Row | None


class RawChange(Struct):
    """One stream record. `position` orders the records of one item and serves as checkpoint."""

    position: str
    kind: Literal["INSERT", "MODIFY", "REMOVE"]
    at: float
    keys: Item
    old: Row | None
    new: Row | None
    expired: bool = False


class IndexState(Struct):
    """Fill state of an index: queries raise `IndexNotReady` until it is active."""

    table: str
    index: str
    status: Literal["creating", "active"]
    done: int = 0
    total: int = 0


class Size(Struct):
    """Size of a table (`index` None) or one of its indexes, in items and in bytes as DynamoDB counts them."""

    table: str
    index: str | None
    items: int
    bytes: int


class Backend(Protocol):
    """A database of plain items.

    Every call validates its request before it touches stored items, and raises a `BadInput` for an invalid one. A call
    that is given `consumed` adds the units it uses to it, also when it raises. `Throttled`, `Conflict` and
    `StoreUnreachable` mean that nothing was written and the call may be repeated; `ResultUnknown` means that a write
    may have happened. After `close`, every call raises `StoreClosed`.
    """

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Optional features of this backend, beyond reading and writing single items."""
        ...

    async def start(self, tables: Sequence[TableSchema]) -> None:
        """Open the backend and create or update the tables.

        New global indexes are filled in the background. A change that stored items cannot follow, such as other keys
        or local indexes, raises `SchemaRefused`.
        """
        ...

    async def close(self) -> None:
        """Finish accepted writes and release the database. Safe to call twice."""
        ...

    async def get(self, read: GetItem, consumed: ConsumedCapacity | None = None) -> Row | None:
        """One item, or None. Expired items are returned: the typed store hides them."""
        ...

    async def query(self, read: QueryItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a partition, of at most 1 MB evaluated items."""
        ...

    async def scan(self, read: ScanItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a table or index, of at most 1 MB evaluated items."""
        ...

    async def batch_get(
        self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None
    ) -> list[Row | Literal["unprocessed"] | None]:
        """At most 100 items in the order of the reads, not atomically; any of them may be left unprocessed."""
        ...

    async def snapshot(self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None) -> list[Row | None]:
        """At most 100 items as of one moment."""
        ...

    async def write(self, write: Write, consumed: ConsumedCapacity | None = None) -> Written:
        """One conditional write, durable on return. Raises `ConditionFailed` with the current item."""
        ...

    async def batch_write(
        self, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> list[PutItem | DeleteItem]:
        """At most 25 unconditional writes, not atomically; returns the unprocessed ones."""
        ...

    async def transact(
        self, writes: Sequence[TransactWrite], token: str | None = None, consumed: ConsumedCapacity | None = None
    ) -> None:
        """An atomic transaction of at most 100 items, durable on return.

        Raises `TransactionCancelled` with one reason for each item. A token makes it idempotent for ten minutes; the
        same token with other writes raises `TokenReused`.
        """
        ...

    async def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> list[RawChange]:
        """The oldest unacknowledged changes of a consumer, waiting up to `wait` seconds for the first.

        A consumer is registered by its first call and starts at the oldest retained change. Changes of one item are in
        order; each is delivered at least once.
        """
        ...

    async def acknowledge(self, table: TableSchema, consumer: str, position: str) -> None:
        """Store the checkpoint of a consumer: everything up to this position is processed. Durable on return."""
        ...

    async def forget(self, table: TableSchema, consumer: str) -> None:
        """Delete a consumer and its checkpoint."""
        ...

    async def sweep(self, table: TableSchema, now: float, limit: int) -> int:
        """Delete at most `limit` items that are expired at `now`; returns how many."""
        ...

    async def index_states(self) -> list[IndexState]:
        """The state of every index."""
        ...

    async def sizes(self) -> list[Size]:
        """Size of every table and index. DynamoDB's figures are some hours old."""
        ...

    async def facts(self) -> dict[str, str]:
        """Facts about the database for its host, as names and values: location, size, protection."""
        ...

    async def add_usage(self, usage: Sequence[Usage]) -> None:
        """Add to the persistent usage sums per access pattern."""
        ...

    async def usage(self) -> list[Usage]:
        """The usage sums per access pattern since the store was created."""
        ...

    async def backup(self, destination: str, progress: Progress | None = None) -> None:
        """Make a complete online backup: a file at that path, or a DynamoDB backup of that name."""
        ...

    async def restore(self, source: str, progress: Progress | None = None) -> None:
        """Replace all content by a backup; concurrent calls wait."""
        ...

    async def secret(self) -> bytes:
        """32 random bytes, generated once for this store, for signing cursors."""
        ...
