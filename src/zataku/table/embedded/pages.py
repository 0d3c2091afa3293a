"""Reading pages: one partition in the order of its sort key, or a whole table in portions."""

from collections.abc import Iterable
from typing import Any

from zataku.table.backend import Position, QueryItems, Row, Rows, ScanItems
from zataku.table.embedded import keys
from zataku.table.embedded.catalog import Catalog, TablePart
from zataku.table.embedded.paths import Way, query_way, scan_way
from zataku.table.embedded.reader import ReadDesk
from zataku.table.embedded.reads import checked_attributes
from zataku.table.errors import BadInput, StrongReadRefused
from zataku.table.evaluate import check_expression, holds
from zataku.table.expression import All, Between, Compare, Either, Expression, Literally, Not, OneOf
from zataku.table.limits import PAGE_BYTES
from zataku.table.packed import unpack
from zataku.table.schema import IndexSchema
from zataku.table.values import Item

_NO_LIMIT = -1
# So many rows are fetched in one go, which is quicker than one by one; more might be far too many bytes.
_FEW = 64


class Page:
    """One page to be read, with everything checked that can be before reading."""

    __slots__ = ("_count_only", "_filter", "_index", "_lagging", "_limit", "_shown", "_table", "_visible", "_way")

    def __init__(self, catalog: Catalog, read: QueryItems | ScanItems) -> None:
        part = catalog.part(read.table.name)
        index = None if read.index is None else part.ready_index(read.index).schema
        if read.limit is not None and read.limit < 1:
            raise BadInput("A page has a limit of at least 1. Give a larger one, or none.")
        if index is not None and not index.local and read.strong:
            raise StrongReadRefused(f"{index.name} is a global index, which has no strong reads. Ask without strong.")
        self._table = read.table.name
        self._index = index
        self._limit = read.limit
        self._filter: Expression | None = read.filter
        self._visible, self._shown = _seen(part, index, checked_attributes(read.attributes))
        if isinstance(read, QueryItems):
            self._count_only, self._lagging = read.count_only, read.lagging
            self._way: Way = query_way(part.schema, index, read)
        else:
            self._count_only = self._lagging = False
            self._way = scan_way(part.schema, index, read)
        if read.filter is not None:
            check_expression(read.filter)
            if isinstance(read, QueryItems):
                _refuse_keys(part, index, read.filter)

    def __call__(self, desk: ReadDesk) -> Rows:
        """Read it."""
        part = desk.catalog.part(self._table)
        limit = self._limit
        sql = self._way.sql(part, None if self._index is None else part.ready_index(self._index))
        few = limit is not None and limit <= _FEW
        bindings = (*self._way.bindings, _NO_LIMIT if limit is None else limit)
        found, size = _fetched(desk, self._lagging, sql, bindings, few)
        resume: Position | None = None
        if found and (size > PAGE_BYTES or len(found) == limit):
            resume = keys.position(part.schema, self._index, unpack(found[-1]))
        rows = self._passed(found)
        return Rows([] if self._count_only else rows, resume, len(rows), len(found))

    def _passed(self, found: list[bytes]) -> list[Row]:
        if self._filter is None and (self._shown is None or self._count_only):
            return [*found]
        rows: list[Row] = []
        for packed in found:
            item: Item = unpack(packed)
            if self._visible is not None:
                item = {name: item[name] for name in self._visible if name in item}
            if self._filter is None or holds(self._filter, item):
                shown = self._shown
                rows.append(packed if shown is None else {name: item[name] for name in shown if name in item})
        return rows


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
    lacking = [name for name in wanted if name not in held]
    if lacking:
        raise BadInput(f"{index.name} does not hold {', '.join(lacking)}. Widen its projection or ask for less.")
    return names, wanted


def _refuse_keys(part: TablePart, index: IndexSchema | None, condition: Expression) -> None:
    names = {key.name for key in (part.schema.keys if index is None else index.keys)}
    used = _names(condition) & names
    if used:
        raise BadInput(
            f"A filter cannot look at {', '.join(sorted(map(str, used)))}, a key of this query. Use the key range."
        )


def _names(condition: Expression) -> set[str | int]:
    if isinstance(condition, All | Either):
        return set[str | int]().union(*(_names(part) for part in condition.parts))
    if isinstance(condition, Not):
        return _names(condition.part)
    if isinstance(condition, Compare):
        operands = (condition.left, condition.right)
    elif isinstance(condition, Between):
        operands = (condition.value, condition.low, condition.high)
    elif isinstance(condition, OneOf):
        operands = (condition.value, *condition.options)
    else:
        return {condition.route[0]}
    return {operand.route[0] for operand in operands if not isinstance(operand, Literally)}
