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
    """Units of reading one item or one page: sizes are rounded up to 4 KB, eventually consistent reads cost half.

    An absent item and an empty page cost as much as the smallest item.
    """
    units = -(-size // READ_BYTES) or 1
    return units if strong else units / 2


def snapshot_read(size: int) -> float:
    """Units of reading one item in a transaction: twice a strong read, for its two phases."""
    return 2 * read(size, True)


def fetches(sizes: Iterable[int], strong: bool) -> float:
    """Units of the items fetched for a local index, each rounded up separately. The index page is not included."""
    return sum(read(size, strong) for size in sizes)


def write(old: int, new: int) -> float:
    """Units of a put, update or delete: the larger size before and after, rounded up to 1 KB; size 0 for no item.

    Deleting an absent item costs one unit, and so does any write to a small item, even without a change.
    """
    size = max(old, new)
    return -(-size // WRITE_BYTES) or 1


def failed_write(old: int) -> float:
    """Units of a write whose condition fails: by the stored item, at least one unit; no index is written."""
    return write(old, 0)


def transact_write(old: int, new: int) -> float:
    """Units of a write in a transaction: twice, for its two phases; a check costs a write of the checked item.

    Indexes are updated after the transaction at their usual cost.
    """
    return 2 * write(old, new)


def entry_write(old: int | None, new: int | None, moved: bool) -> float:
    """Units of updating one index entry: sizes before and after, None for no entry; `moved` when its key changes.

    An entry that is added, removed or changed in place is one write of the larger size; one whose key changes is
    deleted and put again, which is two. Not for an unchanged entry, which costs nothing.
    """
    if old is None or new is None:
        size = new if old is None else old
        return 0 if size is None else write(size, 0)
    return write(old, 0) + write(0, new) if moved else write(old, new)


def entry_size(item: Item, held: Iterable[str]) -> int:
    """Bytes of an index entry: the projected attributes that the item has, keys included."""
    size = 0
    for name in held:
        if name in item:
            value = item[name]
            size += len(name) if name.isascii() else len(name.encode())
            size += len(value) if type(value) is str and value.isascii() else size_of(value)
    return size


# A table by its full name, and one of its indexes, or None for the table itself.
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
        # Every call has one of these, and most use one resource only: the dictionary is made for the second.
        self._first: Resource | None = None
        self._by_resource: dict[Resource, tuple[float, float]] | None = None

    def add(self, table: str, index: str | None = None, *, reads: float = 0.0, writes: float = 0.0) -> None:
        """Add units used on one table or index."""
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
        """Read and write units by table and index."""
        if self._by_resource is not None:
            return self._by_resource
        return {} if self._first is None else {self._first: (self.reads, self.writes)}

    def add_all(self, other: "ConsumedCapacity") -> None:
        """Add all units of another instance."""
        for (table, index), (reads, writes) in other.by_resource.items():
            self.add(table, index, reads=reads, writes=writes)

    def __repr__(self) -> str:
        return f"ConsumedCapacity(reads={self.reads:g}, writes={self.writes:g})"


class Usage(Struct):
    """Usage of one access pattern: the number of calls, and the sum of their units."""

    pattern: str
    calls: int = 0
    reads: float = 0.0
    writes: float = 0.0

    def add(self, calls: int, reads: float, writes: float) -> None:
        """Add calls and units."""
        self.calls += calls
        self.reads += reads
        self.writes += writes
