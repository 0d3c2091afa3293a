"""Decoding of stored rows to entities and views."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from zataku.table.backend import expression as ex
from zataku.table.backend.errors import DesignError, ItemUnreadable, UnreadableItem, WrittenUnreadable
from zataku.table.backend.values import Item, unpack_row
from zataku.table.schema.codec import stored_fields
from zataku.table.schema.entity import Entity, View, binding_of
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.revised_bindings import RevisedBinding

if TYPE_CHECKING:
    from zataku.table.backend.port import Row
    from zataku.table.backend.table_schema import IndexSchema
    from zataku.table.schema.table import Table

R = TypeVar("R", bound=Entity | View)
Reader = Callable[["Row"], Any]
RowsReader = Callable[["list[Row]"], list[Any]]
Report = Callable[[UnreadableItem], object]
"""Receives the items that do not fit their entity, which a read then leaves out."""


def reader_for(table: "Table", returns: tuple[type[Any], ...], held: tuple[str, ...] | None = None) -> Reader:
    """The function that decodes rows of a query returning these kinds; `held` names the attributes it requests."""
    names = None if held is None else frozenset(held)
    if len(returns) == 1:
        kind = returns[0]
        return _entity_reader(binding_of(kind), names) if issubclass(kind, Entity) else _view_reader(table, kind, names)
    return _collection_reader([binding_of(kind) for kind in returns], names)


def rows_reader_for(table: "Table", returns: tuple[type[Any], ...], held: tuple[str, ...] | None = None) -> RowsReader:
    """The function that decodes a whole page of such a query."""
    if len(returns) == 1 and issubclass(returns[0], Entity) and held is None:
        return binding_of(returns[0]).decode_all
    read = reader_for(table, returns, held)
    return lambda rows: list(map(read, rows))


def _entity_reader(binding: Binding[Any], held: frozenset[str] | None) -> Reader:
    if held is None or not isinstance(binding, RevisedBinding):
        return binding.decode
    return lambda row: binding.entity_of(unpack_row(row), held)


def _view_reader(table: "Table", view: type[Any], held: frozenset[str] | None) -> Reader:
    if view not in table.views:
        raise DesignError(f"{view.__name__} is not a view of {table.name}. Declare it with @table.view(Entity).")
    binding = binding_of(table.views[view])
    in_key = {field.name: field for field in stored_fields(view) if binding.is_read_from_key(field)}

    def read(row: "Row") -> Any:
        item = unpack_row(row)
        if isinstance(binding, RevisedBinding):
            return binding.view_of(item, view, in_key, held)
        return binding.to_struct(item, view, in_key)

    return read


def _collection_reader(bindings: list[Binding[Any]], held: frozenset[str] | None) -> Reader:
    readers = {binding: _entity_reader(binding, held) for binding in bindings}

    def read(row: "Row") -> Any:
        item = unpack_row(row)
        return readers[binding_for_item(bindings, item)](row)

    return read


def binding_for_item(bindings: Iterable[Binding[Any]], item: Item) -> Binding[Any]:
    """The binding of the entity that an item is stored as."""
    for binding in bindings:
        if binding.owns(item):
            return binding
    kinds = list(bindings)
    reason = f"It is none of {', '.join(binding.entity.__name__ for binding in kinds)}"
    key_text = ", ".join(repr(item.get(key.name)) for binding in kinds[:1] for key in binding.table.keys)
    raise ItemUnreadable(f"The item ({key_text}) does not fit its table: {reason}.", f"{reason}.", key=key_text)


def decode_unexpired(
    table: "Table", decode: Callable[["Row"], R], row: "Row", now: float, report: Report | None
) -> R | None:
    """The item; None when it has expired, or does not fit and is reported. Without `report` it raises."""
    try:
        entity = decode(row)
    except ItemUnreadable as problem:
        unreadable = problem.unreadable = unreadable_item(table, row, problem)
        if has_expired(table, unreadable.item, now):
            return None
        if report is None:
            raise
        report(unreadable)
        return None
    return None if table.ttl is not None and is_expired(entity, now) else entity


def decode_written(table: "Table", decode: Callable[["Row"], R], row: "Row") -> R:
    """The new state that an update returned."""
    try:
        return decode(row)
    except ItemUnreadable as problem:
        written = WrittenUnreadable(f"The update was written. {problem.message}", problem.reason, **problem.details)
        written.unreadable = unreadable_item(table, row, problem)
        raise written from None


def item_or_problem(table: "Table", row: "Row | None") -> Entity | UnreadableItem | None:
    """The entity of a row, of any kind that the table holds, or the report that it does not fit one."""
    if row is None:
        return None
    try:
        return reader_for(table, tuple(binding.entity for binding in table.bindings))(row)
    except ItemUnreadable as problem:
        return unreadable_item(table, row, problem)


def unreadable_item(table: "Table", row: "Row", problem: ItemUnreadable) -> UnreadableItem:
    """A report of a row that could not be decoded."""
    item = unpack_row(row)
    kind = next((binding.entity.__name__ for binding in table.bindings if binding.owns(item)), None)
    key = {key.name: item.get(key.name) for key in table.keys}
    return UnreadableItem(table.name, key, kind, problem.reason, item)


def upgrade_reader_for(table: "Table", returns: tuple[type[Any], ...]) -> Callable[["Row"], Item] | None:
    """The function that returns a whole row in current attributes; None where no row can be of an old revision."""
    kinds = _bindings_of(table, returns)
    if _latest_revision(kinds) == 1:
        return None

    def upgraded_item(row: "Row") -> Item:
        item = unpack_row(row)
        binding = kinds[0] if len(kinds) == 1 else binding_for_item(kinds, item)
        upgraded = binding.upgrade_of(item) if isinstance(binding, RevisedBinding) else None
        return item if upgraded is None else upgraded.new

    return upgraded_item


def may_be_outdated(table: "Table", returns: tuple[type[Any], ...]) -> ex.Expression:
    """Condition that holds for every old item of these kinds, and for current items of kinds with fewer revisions."""
    latest = ex.Literally(_latest_revision(_bindings_of(table, returns)))
    return ex.Not(ex.Compare(ex.Attribute((table.revision,)), "=", latest))


def _bindings_of(table: "Table", returns: tuple[type[Any], ...]) -> list[Binding[Any]]:
    """The bindings of the entities that the results are, or are views of."""
    return [binding_of(kind if issubclass(kind, Entity) else table.views[kind]) for kind in returns]


def _latest_revision(kinds: Iterable[Binding[Any]]) -> int:
    return max(binding.revision or 1 for binding in kinds)


def attributes_of(
    table: "Table", index: "IndexSchema | None", returns: tuple[type[Any], ...]
) -> tuple[str, ...] | None:
    """The attributes that a query requests by name, or None for all.

    On an index that projects part of an entity, its attributes are requested by name: a local index then fetches the
    rest, and a global one refuses, where defaults would replace stored values otherwise. For an entity with revisions
    all projected attributes are requested, since old items use other names.
    """
    returns_entities = any(issubclass(kind, Entity) for kind in returns)
    kinds = _bindings_of(table, returns)
    revised = any(isinstance(binding, RevisedBinding) for binding in kinds)
    if (returns_entities or revised) and (index is None or index.projection.kind == "ALL"):
        return None
    names: dict[str, None] = {}
    for kind, binding in zip(returns, kinds, strict=True):
        if issubclass(kind, Entity):
            names.update(dict.fromkeys(binding.attributes))
            continue
        names.update(dict.fromkeys(map(binding.attribute_of, stored_fields(kind))))
    # Keys are part of every index, and name an item that cannot be read.
    names.update(dict.fromkeys(key.name for key in (*table.keys, *(index.keys if index is not None else ()))))
    if revised and index is not None:
        names.update(dict.fromkeys(sorted(table.schema().projected(index) or ())))
    return tuple(names)


def can_expire(table: "Table", returns: tuple[type[Any], ...]) -> bool:
    """True when one of the entities behind the results has a time to live."""
    return any(binding.ttl_field is not None for binding in _bindings_of(table, returns))


def has_expired(table: "Table", item: Mapping[str, Any], now: float) -> bool:
    """True when the time to live of a stored item has passed, also of one that does not fit its entity."""
    until: object = item.get(table.ttl) if table.ttl is not None else None
    return isinstance(until, int | Decimal) and not isinstance(until, bool) and until <= now


def is_expired(result: Entity | View, now: float) -> bool:
    """True for an entity whose time to live has passed."""
    field = binding_of(type(result)).ttl_field if isinstance(result, Entity) else None
    expires_at = None if field is None else getattr(result, field)
    return expires_at is not None and expires_at <= now
