"""Validation of keys, items, updates and positions before they are sent."""

from zataku.table.backend import expression as ex
from zataku.table.backend.errors import BadCursor, BadInput, WrongType
from zataku.table.backend.limits import NESTING, PARTITION_KEY_BYTES, SORT_KEY_BYTES
from zataku.table.backend.port import ItemKey, KeyRange, Position, UpdateItem
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.backend.validation import check_changes, check_item, checked_key, key_parts_error, require_keys
from zataku.table.backend.values import Item, KeyValue, Value, nesting_depth, nesting_error, normalize
from zataku.table.backend.wire import WireItem, wire_item, wire_value


def checked_partition_key(key: KeyAttribute, value: object) -> KeyValue:
    """The value, if it can be this partition key."""
    return checked_key(key, normalize(value), PARTITION_KEY_BYTES)


def checked_sort_key(key: KeyAttribute, value: object) -> KeyValue:
    """The value, if it can be this sort key."""
    return checked_key(key, normalize(value), SORT_KEY_BYTES)


def validated_key(table: TableSchema, key: ItemKey) -> ItemKey:
    """The key of an item in canonical form."""
    pk, sk = key
    if (sk is None) != (table.sk is None):
        raise key_parts_error(table)
    return checked_partition_key(table.pk, pk), None if table.sk is None else checked_sort_key(table.sk, sk)


def wire_key(table: TableSchema, key: ItemKey) -> WireItem:
    """A validated key in wire format."""
    wire = {table.pk.name: wire_value(key[0])}
    if table.sk is not None:
        wire[table.sk.name] = wire_value(key[1])
    return wire


def validated_item(table: TableSchema, raw: Item) -> Item:
    """The item in canonical form, if the table can hold it."""
    item: Item = {}
    for name, value in raw.items():
        if type(name) is not str:
            raise WrongType(f"Names of attributes are strings, not {type(name).__name__}. Convert it.")
        item[normalize(name)] = normalize(value)
    require_keys(table, item)
    check_item(table, item)
    return item


def check_update(table: TableSchema, write: UpdateItem) -> None:
    """Refuse an update that contradicts itself or sets an index key to a value that cannot be one."""
    check_changes(table, write)
    for action in write.actions:
        if isinstance(action, ex.Assign) and isinstance(action.value, ex.Literally):
            _check_assigned(table, action.route, normalize(action.value.value))


def _check_assigned(table: TableSchema, route: ex.Route, value: Value) -> None:
    if len(route) > 1:
        if len(route) - 1 + nesting_depth(value) > NESTING:
            raise nesting_error()
        return
    for index in table.indexes:
        for key, max_bytes in zip(index.keys, (PARTITION_KEY_BYTES, SORT_KEY_BYTES), strict=False):
            if route == (key.name,):
                checked_key(key, value, max_bytes)


def validated_range(key: KeyAttribute | None, key_range: KeyRange | None) -> KeyRange | None:
    """A range of sort keys with its ends in canonical form."""
    if key_range is None:
        return None
    if key is None:
        raise BadInput("The table or index has no sort key, so it has no range of them. Leave the range out.")
    low = checked_sort_key(key, key_range.low)
    if key_range.sign == "begins" and key.type == "N":
        raise BadInput(f"{key.name} is a number, which has no beginning. Use between.")
    if key_range.sign != "between":
        return KeyRange(key_range.sign, low)
    high = checked_sort_key(key, key_range.high)
    if _sort_order(high) < _sort_order(low):
        raise BadInput("The upper end of the range is below its lower end. Swap them.")
    return KeyRange("between", low, high)


def _sort_order(value: KeyValue) -> Value:
    # Strings sort by their UTF-8 bytes.
    return value.encode() if isinstance(value, str) else value


def wire_position(table: TableSchema, index: IndexSchema | None, start: Position) -> WireItem:
    """The position that a page starts after, in wire format."""
    sources: tuple[TableSchema | IndexSchema, ...] = (table,) if index is None else (table, index)
    if set(start) != {key.name for source in sources for key in source.keys}:
        raise BadCursor("The position names other keys than this table or index has. Start from the first page.")
    try:
        for source in sources:
            for key, max_bytes in zip(source.keys, (PARTITION_KEY_BYTES, SORT_KEY_BYTES), strict=False):
                checked_key(key, normalize(start[key.name]), max_bytes)
    except BadInput as error:
        raise BadCursor(f"The position does not fit this table or index: {error.message}") from error
    return wire_item(dict(start))
