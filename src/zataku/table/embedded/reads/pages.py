"""Reads of pages: one partition in the order of its sort key, or a whole table in portions; and what they cost."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from zataku.table.backend import cost
from zataku.table.backend.condition_evaluation import check_expression, holds
from zataku.table.backend.cost import ConsumedCapacity
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
from zataku.table.embedded.catalog import Catalog, StoredTable
from zataku.table.embedded.reads.page_sql import PageQuery, partition_query, scan_query
from zataku.table.embedded.reads.reader import ReadSession
from zataku.table.embedded.rows import position_of

_NO_LIMIT = -1
# Up to this many rows are fetched at once, which is faster than one by one; more could be far more than a page.
_MAX_ROWS_AT_ONCE = 64


class PageResult(NamedTuple):
    """A page, the bytes that were read for it, and the sizes of the items that were fetched for a local index."""

    rows: Rows
    size: int
    fetched_sizes: Sequence[int]


class PageRead:
    """A read of one page, checked as far as possible without reading it."""

    __slots__ = (
        "_count_only",
        "_fetches_items",
        "_filter",
        "_index",
        "_lagging",
        "_limit",
        "_projected",
        "_query",
        "_returned",
        "_table",
        "_visible",
    )

    def __init__(self, catalog: Catalog, read: QueryItems | ScanItems) -> None:
        table = catalog[read.table.name]
        index = None if read.index is None else table.ready_index(read.index).schema
        check_page(index, read.limit, read.strong)
        self._table = read.table.name
        self._index = index
        self._limit = read.limit
        self._filter: Expression | None = read.filter
        self._visible, self._returned = _attributes(table, index, checked_attributes(read.attributes))
        self._projected = None if index is None else table.schema.projected(index)
        self._fetches_items = (
            self._projected is not None and self._visible is None and not _covers(self._projected, read)
        )
        if isinstance(read, QueryItems):
            self._count_only, self._lagging = read.count_only, read.lagging
            self._query: PageQuery = partition_query(table.schema, index, read)
        else:
            self._count_only = self._lagging = False
            self._query = scan_query(table.schema, index, read)
        if read.filter is not None:
            check_expression(read.filter)
            if isinstance(read, QueryItems):
                check_filter(table.schema, index, read.filter)

    def __call__(self, session: ReadSession) -> PageResult:
        """Read the page."""
        table = session.catalog[self._table]
        limit = self._limit
        sql = self._query.sql(table, None if self._index is None else table.ready_index(self._index))
        bindings = (*self._query.bindings, _NO_LIMIT if limit is None else limit)
        if self._projected is not None:
            entries = _read_entries(session, self._lagging, sql, bindings, self._projected, self._fetches_items)
            return self._entry_page(table, entries)
        at_once = limit is not None and limit <= _MAX_ROWS_AT_ONCE
        packed_items, size = _read_items(session, self._lagging, sql, bindings, at_once)
        resume: Position | None = None
        if packed_items and (size > PAGE_BYTES or len(packed_items) == limit):
            resume = position_of(table.schema, self._index, unpack(packed_items[-1]))
        rows = self._filtered(packed_items)
        return PageResult(Rows([] if self._count_only else rows, resume, len(rows), len(packed_items)), size, ())

    def _filtered(self, packed_items: list[bytes]) -> list[Row]:
        if self._filter is None and (self._returned is None or self._count_only):
            return [*packed_items]
        rows: list[Row] = []
        for packed in packed_items:
            item: Item = unpack(packed)
            if self._filter is None or holds(self._filter, item):
                names = self._returned
                rows.append(packed if names is None else {name: item[name] for name in names if name in item})
        return rows

    def _entry_page(self, table: StoredTable, entries: "_Entries") -> PageResult:
        """The page of an index that projects only some attributes."""
        resume: Position | None = None
        if entries.items and (entries.is_full or len(entries.items) == self._limit):
            resume = position_of(table.schema, self._index, entries.items[-1])
        rows: list[Row] = []
        for item in entries.items:
            seen = item if self._visible is None else {name: item[name] for name in self._visible if name in item}
            if self._filter is None or holds(self._filter, seen):
                rows.append({name: seen[name] for name in self._returned or seen if name in seen})
        page = Rows([] if self._count_only else rows, resume, len(rows), len(entries.items))
        return PageResult(page, entries.size, entries.fetched_sizes)


class _Entries(NamedTuple):
    """Index entries of a page as items, their bytes, and the sizes of the items fetched for them."""

    items: list[Item]
    size: int
    fetched_sizes: list[int]
    is_full: bool


def _read_entries(
    session: ReadSession, lagging: bool, sql: str, bindings: tuple[Any, ...], projected: Iterable[str], fetches: bool
) -> _Entries:
    """As many entries as a page holds. Fetched items count towards its size too, each rounded up to 4 KB."""
    items: list[Item] = []
    fetched_sizes: list[int] = []
    size = fetched_bytes = 0
    cursor = session.new_cursor(lagging)
    for packed, item_size in cursor.execute(sql, bindings):
        item = unpack(packed)
        items.append(item)
        size += cost.entry_size(item, projected)
        if fetches:
            fetched_sizes.append(item_size)
            fetched_bytes += cost.READ_BYTES * -(-item_size // cost.READ_BYTES)
        if size + fetched_bytes > PAGE_BYTES:
            cursor.close(True)
            return _Entries(items, size, fetched_sizes, True)
    return _Entries(items, size, fetched_sizes, False)


def _read_items(
    session: ReadSession, lagging: bool, sql: str, bindings: tuple[Any, ...], at_once: bool
) -> tuple[list[bytes], int]:
    cursor = session.new_cursor(lagging)
    cursor.execute(sql, bindings)
    if at_once:
        rows = cursor.fetchall()
        size = sum([item_size for _, item_size in rows])
        if size <= PAGE_BYTES:
            return [item for item, _ in rows], size
        return _first_page(rows)
    items, size = _first_page(cursor)
    if size > PAGE_BYTES:
        # A statement that is not read to its end would keep the transaction's snapshot.
        cursor.close(True)
    return items, size


def _first_page(rows: Iterable[tuple[Any, ...]]) -> tuple[list[bytes], int]:
    """Rows up to and including the one that makes the page too large."""
    items: list[bytes] = []
    size = 0
    for item, item_size in rows:
        items.append(item)
        size += item_size
        if size > PAGE_BYTES:
            break
    return items, size


def _attributes(
    table: StoredTable, index: IndexSchema | None, requested: tuple[str, ...] | None
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """The attributes that a filter sees and those that are returned; None for all."""
    projected = None if index is None else table.schema.projected(index)
    if index is None or projected is None:
        return None, requested
    names = tuple(sorted(projected))
    if requested is None:
        return names, names
    if index.local:
        # What a local index lacks is fetched from the table.
        return None, requested
    check_projection(table.schema, index, requested)
    return names, requested


def _covers(projected: frozenset[str], read: QueryItems | ScanItems) -> bool:
    """True when the index holds every attribute of the read, so that no item is fetched from the table."""
    filtered = set[str | int]() if read.filter is None else attribute_names_in(read.filter)
    return projected.issuperset(read.attributes or ()) and projected.issuperset(filtered)


def charge_page(consumed: ConsumedCapacity, read: QueryItems | ScanItems, page: PageResult) -> None:
    """Charge a page; what was fetched for a local index is charged to the table."""
    index = None if read.index is None else read.index.name
    consumed.add(read.table.name, index, reads=cost.read(page.size, read.strong))
    if page.fetched_sizes:
        consumed.add(read.table.name, reads=cost.fetches(page.fetched_sizes, read.strong))
