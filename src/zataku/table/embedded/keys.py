"""Keys as bytes whose order is DynamoDB's: UTF-8 for strings, bytes as they are, numbers in their sortable form."""

from decimal import Decimal

from zataku.table.backend.errors import BadCursor, BadInput, BadKey, WrongType
from zataku.table.backend.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from zataku.table.backend.numbers import canonical, sortable
from zataku.table.backend.port import ItemKey, Position
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.backend.validation import key_parts_error, require_keys
from zataku.table.backend.values import Item, KeyValue, key_type_of

_WORDS = {"S": "a string", "N": "a number", "B": "bytes"}
NO_SORT_KEY = b""


def encoded(key: KeyAttribute, value: object, largest: int) -> bytes:
    """The bytes of one key value; refuses another type, an empty value and one that is too long."""
    if type(value) is str and key.type == "S":
        try:
            blob = value.encode()
        except UnicodeEncodeError:
            raise WrongType(
                f"{key.name} holds half a character (a lone surrogate). Give it whole characters."
            ) from None
    elif type(value) is bytes and key.type == "B":
        blob = value
    elif (type(value) is int or type(value) is Decimal) and key.type == "N":
        return sortable(canonical(value))
    else:
        raise WrongType(f"{key.name} is a key and must be {_WORDS[key.type]}, not {_described(value)}. Convert it.")
    if not blob:
        raise BadKey(f"{key.name} is empty, and a key needs at least one byte. Give it a value.")
    if len(blob) > largest:
        raise BadKey(f"{key.name} is {len(blob)} bytes long; a key of this kind has at most {largest}. Shorten it.")
    return blob


def _described(value: object) -> str:
    kind = key_type_of(value)
    return _WORDS[kind] if kind else type(value).__name__


def partition(key: KeyAttribute, value: object) -> bytes:
    """The bytes of a partition key."""
    return encoded(key, value, PARTITION_KEY_BYTES)


def sort(key: KeyAttribute | None, value: object) -> bytes:
    """The bytes of a sort key, or nothing where there is none."""
    return NO_SORT_KEY if key is None else encoded(key, value, SORT_KEY_BYTES)


def of_key(table: TableSchema, key: ItemKey) -> tuple[bytes, bytes]:
    """The bytes of a key given as values."""
    pk, sk = key
    if (sk is None) != (table.sk is None):
        raise key_parts_error(table)
    return partition(table.pk, pk), sort(table.sk, sk)


def of_item(table: TableSchema, item: Item) -> tuple[bytes, bytes]:
    """The bytes of an item's own key."""
    require_keys(table, item)
    pk = partition(table.pk, item[table.pk.name])
    return pk, NO_SORT_KEY if table.sk is None else encoded(table.sk, item[table.sk.name], SORT_KEY_BYTES)


def of_index(index: IndexSchema, item: Item) -> tuple[bytes, bytes] | None:
    """The bytes of the index key, or None for an item that is not in the index."""
    # An attribute that is there is checked even when the other is not, as DynamoDB does.
    ipk = partition(index.pk, item[index.pk.name]) if index.pk.name in item else None
    if index.sk is None:
        return None if ipk is None else (ipk, NO_SORT_KEY)
    if index.sk.name not in item:
        return None
    isk = encoded(index.sk, item[index.sk.name], SORT_KEY_BYTES)
    return None if ipk is None else (ipk, isk)


def of_index_if_fit(index: IndexSchema, item: Item) -> tuple[bytes, bytes] | None:
    """As `of_index`, but an item whose attributes do not fit the index is merely not in it.

    Items written before the index existed were never checked against it.
    """
    try:
        return of_index(index, item)
    except BadInput:
        return None


def key_item(table: TableSchema, key: ItemKey) -> Item:
    """The item that holds nothing but its key."""
    item: Item = {table.pk.name: _plain(key[0])}
    if table.sk is not None and key[1] is not None:
        item[table.sk.name] = _plain(key[1])
    return item


def _plain(value: KeyValue) -> KeyValue:
    return canonical(value) if isinstance(value, int | Decimal) else value


def position(table: TableSchema, index: IndexSchema | None, item: Item) -> Position:
    """Where a page ended whose last item this was."""
    keys = table.keys if index is None else (*table.keys, *index.keys)
    return {key.name: item[key.name] for key in keys}


def of_position(table: TableSchema, index: IndexSchema | None, start: Position) -> tuple[bytes, ...]:
    """The bytes to go on after: (pk, sk) of a table, (ipk, isk, pk, sk) of an index."""
    keys = table.keys if index is None else (*table.keys, *index.keys)
    if set(start) != {key.name for key in keys}:
        raise BadCursor("The position names other keys than this table or index has. Start from the first page.")
    try:
        own = of_item(table, start)
        if index is None:
            return own
        return (partition(index.pk, start[index.pk.name]), sort(index.sk, start.get(_name(index.sk))), *own)
    except BadInput as error:
        raise BadCursor(f"The position does not fit this table or index: {error.message}") from error


def _name(key: KeyAttribute | None) -> str:
    return "" if key is None else key.name
