"""Execution of queries: pages with cursors, iteration, counts, index scans."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from zataku.clock import Clock
from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import holds
from zataku.table.backend.errors import BadInput, DesignError, ItemUnreadable
from zataku.table.backend.port import Backend, Position, QueryItems, Row, Rows, ScanItems
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.backend.values import Item, unpack_row
from zataku.table.schema.access_pattern import Query
from zataku.table.schema.entity import Entity, View
from zataku.table.schema.table import Index, Table
from zataku.table.store import cursor as cursors
from zataku.table.store.capacity_meter import MeteredCalls
from zataku.table.store.row_readers import (
    Report,
    RowsReader,
    attributes_of,
    can_expire,
    has_expired,
    is_expired,
    may_be_outdated,
    rows_reader_for,
    unreadable_item,
    upgrade_reader_for,
)
from zataku.table.store.write_requests import unexpired

R = TypeVar("R", bound=Entity | View)

# With a filter, a page may need several reads; after this many it is returned short, with a cursor.
_MAX_READS_PER_PAGE = 10


class Page(Generic[R]):
    """Some results of a query; `cursor` continues after them and is None at the end."""

    __slots__ = ("cursor", "items")

    def __init__(self, items: list[R], cursor: str | None) -> None:
        self.items = items
        self.cursor = cursor


class _QueryShape(Struct, frozen=True):
    """The requested attributes and the decoder of a query for some kinds, computed once.

    `upgrade` returns the current attributes, which a filter refers to, where a row may be of an old revision.
    """

    attributes: tuple[str, ...] | None
    read: RowsReader
    is_whole: bool
    upgrade: Callable[[Row], Item] | None
    can_expire: bool


class Paging:
    """Pages, counts and index scans of access patterns."""

    def __init__(
        self, backend: Backend, calls: MeteredCalls, clock: Clock, secret: bytes, schema: Callable[[Table], TableSchema]
    ) -> None:
        self._backend = backend
        self._calls = calls
        self._clock = clock
        self._secret = secret
        self._schema = schema
        self._shapes: dict[tuple[Table, str | None, tuple[type[Any], ...]], _QueryShape] = {}

    async def page(self, query: Query[R], limit: int, after: str | None, report: Report | None) -> Page[R]:
        """The next results after a cursor."""
        if limit < 1:
            raise BadInput("A page holds at least one item. Give a limit of 1 or more.")
        read = self._query(query, count_only=False)
        fingerprint = read.table.name.encode() + query.fingerprint() if after is not None else b""
        start = None if after is None else cursors.read(after, fingerprint, self._secret)
        items: list[R] = []
        for _ in range(_MAX_READS_PER_PAGE):
            rows = await self._rows(query, read, limit - len(items), start)
            decoded = self._visible(query, rows, report)
            items.extend(decoded.results)
            if decoded.problem is not None:
                return self._interrupted(query, items, rows, start, decoded)
            start = rows.resume
            if start is None or len(items) >= limit:
                break
        if start is None:
            return Page(items, None)
        fingerprint = fingerprint or read.table.name.encode() + query.fingerprint()
        return Page(items, cursors.sign(start, fingerprint, self._secret))

    def _interrupted(
        self, query: Query[R], items: list[R], rows: Rows, start: Position | None, decoded: "_Decoded[R]"
    ) -> Page[R]:
        """The page before an item that cannot be read; raises when the page would begin with the item."""
        problem, at = decoded.problem, decoded.stopped_at
        assert problem is not None
        fingerprint = self._schema(query.span.table).name.encode() + query.fingerprint()
        if items:
            before = self._position(query, rows.rows[at - 1]) if at else start
            assert before is not None
            return Page(items, cursors.sign(before, fingerprint, self._secret))
        if rows.resume is not None or at + 1 < len(rows.rows):
            problem.cursor = cursors.sign(self._position(query, rows.rows[at]), fingerprint, self._secret)
        raise problem

    def _position(self, query: Query[R], row: Row) -> Position:
        item, span = unpack_row(row), query.span
        keys = (*span.table.keys, *(span.index.keys if span.index is not None else ()))
        return {key.name: item[key.name] for key in keys}

    async def each(self, query: Query[R], report: Report | None) -> AsyncIterator[R]:
        """Iterate over all results, reading a page at a time."""
        read, start = self._query(query, count_only=False), None
        while True:
            rows = await self._rows(query, read, None, start)
            decoded = self._visible(query, rows, report)
            for result in decoded.results:
                yield result
            decoded.checked()
            start = rows.resume
            if start is None:
                return

    async def count(self, query: Query[R]) -> int:
        """Number of results."""
        filters_here = query.span.filter is not None and self._shape(query).upgrade is not None
        read, total, start = self._query(query, count_only=not filters_here), 0, None
        while True:
            rows = await self._rows(query, read, None, start)
            total += len(self._visible(query, rows, None).checked()) if filters_here else rows.count
            start = rows.resume
            if start is None:
                return total

    async def scan(self, table: Table, segment: int, segments: int, report: Report | None) -> AsyncIterator[Entity]:
        """Iterate over a table, reading a page at a time."""
        scan, start = ScanItems(self._schema(table), segment=segment, segments=segments), None
        read = rows_reader_for(table, tuple(binding.entity for binding in table.bindings))
        while True:
            rows = await self._calls(f"{table.name}.scan", partial(self._backend.scan, replace(scan, start=start)))
            decoded = self._decoded(table, rows.rows, read, report)
            for entity in decoded.results:
                if not is_expired(entity, self._clock.now()):
                    yield entity
            decoded.checked()
            start = rows.resume
            if start is None:
                return

    def scan_index(
        self, index: Index, kind: type[R], segment: int, segments: int, report: Report | None
    ) -> AsyncIterator[R]:
        """Iterate over an index, reading a page at a time."""
        table = index.table
        if kind not in table.views and not any(binding.entity is kind for binding in table.bindings):
            raise DesignError(f"{kind.__name__} is neither an entity nor a view of {table.name}.")
        attributes = attributes_of(table, index.schema, (kind,))
        scan = ScanItems(self._schema(table), index.schema, attributes=attributes, segment=segment, segments=segments)
        return self._scan_index(table, kind, scan, report)

    async def _scan_index(
        self, table: Table, kind: type[R], scan: ScanItems, report: Report | None
    ) -> AsyncIterator[R]:
        assert scan.index is not None
        read_rows, expires = rows_reader_for(table, (kind,), scan.attributes), can_expire(table, (kind,))
        label, start = f"{table.name}.scan_index {scan.index.name}", None
        while True:
            alive = self._unexpired(table, scan.index) if expires else None
            rows = await self._calls(label, partial(self._backend.scan, replace(scan, filter=alive, start=start)))
            decoded = self._decoded(table, rows.rows, read_rows, report)
            for result in decoded.results:
                if not is_expired(result, self._clock.now()):
                    yield result
            decoded.checked()
            start = rows.resume
            if start is None:
                return

    def _query(self, query: Query[R], count_only: bool) -> QueryItems:
        span, shape = query.span, self._shape(query)
        condition = span.filter
        if condition is not None and shape.upgrade is not None:
            # Old items pass this filter and are filtered again after their upgrade.
            condition = ex.Either((condition, may_be_outdated(span.table, query.returns)))
        if shape.can_expire and (count_only or not shape.is_whole):
            # A view may lack the TTL attribute, so the backend filters expired items. Not for kinds that never expire:
            # a local index would fetch each whole item to look for the missing attribute.
            condition = ex.both(condition, self._unexpired(span.table, span.index))
        return QueryItems(
            self._schema(span.table),
            span.pk,
            span.index,
            span.range,
            span.backwards,
            filter=condition,
            attributes=None if count_only else shape.attributes,
            strong=query.strong,
            count_only=count_only,
        )

    def _unexpired(self, table: Table, index: IndexSchema | None) -> ex.Expression | None:
        ttl, keys = table.ttl, (index or table).keys
        # A filter may not name a key of the table or index that it reads.
        if ttl is None or ttl in {key.name for key in keys}:
            return None
        return unexpired(ttl, self._clock.now())

    def _shape(self, query: Query[R]) -> _QueryShape:
        span = query.span
        key = (span.table, None if span.index is None else span.index.name, query.returns)
        shape = self._shapes.get(key)
        if shape is None:
            is_whole = all(issubclass(kind, Entity) for kind in query.returns)
            attributes = attributes_of(span.table, span.index, query.returns)
            read = rows_reader_for(span.table, query.returns, attributes)
            upgrade = upgrade_reader_for(span.table, query.returns) if attributes is None else None
            expires = can_expire(span.table, query.returns)
            shape = self._shapes[key] = _QueryShape(attributes, read, is_whole, upgrade, expires)
        return shape

    async def _rows(self, query: Query[R], read: QueryItems, limit: int | None, start: Position | None) -> Rows:
        page = replace(read, limit=limit, start=start)
        return await self._calls(query.label, partial(self._backend.query, page))

    def _visible(self, query: Query[R], rows: Rows, report: Report | None) -> "_Decoded[R]":
        """The results that have not expired, up to the first item that cannot be read."""
        table, shape, condition = query.span.table, self._shape(query), query.span.filter
        read = shape.read
        if condition is not None and shape.upgrade is not None:
            read = partial(_read_filtered, shape.read, shape.upgrade, condition)
        decoded = self._decoded(table, rows.rows, read, report)
        if table.ttl is None:
            return decoded
        now = self._clock.now()
        return decoded._replace(results=[result for result in decoded.results if not is_expired(result, now)])

    def _decoded(self, table: Table, rows: list[Row], read: RowsReader, report: Report | None) -> "_Decoded[Any]":
        """The results of the rows, up to the first item that cannot be read unless such items are reported."""
        try:
            return _Decoded(read(rows))
        except ItemUnreadable:
            pass
        results: list[Any] = []
        for at, row in enumerate(rows):
            try:
                results.extend(read([row]))
            except ItemUnreadable as problem:
                unreadable = unreadable_item(table, row, problem)
                if has_expired(table, unreadable.item, self._clock.now()):
                    continue
                if report is None:
                    problem.unreadable = unreadable
                    return _Decoded(results, problem, at)
                report(unreadable)
        return _Decoded(results)


def _read_filtered(
    read: RowsReader, upgrade: Callable[[Row], Item], condition: ex.Expression, rows: list[Row]
) -> list[Any]:
    """The results of the rows that meet the condition in their current shape."""
    return read([row for row in rows if holds(condition, upgrade(row))])


class _Decoded(NamedTuple, Generic[R]):
    """Decoded results; `problem` is the item at `stopped_at` that could not be read."""

    results: list[R]
    problem: ItemUnreadable | None = None
    stopped_at: int = 0

    def checked(self) -> list[R]:
        """The results; raises when an item could not be read."""
        if self.problem is not None:
            raise self.problem
        return self.results
