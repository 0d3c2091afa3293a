"""Keys, items and updates checked before they are sent, and put into the form in which they travel."""

from zataku.table.backend import expression as ex
from zataku.table.backend.errors import BadCursor, BadInput, WrongType
from zataku.table.backend.limits import NESTING, PARTITION_KEY_BYTES, SORT_KEY_BYTES
from zataku.table.backend.port import ItemKey, KeyRange, Position, UpdateItem
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.backend.validation import check_changes, check_item, checked_key, key_parts_error, require_keys
from zataku.table.backend.values import Item, KeyValue, Value, nesting_depth, nesting_error, normalize
from zataku.table.dynamodb.wire import WireItem, wire_item, wire_value


def partition_value(key: KeyAttribute, value: object) -> KeyValue:
    """The value when it can be this partition key."""
    return checked_key(key, normalize(value), PARTITION_KEY_BYTES)


def sort_value(key: KeyAttribute, value: object) -> KeyValue:
    """The value when it can be this sort key."""
    return checked_key(key, normalize(value), SORT_KEY_BYTES)


def whole_key(table: TableSchema, key: ItemKey) -> ItemKey:
    """The key of an item in its one form."""
    pk, sk = key
    if (sk is None) != (table.sk is None):
        raise key_parts_error(table)
    return partition_value(table.pk, pk), None if table.sk is None else sort_value(table.sk, sk)


def wire_key(table: TableSchema, key: ItemKey) -> WireItem:
    """A checked key to be sent."""
    wire = {table.pk.name: wire_value(key[0])}
    if table.sk is not None:
        wire[table.sk.name] = wire_value(key[1])
    return wire


def key_of(table: TableSchema, item: Item) -> ItemKey:
    """The key of an item."""
    return item[table.pk.name], None if table.sk is None else item[table.sk.name]


def whole_item(table: TableSchema, given: Item) -> Item:
    """The item in its stored form, when the table can hold it."""
    item: Item = {}
    for name, value in given.items():
        if type(name) is not str:
            raise WrongType(f"Names of attributes are strings, not {type(name).__name__}. Convert it.")
        item[normalize(name)] = normalize(value)
    require_keys(table, item)
    check_item(table, item)
    return item


def check_update(table: TableSchema, write: UpdateItem) -> None:
    """Refuse an update that contradicts itself or puts into an index key what cannot be one."""
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
        for key, most in zip(index.keys, (PARTITION_KEY_BYTES, SORT_KEY_BYTES), strict=False):
            if route == (key.name,):
                checked_key(key, value, most)


def whole_range(key: KeyAttribute | None, stretch: KeyRange | None) -> KeyRange | None:
    """A stretch of sort keys with its ends in their one form."""
    if stretch is None:
        return None
    if key is None:
        raise BadInput("The table or index has no sort key, so it has no range of them. Leave the range out.")
    low = sort_value(key, stretch.low)
    if stretch.sign == "begins" and key.type == "N":
        raise BadInput(f"{key.name} is a number, which has no beginning. Use between.")
    if stretch.sign != "between":
        return KeyRange(stretch.sign, low)
    high = sort_value(key, stretch.high)
    if _order(high) < _order(low):
        raise BadInput("The upper end of the range lies below its lower end. Swap them.")
    return KeyRange("between", low, high)


def _order(value: KeyValue) -> Value:
    # Strings are ordered by their bytes.
    return value.encode() if isinstance(value, str) else value


def wire_position(table: TableSchema, index: IndexSchema | None, start: Position) -> WireItem:
    """The place to go on after, to be sent."""
    places: tuple[TableSchema | IndexSchema, ...] = (table,) if index is None else (table, index)
    if set(start) != {key.name for place in places for key in place.keys}:
        raise BadCursor("The position names other keys than this table or index has. Start from the first page.")
    try:
        for place in places:
            for key, most in zip(place.keys, (PARTITION_KEY_BYTES, SORT_KEY_BYTES), strict=False):
                checked_key(key, normalize(start[key.name]), most)
    except BadInput as error:
        raise BadCursor(f"The position does not fit this table or index: {error.message}") from error
    return wire_item(dict(start))
