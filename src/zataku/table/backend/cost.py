"""Cost of calls in read and write units by AWS's published rules, and the units that calls consumed.

The rules are those of the DynamoDB Developer Guide: "read and write operations" for tables, "provisioned throughput
considerations" of global and local secondary indexes, "capacity management for transactions". Sizes are those of
`zataku.table.backend.values`; the 100 bytes that AWS adds to each item and index entry count for storage only.
"""

from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct

from zataku.table.backend.values import Item, size_of

READ_BYTES = 4096
WRITE_BYTES = 1024


def read(size: int, strong: bool) -> float:
    """Reading one item, or one page: sizes are rounded up to 4 KB, eventually consistent reads cost half.

    An item that is not there costs what the smallest one does, and so does a page that finds nothing.
    """
    units = -(-size // READ_BYTES) or 1
    return units if strong else units / 2


def snapshot_read(size: int) -> float:
    """Reading one item in a transaction costs twice a strong read, for its two phases."""
    return 2 * read(size, True)


def fetches(sizes: Iterable[int], strong: bool) -> float:
    """What a local index lacks is fetched: each whole item is read, rounded up by itself, beside the index's page."""
    return sum(read(size, strong) for size in sizes)


def write(old: int, new: int) -> float:
    """Putting, updating or deleting: the larger of the item before and after, rounded up to 1 KB; 0 for no item.

    Deleting what is not there costs one unit, and so does any write to a small item, even one that changes nothing.
    """
    size = max(old, new)
    return -(-size // WRITE_BYTES) or 1


def failed_write(old: int) -> float:
    """A write whose condition fails is paid by the item that lies there, at least one unit; no index is written."""
    return write(old, 0)


def transact_write(old: int, new: int) -> float:
    """A write in a transaction costs its table twice, for its two phases; a check is a write of the item it looks at.

    Indexes follow after the transaction and cost what they cost outside it.
    """
    return 2 * write(old, new)


def entry_write(old: int | None, new: int | None, moved: bool) -> float:
    """Keeping one index: sizes of its entry before and after, None for no entry; `moved` when its key changes.

    An entry that comes, goes or changes in place is one write, of the larger size; one whose key changes is deleted and
    put anew, which is two. Not to be asked for an entry that stays as it is: that costs nothing.
    """
    if old is None or new is None:
        there = new if old is None else old
        return 0 if there is None else write(there, 0)
    return write(old, 0) + write(0, new) if moved else write(old, new)


def entry_size(item: Item, held: Iterable[str]) -> int:
    """Bytes of an index entry: the attributes that the index holds, keys included, as far as the item has them."""
    size = 0
    for name in held:
        if name in item:
            value = item[name]
            size += len(name) if name.isascii() else len(name.encode())
            size += len(value) if type(value) is str and value.isascii() else size_of(value)
    return size


# A table by its full name, and one of its indexes or None for the table itself.
Resource: TypeAlias = tuple[str, str | None]


_NOTHING = (0.0, 0.0)


class ConsumedCapacity:
    """The read and write units of one call, or of several, by table and index.

    A backend adds what a call used, failed calls included: a write whose condition fails is billed too.
    """

    __slots__ = ("_by_resource", "_first", "reads", "writes")

    def __init__(self) -> None:
        self.reads = 0.0
        self.writes = 0.0
        # Every call has one of these, and most calls use one resource only: a second one makes the dictionary.
        self._first: Resource | None = None
        self._by_resource: dict[Resource, tuple[float, float]] | None = None

    def add(self, table: str, index: str | None = None, *, reads: float = 0.0, writes: float = 0.0) -> None:
        """Something was used in one resource."""
        resource = (table, index)
        if self._first is None:
            self._first = resource
        elif self._by_resource is not None or resource != self._first:
            by_resource = self._by_resource = self.by_resource if self._by_resource is None else self._by_resource
            before = by_resource.get(resource, _NOTHING)
            by_resource[resource] = (before[0] + reads, before[1] + writes)
        self.reads += reads
        self.writes += writes

    @property
    def by_resource(self) -> dict[Resource, tuple[float, float]]:
        """Read and write units by resource."""
        if self._by_resource is not None:
            return self._by_resource
        return {} if self._first is None else {self._first: (self.reads, self.writes)}

    def add_all(self, other: "ConsumedCapacity") -> None:
        """Add all of another consumed."""
        for (table, index), (reads, writes) in other.by_resource.items():
            self.add(table, index, reads=reads, writes=writes)

    def __repr__(self) -> str:
        return f"ConsumedCapacity(reads={self.reads:g}, writes={self.writes:g})"


class Usage(Struct):
    """What one access pattern has used: how often it was asked, and the units of all calls together."""

    pattern: str
    calls: int = 0
    reads: float = 0.0
    writes: float = 0.0

    def add(self, calls: int, reads: float, writes: float) -> None:
        """So much more was used."""
        self.calls += calls
        self.reads += reads
        self.writes += writes
