"""Reading pages: one partition in the order of its sort key, or a whole table in portions."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from zataku.table.backend import cost
from zataku.table.backend.condition_evaluation import check_expression, holds
from zataku.table.backend.expression import Expression
from zataku.table.backend.limits import PAGE_BYTES
from zataku.table.backend.port import Position, QueryItems, Row, Rows, ScanItems
from zataku.table.backend.table_schema import IndexSchema
from zataku.table.backend.validation import (
    attribute_names_in,
    check_filter,
    check_page,
    check_projection,
    checked_attributes,
)
from zataku.table.backend.values import Item, unpack
from zataku.table.embedded import keys
from zataku.table.embedded.catalog import Catalog, TablePart
from zataku.table.embedded.reads.page_sql import Way, query_way, scan_way
from zataku.table.embedded.reads.reader import ReadDesk

_NO_LIMIT = -1
# So many rows are fetched in one go, which is quicker than one by one; more might be far too many bytes.
_FEW = 64


class PageRead(NamedTuple):
    """A page, with the bytes that were looked at and the sizes of the items that a local index had fetched."""

    rows: Rows
    size: int
    fetched: Sequence[int]


class Page:
    """One page to be read, with everything checked that can be before reading."""

    __slots__ = (
        "_count_only",
        "_fetching",
        "_filter",
        "_held",
        "_index",
        "_lagging",
        "_limit",
        "_shown",
        "_table",
        "_visible",
        "_way",
    )

    def __init__(self, catalog: Catalog, read: QueryItems | ScanItems) -> None:
        part = catalog.part(read.table.name)
        index = None if read.index is None else part.ready_index(read.index).schema
        check_page(index, read.limit, read.strong)
        self._table = read.table.name
        self._index = index
        self._limit = read.limit
        self._filter: Expression | None = read.filter
        self._visible, self._shown = _seen(part, index, checked_attributes(read.attributes))
        self._held = None if index is None else part.schema.projected(index)
        self._fetching = self._held is not None and self._visible is None and not _all_held(self._held, read)
        if isinstance(read, QueryItems):
            self._count_only, self._lagging = read.count_only, read.lagging
            self._way: Way = query_way(part.schema, index, read)
        else:
            self._count_only = self._lagging = False
            self._way = scan_way(part.schema, index, read)
        if read.filter is not None:
            check_expression(read.filter)
            if isinstance(read, QueryItems):
                check_filter(part.schema, index, read.filter)

    def __call__(self, desk: ReadDesk) -> PageRead:
        """Read it."""
        part = desk.catalog.part(self._table)
        limit = self._limit
        sql = self._way.sql(part, None if self._index is None else part.ready_index(self._index))
        bindings = (*self._way.bindings, _NO_LIMIT if limit is None else limit)
        if self._held is not None:
            return self._of_entries(part, _gathered(desk, self._lagging, sql, bindings, self._held, self._fetching))
        found, size = _fetched(desk, self._lagging, sql, bindings, limit is not None and limit <= _FEW)
        resume: Position | None = None
        if found and (size > PAGE_BYTES or len(found) == limit):
            resume = keys.position(part.schema, self._index, unpack(found[-1]))
        rows = self._passed(found)
        return PageRead(Rows([] if self._count_only else rows, resume, len(rows), len(found)), size, ())

    def _passed(self, found: list[bytes]) -> list[Row]:
        if self._filter is None and (self._shown is None or self._count_only):
            return [*found]
        rows: list[Row] = []
        for packed in found:
            item: Item = unpack(packed)
            if self._filter is None or holds(self._filter, item):
                shown = self._shown
                rows.append(packed if shown is None else {name: item[name] for name in shown if name in item})
        return rows

    def _of_entries(self, part: TablePart, found: "_Gathered") -> PageRead:
        """The page of an index that holds only some attributes."""
        resume: Position | None = None
        if found.items and (found.full or len(found.items) == self._limit):
            resume = keys.position(part.schema, self._index, found.items[-1])
        rows: list[Row] = []
        for item in found.items:
            seen = item if self._visible is None else {name: item[name] for name in self._visible if name in item}
            if self._filter is None or holds(self._filter, seen):
                rows.append({name: seen[name] for name in self._shown or seen if name in seen})
        shown = Rows([] if self._count_only else rows, resume, len(rows), len(found.items))
        return PageRead(shown, found.size, found.fetched)


class _Gathered(NamedTuple):
    """The items of a page of entries, the bytes of the entries, the items that were fetched, and whether it is full."""

    items: list[Item]
    size: int
    fetched: list[int]
    full: bool


def _gathered(
    desk: ReadDesk, lagging: bool, sql: str, bindings: tuple[Any, ...], held: Iterable[str], fetching: bool
) -> _Gathered:
    """As many entries as a page holds. What is fetched for them takes room in it too, each item rounded up to 4 KB."""
    items: list[Item] = []
    fetched: list[int] = []
    size = room = 0
    cursor = desk.own_cursor(lagging)
    for packed, whole in cursor.execute(sql, bindings):
        item = unpack(packed)
        items.append(item)
        size += cost.entry_size(item, held)
        if fetching:
            fetched.append(whole)
            room += cost.READ_BYTES * -(-whole // cost.READ_BYTES)
        if size + room > PAGE_BYTES:
            cursor.close(True)
            return _Gathered(items, size, fetched, True)
    return _Gathered(items, size, fetched, False)


def _fetched(desk: ReadDesk, lagging: bool, sql: str, bindings: tuple[Any, ...], few: bool) -> tuple[list[bytes], int]:
    cursor = desk.own_cursor(lagging)
    cursor.execute(sql, bindings)
    if few:
        rows = cursor.fetchall()
        size = sum([weight for _, weight in rows])
        if size <= PAGE_BYTES:
            return [item for item, _ in rows], size
        return _cut(rows)
    found, size = _cut(cursor)
    if size > PAGE_BYTES:
        # A statement left half read would keep the transaction's snapshot.
        cursor.close(True)
    return found, size


def _cut(rows: Iterable[tuple[Any, ...]]) -> tuple[list[bytes], int]:
    """As many rows as a page holds: up to and including the one that makes it too large."""
    found: list[bytes] = []
    size = 0
    for item, weight in rows:
        found.append(item)
        size += weight
        if size > PAGE_BYTES:
            break
    return found, size


def _seen(
    part: TablePart, index: IndexSchema | None, wanted: tuple[str, ...] | None
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """The attributes that a filter sees and those that are shown; None for all."""
    held = None if index is None else part.schema.projected(index)
    if index is None or held is None:
        return None, wanted
    names = tuple(sorted(held))
    if wanted is None:
        return names, names
    if index.local:
        # What a local index lacks is fetched from the table.
        return None, wanted
    check_projection(part.schema, index, wanted)
    return names, wanted


def _all_held(held: frozenset[str], read: QueryItems | ScanItems) -> bool:
    """True when an index has everything that is shown or looked at, so that nothing is fetched from the table."""
    looked_at = set[str | int]() if read.filter is None else attribute_names_in(read.filter)
    return held.issuperset(read.attributes or ()) and held.issuperset(looked_at)
