"""Stored rows turned back into entities and views."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from zataku.table.binding import Binding
from zataku.table.codec import stored_fields
from zataku.table.entity import Entity, View, binding_of
from zataku.table.errors import DesignError, ItemUnreadable
from zataku.table.packed import unpack
from zataku.table.values import Item

if TYPE_CHECKING:
    from zataku.table.backend import Row
    from zataku.table.design import Table
    from zataku.table.schema import IndexSchema

R = TypeVar("R", bound=Entity | View)
Reader = Callable[["Row"], Any]
RowsReader = Callable[["list[Row]"], list[Any]]


def reader_for(table: "Table", returns: tuple[type[Any], ...]) -> Reader:
    """The function that reads the rows of a query that returns these kinds."""
    if len(returns) == 1:
        kind = returns[0]
        return binding_of(kind).decode if issubclass(kind, Entity) else _view_reader(table, kind)
    return _collection_reader([binding_of(kind) for kind in returns])


def rows_reader_for(table: "Table", returns: tuple[type[Any], ...]) -> RowsReader:
    """The function that reads a whole page of such a query."""
    if len(returns) == 1 and issubclass(returns[0], Entity):
        return binding_of(returns[0]).decode_all
    read = reader_for(table, returns)
    return lambda rows: list(map(read, rows))


def _view_reader(table: "Table", view: type[Any]) -> Reader:
    if view not in table.views:
        raise DesignError(f"{view.__name__} is not a view of {table.name}. Declare it with @table.view(Entity).")
    binding = binding_of(table.views[view])
    in_key = {field.name: field for field in stored_fields(view) if field.name in binding.in_key}

    def read(row: "Row") -> Any:
        return binding.read_form(unpack(row) if isinstance(row, bytes) else row, view, in_key)

    return read


def _collection_reader(bindings: Iterable[Binding[Any]]) -> Reader:
    known = list(bindings)

    def read(row: "Row") -> Any:
        item = unpack(row) if isinstance(row, bytes) else row
        return owner(known, item).decode(row)

    return read


def owner(bindings: Iterable[Binding[Any]], item: Item) -> Binding[Any]:
    """The kind an item is of."""
    for binding in bindings:
        if binding.owns(item):
            return binding
    names = ", ".join(binding.entity.__name__ for binding in bindings)
    raise ItemUnreadable(f"An item is none of {names}: { ({name: item[name] for name in list(item)[:4]}) }.")


def attributes_of(
    table: "Table", index: "IndexSchema | None", returns: tuple[type[Any], ...]
) -> tuple[str, ...] | None:
    """The attributes a query asks for by name, or None to take all there are.

    A whole entity is asked for by name on an index that holds only part of it: a local index then fetches the rest, and
    a global one refuses, where otherwise defaults would stand in for what is stored.
    """
    whole = any(issubclass(kind, Entity) for kind in returns)
    if whole and (index is None or index.projection.kind == "ALL"):
        return None
    names: dict[str, None] = {}
    for kind in returns:
        binding = binding_of(kind if issubclass(kind, Entity) else table.views[kind])
        if issubclass(kind, Entity):
            names.update(dict.fromkeys(binding.attributes))
            continue
        for field in stored_fields(kind):
            names[binding.source_of(field.name)[0] if field.name in binding.in_key else field.attribute] = None
    return tuple(names)


def expired(found: Entity | View, now: float) -> bool:
    """True for an entity whose time has passed."""
    field = binding_of(type(found)).ttl_field if isinstance(found, Entity) else None
    until = None if field is None else getattr(found, field)
    return until is not None and until <= now
