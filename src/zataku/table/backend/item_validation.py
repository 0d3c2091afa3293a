"""Values that can be keys, and items that can be stored."""

from zataku.table.backend.errors import BadKey, ItemTooLarge, WrongType
from zataku.table.backend.limits import ITEM_BYTES, PARTITION_KEY_BYTES, SORT_KEY_BYTES
from zataku.table.backend.numbers import canonical
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.backend.values import Item, KeyValue, item_size, key_type_of, size_of


def checked_key(key: KeyAttribute, value: object, most: int) -> KeyValue:
    """The value when it can be this key."""
    made = canonical(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if key_type_of(made) != key.type:
        raise WrongType(f"{key.name} is of type {key.type}, but was given a {type(value).__name__}.")
    size = size_of(made)
    if not 1 <= size <= most:
        raise BadKey(f"{key.name} must have 1 to {most} bytes, but was given {size}. Give it a value that fits.")
    return made  # pyright: ignore[reportReturnType] - key_type_of has just shown that it is one


def key_of_other_parts(table: TableSchema) -> BadKey:
    """The error for a key that has a sort key where the table has none, or none where it has one."""
    if table.sk is None:
        return BadKey(f"{table.name} has no sort key, but the key has one. Leave it out.")
    return BadKey(f"The key lacks {table.sk.name}, the sort key of {table.name}. Give it a value.")


def refuse_keyless(table: TableSchema, item: Item) -> None:
    """An item has every key of its table."""
    for key in table.keys:
        if key.name not in item:
            raise BadKey(f"The item lacks {key.name}, a key of {table.name}. Give it a value.")


def check_item(table: TableSchema, item: Item) -> None:
    """Refuse an item that no store would take, before any store is asked."""
    for place in (table, *table.indexes):
        _check_keys(place, item)
    size = item_size(item)
    if size > ITEM_BYTES:
        raise ItemTooLarge(f"The item is {size} bytes large; a table takes at most {ITEM_BYTES}. Split it.", size=size)


def _check_keys(place: TableSchema | IndexSchema, item: Item) -> None:
    for key, most in zip(place.keys, (PARTITION_KEY_BYTES, SORT_KEY_BYTES), strict=False):
        if key.name in item or isinstance(place, TableSchema):
            checked_key(key, item.get(key.name), most)
