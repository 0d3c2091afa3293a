"""Queries carried out: pages with cursors, whole walks, counts."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from zataku.clock import Clock
from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import holds
from zataku.table.backend.errors import BadInput, DesignError
from zataku.table.backend.port import Backend, Position, QueryItems, Row, Rows, ScanItems
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.backend.values import Item
from zataku.table.schema.access_pattern import Query
from zataku.table.schema.entity import Entity, View
from zataku.table.schema.table import Index, Table
from zataku.table.store import cursor as cursors
from zataku.table.store.metering import MeteredCalls
from zataku.table.store.row_readers import (
    RowsReader,
    attributes_of,
    can_end,
    expired,
    perhaps_old,
    rows_reader_for,
    today_for,
)
from zataku.table.store.write_requests import unexpired

R = TypeVar("R", bound=Entity | View)

# With a filter, a page may need several reads; past this many it is handed out short, with a cursor.
_READS_PER_PAGE = 10


class Page(Generic[R]):
    """Some results of a query; `cursor` leads to the next ones and is None at the end."""

    __slots__ = ("cursor", "items")

    def __init__(self, items: list[R], cursor: str | None) -> None:
        self.items = items
        self.cursor = cursor


class _Shape(Struct, frozen=True):
    """What a query for some kinds asks for and how its rows are read, worked out once.

    `today` gives the attributes that a filter is about, where a row may be older than they are. `ends` says whether
    one of the kinds can expire at all.
    """

    attributes: tuple[str, ...] | None
    read: RowsReader
    whole: bool
    today: Callable[[Row], Item] | None
    ends: bool


class Paging:
    """Reads what access patterns ask for."""

    def __init__(
        self, backend: Backend, calls: MeteredCalls, clock: Clock, secret: bytes, schema: Callable[[Table], TableSchema]
    ) -> None:
        self._backend = backend
        self._calls = calls
        self._clock = clock
        self._secret = secret
        self._schema = schema
        self._shapes: dict[tuple[Table, str | None, tuple[type[Any], ...]], _Shape] = {}

    async def page(self, query: Query[R], limit: int, after: str | None) -> Page[R]:
        """The next results after a cursor."""
        if limit < 1:
            raise BadInput("A page holds at least one item. Ask for a limit of 1 or more.")
        read = self._query(query, count_only=False)
        fingerprint = read.table.name.encode() + query.fingerprint() if after is not None else b""
        start = None if after is None else cursors.read(after, fingerprint, self._secret)
        items: list[R] = []
        for _ in range(_READS_PER_PAGE):
            rows = await self._rows(query, read, limit - len(items), start)
            items.extend(self._visible(query, rows))
            start = rows.resume
            if start is None or len(items) >= limit:
                break
        if start is None:
            return Page(items, None)
        fingerprint = fingerprint or read.table.name.encode() + query.fingerprint()
        return Page(items, cursors.sign(start, fingerprint, self._secret))

    async def each(self, query: Query[R]) -> AsyncIterator[R]:
        """All results, a page at a time."""
        read, start = self._query(query, count_only=False), None
        while True:
            rows = await self._rows(query, read, None, start)
            for found in self._visible(query, rows):
                yield found
            start = rows.resume
            if start is None:
                return

    async def count(self, query: Query[R]) -> int:
        """How many results there are."""
        sifted = query.span.filter is not None and self._shape(query).today is not None
        read, total, start = self._query(query, count_only=not sifted), 0, None
        while True:
            rows = await self._rows(query, read, None, start)
            total += len(self._visible(query, rows)) if sifted else rows.count
            start = rows.resume
            if start is None:
                return total

    def scan_index(self, index: Index, kind: type[R], segment: int, segments: int) -> AsyncIterator[R]:
        """Everything that an index holds, a page at a time."""
        table = index.table
        if kind not in table.views and not any(binding.entity is kind for binding in table.bindings):
            raise DesignError(f"{kind.__name__} is neither an entity nor a view of {table.name}.")
        attributes = attributes_of(table, index.schema, (kind,))
        scan = ScanItems(self._schema(table), index.schema, attributes=attributes, segment=segment, segments=segments)
        return self._walked(table, kind, scan)

    async def _walked(self, table: Table, kind: type[R], scan: ScanItems) -> AsyncIterator[R]:
        assert scan.index is not None
        read_rows, ends = rows_reader_for(table, (kind,), scan.attributes), can_end(table, (kind,))
        label, start = f"{table.name}.walk {scan.index.name}", None
        while True:
            alive = self._unexpired(table, scan.index) if ends else None
            rows = await self._calls(label, partial(self._backend.scan, replace(scan, filter=alive, start=start)))
            for found in read_rows(rows.rows):
                if not expired(found, self._clock.now()):
                    yield found
            start = rows.resume
            if start is None:
                return

    def _query(self, query: Query[R], count_only: bool) -> QueryItems:
        span, shape = query.span, self._shape(query)
        condition = span.filter
        if condition is not None and shape.today is not None:
            # Old items come through, to be judged when they have today's attributes.
            condition = ex.Either((condition, perhaps_old(span.table, query.returns)))
        if shape.ends and (count_only or not shape.whole):
            # A view may lack the attribute that says when its item ends, so the store is asked to leave those out. Not
            # for kinds that never end: a local index would fetch each whole item to look for what it does not have.
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
        ttl, place = table.ttl, index or table
        # A filter may not name a key of what it filters.
        if ttl is None or ttl in {key.name for key in place.keys}:
            return None
        return unexpired(ttl, self._clock.now())

    def _shape(self, query: Query[R]) -> _Shape:
        span = query.span
        place = (span.table, None if span.index is None else span.index.name, query.returns)
        known = self._shapes.get(place)
        if known is None:
            whole = all(issubclass(kind, Entity) for kind in query.returns)
            attributes = attributes_of(span.table, span.index, query.returns)
            read = rows_reader_for(span.table, query.returns, attributes)
            today = today_for(span.table, query.returns) if attributes is None else None
            ends = can_end(span.table, query.returns)
            known = self._shapes[place] = _Shape(attributes, read, whole, today, ends)
        return known

    async def _rows(self, query: Query[R], read: QueryItems, limit: int | None, start: Position | None) -> Rows:
        step = replace(read, limit=limit, start=start)
        return await self._calls(query.label, partial(self._backend.query, step))

    def _visible(self, query: Query[R], rows: Rows) -> list[R]:
        shape, condition, some = self._shape(query), query.span.filter, rows.rows
        if condition is not None and shape.today is not None:
            some = [row for row in some if holds(condition, shape.today(row))]
        found = shape.read(some)
        if query.span.table.ttl is None:
            return found
        now = self._clock.now()
        return [each for each in found if not expired(each, now)]
