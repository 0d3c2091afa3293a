"""The SQL that walks a page: where it begins, where it ends and in which direction."""

from functools import lru_cache
from typing import NamedTuple

from zataku.table.backend.errors import BadCursor
from zataku.table.backend.port import QueryItems, ScanItems
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.backend.validation import check_segment
from zataku.table.embedded import keys
from zataku.table.embedded.bounds import Bounds, bounds_of
from zataku.table.embedded.catalog import IndexPart, TablePart


class Way(NamedTuple):
    """The conditions and order of a page, and the values that go into them. A limit is bound behind them."""

    conditions: tuple[str, ...]
    order: tuple[str, ...]
    backwards: bool
    bindings: tuple[bytes | int, ...]

    def sql(self, part: TablePart, index: IndexPart | None) -> str:
        """The statement for a table or index as it lies in the file."""
        entries = None if index is None else index.entries
        return _sql(part.items, entries, self.conditions, self.order, self.backwards)


# Statements are few and kept ready by their text, so the text is made once.
@lru_cache(maxsize=1024)
def _sql(items: str, entries: str | None, conditions: tuple[str, ...], order: tuple[str, ...], backwards: bool) -> str:
    where = " AND ".join(conditions)
    by = ", ".join(f"{column} DESC" if backwards else column for column in order)
    if entries is None:
        return f"SELECT item, size FROM {items} AS k WHERE {where} ORDER BY {by} LIMIT ?"
    # CROSS JOIN keeps the index outside: its order is the page's order.
    joined = f"{entries} AS k CROSS JOIN {items} AS i ON i.id = k.id"
    return f"SELECT i.item, i.size FROM {joined} WHERE {where} ORDER BY {by} LIMIT ?"


def query_way(table: TableSchema, index: IndexSchema | None, read: QueryItems) -> Way:
    """The way through one partition."""
    if index is None:
        return _table_way(table, read)
    pk = keys.partition(index.pk, read.pk)
    bounds = bounds_of(index.sk, read.range)
    conditions = ["k.ipk = ?"]
    bindings: list[bytes | int] = [pk]
    backwards = read.newest_first
    if read.start is not None:
        ipk, isk, *own = keys.of_position(table, index, read.start)
        _refuse_other(pk, ipk)
        bounds, behind = _continued(bounds, isk, backwards)
        if behind:
            conditions.append(f"(k.isk, k.pk, k.sk) {'<' if backwards else '>'} (?, ?, ?)")
            bindings += [isk, *own]
    _add_bounds("k.isk", bounds, conditions, bindings)
    return Way(tuple(conditions), ("k.isk", "k.pk", "k.sk"), backwards, tuple(bindings))


def _table_way(table: TableSchema, read: QueryItems) -> Way:
    pk = keys.partition(table.pk, read.pk)
    bounds = bounds_of(table.sk, read.range)
    conditions = ["k.pk = ?"]
    bindings: list[bytes | int] = [pk]
    if read.start is not None:
        start_pk, start_sk = keys.of_position(table, None, read.start)
        _refuse_other(pk, start_pk)
        bounds = bounds.before(start_sk) if read.newest_first else bounds.after(start_sk)
    _add_bounds("k.sk", bounds, conditions, bindings)
    return Way(tuple(conditions), ("k.sk",), read.newest_first, tuple(bindings))


def _continued(bounds: Bounds, isk: bytes, backwards: bool) -> tuple[Bounds, bool]:
    """The bounds beside the place to go on from, which takes over one of the ends unless it lies outside."""
    if backwards:
        end, included = bounds.high, bounds.high_included
        outside = end is not None and (end < isk or (end == isk and not included))
        return (bounds, False) if outside else (bounds._replace(high=None), True)
    end, included = bounds.low, bounds.low_included
    outside = end is not None and (end > isk or (end == isk and not included))
    return (bounds, False) if outside else (bounds._replace(low=None), True)


def _add_bounds(column: str, bounds: Bounds, conditions: list[str], bindings: list[bytes | int]) -> None:
    if bounds.low is not None:
        conditions.append(f"{column} {'>=' if bounds.low_included else '>'} ?")
        bindings.append(bounds.low)
    if bounds.high is not None:
        conditions.append(f"{column} {'<=' if bounds.high_included else '<'} ?")
        bindings.append(bounds.high)


def _refuse_other(wanted: bytes, given: bytes) -> None:
    if wanted != given:
        raise BadCursor("The position lies in another partition. Start from the first page.")


def scan_way(table: TableSchema, index: IndexSchema | None, read: ScanItems) -> Way:
    """The way through everything, in the order of the keys so that it can go on after an item that has gone."""
    check_segment(read.segment, read.segments)
    order = ("k.pk", "k.sk") if index is None else ("k.ipk", "k.isk", "k.pk", "k.sk")
    start = (b"",) * len(order) if read.start is None else keys.of_position(table, index, read.start)
    conditions = [f"({', '.join(order)}) > ({', '.join('?' * len(order))})"]
    bindings: list[bytes | int] = [*start]
    if read.segments > 1:
        # An item keeps its id as long as it lives, so it stays in its segment; and the id lies in every index.
        conditions.append("k.id % ? = ?")
        bindings += [read.segments, read.segment]
    return Way(tuple(conditions), order, False, tuple(bindings))
