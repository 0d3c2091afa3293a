"""Checks of requests and items that DynamoDB refuses before it reads stored items, the same on every store."""

from collections.abc import Sequence

from zataku.table.backend.errors import (
    BadInput,
    BadKey,
    BadUpdate,
    ItemTooLarge,
    StrongReadRefused,
    TooManyItems,
    TransactionTooLarge,
    WrongType,
)
from zataku.table.backend.expression import Expression, routes_in
from zataku.table.backend.expression_strings import check_update_size
from zataku.table.backend.limits import (
    BATCH_GETS,
    ITEM_BYTES,
    PARTITION_KEY_BYTES,
    SORT_KEY_BYTES,
    TOKEN_CHARACTERS,
    TRANSACTION_BYTES,
    TRANSACTION_ITEMS,
)
from zataku.table.backend.numbers import canonical
from zataku.table.backend.port import TransactWrite, UpdateItem
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.backend.update_evaluation import check_overlaps
from zataku.table.backend.values import Item, KeyValue, item_size, key_type_of, size_of

_MAX_SEGMENTS = 1_000_000
# An update of so many actions is well within DynamoDB's limits.
_SHORT_UPDATE = 16


def checked_attributes(attributes: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The projection, which must name at least one attribute and none twice."""
    if attributes is not None and (not attributes or len(set(attributes)) < len(attributes)):
        raise BadInput("The projection is empty or names an attribute twice. Name each once, or leave it out.")
    return attributes


def check_read_count(count: int) -> None:
    """Raise `TooManyItems` when one call reads more items than allowed."""
    if count > BATCH_GETS:
        raise TooManyItems(f"The call names {count} items; {BATCH_GETS} can be read at once. Split it.")


def check_page(index: IndexSchema | None, limit: int | None, strong: bool) -> None:
    """Raise for an invalid limit, and for a strong read of a global index."""
    if limit is not None and limit < 1:
        raise BadInput("A page has a limit of at least 1. Give a larger one, or none.")
    if index is not None and not index.local and strong:
        raise StrongReadRefused(f"{index.name} is a global index, which has no strong reads. Read without strong.")


def check_segment(segment: int, segments: int) -> None:
    """Raise for a segment that does not exist."""
    if not 0 <= segment < segments <= _MAX_SEGMENTS:
        raise BadInput(f"There is no segment {segment} of {segments}. Count them from 0.")


def check_projection(table: TableSchema, index: IndexSchema, requested: Sequence[str]) -> None:
    """Raise when a global index does not hold a requested attribute."""
    held = table.projected(index)
    missing = [] if held is None else [name for name in requested if name not in held]
    if missing:
        raise BadInput(f"{index.name} does not hold {', '.join(missing)}. Widen its projection or request less.")


def check_filter(table: TableSchema, index: IndexSchema | None, condition: Expression) -> None:
    """Raise when the filter of a query refers to the keys of the query."""
    names = {key.name for key in (table.keys if index is None else index.keys)}
    used = attribute_names_in(condition) & names
    if used:
        raise BadInput(
            f"A filter cannot use {', '.join(sorted(map(str, used)))}, a key of this query. Use the key range."
        )


def attribute_names_in(condition: Expression) -> set[str | int]:
    """The attributes that a condition refers to."""
    return {route[0] for route in routes_in(condition)}


def check_changes(table: TableSchema, write: UpdateItem) -> None:
    """Raise when an update changes a path twice, or a key of the item, or is too long."""
    names = {key.name for key in table.keys}
    for action in write.actions:
        if not action.route:
            raise BadUpdate("An edit names no attribute. Give it a path.")
        if action.route[0] in names:
            raise BadUpdate(f"{action.route[0]} is a key and cannot be changed. Write a new item and delete this one.")
    check_overlaps(write.actions)
    if len(write.actions) > _SHORT_UPDATE:
        check_update_size(write.actions)


def check_transaction(writes: Sequence[TransactWrite], token: str | None) -> None:
    """Raise for a transaction without items, with too many, or with an invalid token."""
    if not writes:
        raise BadInput("The transaction is empty. Give it at least one write.")
    if len(writes) > TRANSACTION_ITEMS:
        raise TooManyItems(f"The transaction names {len(writes)} items; {TRANSACTION_ITEMS} are allowed. Split it.")
    check_token(token)


def check_token(token: str | None) -> None:
    """Raise for an idempotency token that is empty or too long."""
    if token is not None and not 1 <= len(token) <= TOKEN_CHARACTERS:
        raise BadInput(f"An idempotency token has 1 to {TOKEN_CHARACTERS} characters, not {len(token)}. Change it.")


def check_transaction_size(size: int) -> None:
    """Raise when the items of a transaction have too many bytes."""
    if size > TRANSACTION_BYTES:
        raise TransactionTooLarge(f"The items add up to {size} bytes; {TRANSACTION_BYTES} are allowed. Split the work.")


def checked_key(key: KeyAttribute, value: object, max_bytes: int) -> KeyValue:
    """The canonical key value; raises when it cannot be this key."""
    canonical_value = canonical(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if key_type_of(canonical_value) != key.type:
        raise WrongType(f"{key.name} is of type {key.type}, but was given a {type(value).__name__}.")
    size = size_of(canonical_value)
    if not 1 <= size <= max_bytes:
        raise BadKey(f"{key.name} must have 1 to {max_bytes} bytes, but was given {size}. Give it a value that fits.")
    return canonical_value  # pyright: ignore[reportReturnType] - key_type_of has checked it


def key_parts_error(table: TableSchema) -> BadKey:
    """The error for a key with a sort key where the table has none, or without one where it has one."""
    if table.sk is None:
        return BadKey(f"{table.name} has no sort key, but the key has one. Leave it out.")
    return BadKey(f"The key lacks {table.sk.name}, the sort key of {table.name}. Give it a value.")


def require_keys(table: TableSchema, item: Item) -> None:
    """Raise when an item lacks a key of its table."""
    # Spelt out for both keys: every write runs this.
    if table.pk.name not in item:
        raise _missing_key(table, table.pk)
    if table.sk is not None and table.sk.name not in item:
        raise _missing_key(table, table.sk)


def _missing_key(table: TableSchema, key: KeyAttribute) -> BadKey:
    return BadKey(f"The item lacks {key.name}, a key of {table.name}. Give it a value.")


def check_item(table: TableSchema, item: Item) -> None:
    """Raise for an item with invalid keys or too many bytes."""
    for schema in (table, *table.indexes):
        _check_keys(schema, item)
    size = item_size(item)
    if size > ITEM_BYTES:
        raise ItemTooLarge(f"The item is {size} bytes large; a table takes at most {ITEM_BYTES}. Split it.", size=size)


def _check_keys(schema: TableSchema | IndexSchema, item: Item) -> None:
    for key, max_bytes in zip(schema.keys, (PARTITION_KEY_BYTES, SORT_KEY_BYTES), strict=False):
        if key.name in item or isinstance(schema, TableSchema):
            checked_key(key, item.get(key.name), max_bytes)
