"""The SQL of a page: the range of keys it reads, where it continues, and its direction."""

from functools import lru_cache
from typing import NamedTuple

from zataku.table.backend.errors import BadCursor, BadInput
from zataku.table.backend.limits import SORT_KEY_BYTES
from zataku.table.backend.port import KeyRange, QueryItems, ScanItems
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.backend.validation import check_segment
from zataku.table.embedded.catalog import StoredIndex, StoredTable
from zataku.table.embedded.rows import encode_key, partition_key, position_key


class PageQuery(NamedTuple):
    """Conditions and order of a page, and the values bound to them. A limit is bound after them."""

    conditions: tuple[str, ...]
    order: tuple[str, ...]
    descending: bool
    bindings: tuple[bytes | int, ...]

    def sql(self, table: StoredTable, index: StoredIndex | None) -> str:
        """The statement for a table or index."""
        entries = None if index is None else index.entries
        return _sql(table.items, entries, self.conditions, self.order, self.descending)


# SQLite caches prepared statements by their text, of which there are few.
@lru_cache(maxsize=1024)
def _sql(items: str, entries: str | None, conditions: tuple[str, ...], order: tuple[str, ...], descending: bool) -> str:
    where = " AND ".join(conditions)
    by = ", ".join(f"{column} DESC" if descending else column for column in order)
    if entries is None:
        return f"SELECT item, size FROM {items} AS k WHERE {where} ORDER BY {by} LIMIT ?"
    # CROSS JOIN keeps the index as the outer table: its order is the page's order.
    joined = f"{entries} AS k CROSS JOIN {items} AS i ON i.id = k.id"
    return f"SELECT i.item, i.size FROM {joined} WHERE {where} ORDER BY {by} LIMIT ?"


class Bounds(NamedTuple):
    """Both ends of a range of sort keys, None for an open end."""

    low: bytes | None = None
    low_included: bool = True
    high: bytes | None = None
    high_included: bool = True

    def after(self, key: bytes) -> "Bounds":
        """The part of the range after a key."""
        if self.low is not None and self.low > key:
            return self
        return self._replace(low=key, low_included=False)

    def before(self, key: bytes) -> "Bounds":
        """The part of the range before a key."""
        if self.high is not None and self.high < key:
            return self
        return self._replace(high=key, high_included=False)


def bounds_of(sort_key: KeyAttribute | None, key_range: KeyRange | None) -> Bounds:
    """The ends of a range of sort keys."""
    if key_range is None:
        return Bounds()
    if sort_key is None:
        raise BadInput("The table or index has no sort key, so it has no range of them. Leave the range out.")
    low = encode_key(sort_key, key_range.low, SORT_KEY_BYTES)
    if key_range.sign == "begins":
        if sort_key.type == "N":
            raise BadInput(f"{sort_key.name} is a number, which has no beginning. Use between.")
        return Bounds(low, True, _prefix_end(low), False)
    if key_range.sign == "between":
        high = encode_key(sort_key, key_range.high, SORT_KEY_BYTES)
        if high < low:
            raise BadInput("The upper end of the range is below its lower end. Swap them.")
        return Bounds(low, True, high, True)
    if key_range.sign == "=":
        return Bounds(low, True, low, True)
    if key_range.sign in ("<", "<="):
        return Bounds(None, True, low, key_range.sign == "<=")
    return Bounds(low, key_range.sign == ">=", None)


def _prefix_end(prefix: bytes) -> bytes | None:
    """The first key after all keys with the prefix; None when there is none."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None


def partition_query(table: TableSchema, index: IndexSchema | None, read: QueryItems) -> PageQuery:
    """A page of one partition."""
    if index is None:
        return _table_query(table, read)
    pk = partition_key(index.pk, read.pk)
    bounds = bounds_of(index.sk, read.range)
    conditions = ["k.ipk = ?"]
    bindings: list[bytes | int] = [pk]
    descending = read.newest_first
    if read.start is not None:
        ipk, isk, *own = position_key(table, index, read.start)
        _check_partition(pk, ipk)
        bounds, is_inside = _continue_at(bounds, isk, descending)
        if is_inside:
            conditions.append(f"(k.isk, k.pk, k.sk) {'<' if descending else '>'} (?, ?, ?)")
            bindings += [isk, *own]
    _add_bounds("k.isk", bounds, conditions, bindings)
    return PageQuery(tuple(conditions), ("k.isk", "k.pk", "k.sk"), descending, tuple(bindings))


def _table_query(table: TableSchema, read: QueryItems) -> PageQuery:
    pk = partition_key(table.pk, read.pk)
    bounds = bounds_of(table.sk, read.range)
    conditions = ["k.pk = ?"]
    bindings: list[bytes | int] = [pk]
    if read.start is not None:
        start_pk, start_sk = position_key(table, None, read.start)
        _check_partition(pk, start_pk)
        bounds = bounds.before(start_sk) if read.newest_first else bounds.after(start_sk)
    _add_bounds("k.sk", bounds, conditions, bindings)
    return PageQuery(tuple(conditions), ("k.sk",), read.newest_first, tuple(bindings))


def _continue_at(bounds: Bounds, isk: bytes, descending: bool) -> tuple[Bounds, bool]:
    """The bounds without the end that the start position replaces, and whether that position is inside them."""
    if descending:
        end, included = bounds.high, bounds.high_included
        is_outside = end is not None and (end < isk or (end == isk and not included))
        return (bounds, False) if is_outside else (bounds._replace(high=None), True)
    end, included = bounds.low, bounds.low_included
    is_outside = end is not None and (end > isk or (end == isk and not included))
    return (bounds, False) if is_outside else (bounds._replace(low=None), True)


def _add_bounds(column: str, bounds: Bounds, conditions: list[str], bindings: list[bytes | int]) -> None:
    if bounds.low is not None:
        conditions.append(f"{column} {'>=' if bounds.low_included else '>'} ?")
        bindings.append(bounds.low)
    if bounds.high is not None:
        conditions.append(f"{column} {'<=' if bounds.high_included else '<'} ?")
        bindings.append(bounds.high)


def _check_partition(expected: bytes, actual: bytes) -> None:
    if expected != actual:
        raise BadCursor("The position is in another partition. Start from the first page.")


def scan_query(table: TableSchema, index: IndexSchema | None, read: ScanItems) -> PageQuery:
    """A page of a whole table or index, in key order so that it can continue after an item that was deleted."""
    check_segment(read.segment, read.segments)
    order = ("k.pk", "k.sk") if index is None else ("k.ipk", "k.isk", "k.pk", "k.sk")
    start = (b"",) * len(order) if read.start is None else position_key(table, index, read.start)
    conditions = [f"({', '.join(order)}) > ({', '.join('?' * len(order))})"]
    bindings: list[bytes | int] = [*start]
    if read.segments > 1:
        # An item keeps its id as long as it exists, so it stays in its segment; every index row has the id too.
        conditions.append("k.id % ? = ?")
        bindings += [read.segments, read.segment]
    return PageQuery(tuple(conditions), order, False, tuple(bindings))
