"""Items as rows of the file: packed, measured by DynamoDB's rules, with the bytes of their table and index keys.

Key bytes sort as DynamoDB sorts keys: UTF-8 for strings, bytes as they are, numbers in their sortable form.
"""

import math
from decimal import Decimal
from typing import NamedTuple

from zataku.table.backend.condition_evaluation import equal
from zataku.table.backend.errors import BadCursor, BadInput, BadKey, ItemTooLarge, WrongType
from zataku.table.backend.limits import ITEM_BYTES, PARTITION_KEY_BYTES, SORT_KEY_BYTES
from zataku.table.backend.numbers import canonical, sortable
from zataku.table.backend.port import ItemKey, Position
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.backend.validation import key_parts_error, require_keys
from zataku.table.backend.values import Item, KeyValue, key_type_of, normalize, pack, size_of, unpack
from zataku.table.embedded.catalog import StoredTable

NO_SORT_KEY = b""
_TYPE_NAMES = {"S": "a string", "N": "a number", "B": "bytes"}
_MAX_EXPIRY_SECOND = 2**62
_MAX_SHORT_INTEGER = 10**18


class StoredRow:
    """A row of the file."""

    __slots__ = ("_item", "packed", "row_id", "size")

    def __init__(self, row_id: int, packed: bytes, size: int) -> None:
        self.row_id = row_id
        self.packed = packed
        self.size = size
        self._item: Item | None = None

    @property
    def item(self) -> Item:
        """The unpacked item; not to be modified."""
        if self._item is None:
            self._item = unpack(self.packed)
        return self._item

    def has_same_item(self, new: "NewRow") -> bool:
        """True when the new row holds the same item, in any order of its attributes."""
        if self.packed == new.packed:
            return True
        # Equal items pack to equal lengths, so most different items are told apart without unpacking.
        return len(self.packed) == len(new.packed) and equal(self.item, new.item)


class UpdatedRow(NamedTuple):
    """The stored state of an item that is being updated, and the attributes that the update names."""

    item: Item
    size: int
    pk: bytes
    sk: bytes
    named: frozenset[str | int]


class NewRow:
    """An item checked and packed for one table."""

    __slots__ = ("expires", "index_keys", "item", "packed", "pk", "size", "sk", "table")

    def __init__(self, table: StoredTable, raw: Item, before: UpdatedRow | None = None) -> None:
        schema = table.schema
        try:
            item, self.size = measure(raw) if before is None else measure_update(raw, before)
            self.packed = pack(item)
        except UnicodeEncodeError:
            raise WrongType("The item holds half a character (a lone surrogate). Give it whole characters.") from None
        self.table = table
        self.item = item
        self.pk, self.sk = item_key(schema, item) if before is None else (before.pk, before.sk)
        self.index_keys = [index_key(index.schema, item) for index in table.indexes]
        if self.size > ITEM_BYTES:
            raise ItemTooLarge(
                f"The item is {self.size} bytes large; a table takes at most {ITEM_BYTES}. Split it, or keep the large "
                "part elsewhere.",
                size=self.size,
            )
        self.expires = expiry_second(schema.ttl, item)

    def for_table(self, table: StoredTable) -> "NewRow":
        """The same item for the current table: an index may have been added since the row was made."""
        return self if table is self.table else NewRow(table, self.item)


def measure(raw: Item) -> tuple[Item, int]:
    """The item in its stored form, and its size by DynamoDB's rules.

    The same as `normalize` and `item_size`, in one pass and with a short path for text and integers, of which most
    items consist: this runs for every write.
    """
    item: Item = {}
    size = 0
    for name, value in raw.items():
        if type(name) is not str:
            raise WrongType(f"Names of attributes are strings, not {type(name).__name__}. Convert it.")
        size += len(name) if name.isascii() else len(name.encode())
        if type(value) is str:
            size += len(value) if value.isascii() else len(value.encode())
        elif type(value) is int and -_MAX_SHORT_INTEGER < value < _MAX_SHORT_INTEGER:
            size += _size_of_integer(value)
        else:
            value = normalize(value)
            size += size_of(value)
        item[name] = value
    return item, size


def measure_update(raw: Item, before: UpdatedRow) -> tuple[Item, int]:
    """As `measure`, for an item in which only the named attributes can differ from the stored form."""
    named = [name for name in before.named if isinstance(name, str)]
    _, removed = measure({name: before.item[name] for name in named if name in before.item})
    new, added = measure({name: raw[name] for name in named if name in raw})
    return raw | new, before.size - removed + added


def _size_of_integer(value: int) -> int:
    if not value:
        return 1
    digits = str(value).lstrip("-")
    significant = len(digits.rstrip("0"))
    places = significant + (len(digits) - significant) % 2
    return (places + 1) // 2 + 1 + (value < 0)


def expiry_second(ttl: str | None, item: Item) -> int | None:
    """The second after which the item may be swept, if it has one."""
    if ttl is None:
        return None
    value = item.get(ttl)
    if type(value) is not int and type(value) is not Decimal:
        return None
    return math.ceil(value) if abs(value) < _MAX_EXPIRY_SECOND else None


def encode_key(key: KeyAttribute, value: object, max_bytes: int) -> bytes:
    """The bytes of one key value; refuses another type, an empty value and one that is too long."""
    if type(value) is str and key.type == "S":
        try:
            encoded = value.encode()
        except UnicodeEncodeError:
            raise WrongType(
                f"{key.name} holds half a character (a lone surrogate). Give it whole characters."
            ) from None
    elif type(value) is bytes and key.type == "B":
        encoded = value
    elif (type(value) is int or type(value) is Decimal) and key.type == "N":
        return sortable(canonical(value))
    else:
        raise WrongType(
            f"{key.name} is a key and must be {_TYPE_NAMES[key.type]}, not {_type_name(value)}. Convert it."
        )
    if not encoded:
        raise BadKey(f"{key.name} is empty, and a key needs at least one byte. Give it a value.")
    if len(encoded) > max_bytes:
        raise BadKey(
            f"{key.name} is {len(encoded)} bytes long; a key of this kind has at most {max_bytes}. Shorten it."
        )
    return encoded


def _type_name(value: object) -> str:
    kind = key_type_of(value)
    return _TYPE_NAMES[kind] if kind else type(value).__name__


def partition_key(key: KeyAttribute, value: object) -> bytes:
    """The bytes of a partition key."""
    return encode_key(key, value, PARTITION_KEY_BYTES)


def sort_key(key: KeyAttribute | None, value: object) -> bytes:
    """The bytes of a sort key; empty where the table or index has none."""
    return NO_SORT_KEY if key is None else encode_key(key, value, SORT_KEY_BYTES)


def table_key(table: TableSchema, key: ItemKey) -> tuple[bytes, bytes]:
    """The bytes of a key given as values."""
    pk, sk = key
    if (sk is None) != (table.sk is None):
        raise key_parts_error(table)
    return partition_key(table.pk, pk), sort_key(table.sk, sk)


def item_key(table: TableSchema, item: Item) -> tuple[bytes, bytes]:
    """The bytes of an item's own key."""
    require_keys(table, item)
    pk = partition_key(table.pk, item[table.pk.name])
    return pk, NO_SORT_KEY if table.sk is None else encode_key(table.sk, item[table.sk.name], SORT_KEY_BYTES)


def index_key(index: IndexSchema, item: Item) -> tuple[bytes, bytes] | None:
    """The bytes of the index key, or None for an item that is not in the index."""
    # An attribute that is present is checked even when the other is missing, as DynamoDB does.
    ipk = partition_key(index.pk, item[index.pk.name]) if index.pk.name in item else None
    if index.sk is None:
        return None if ipk is None else (ipk, NO_SORT_KEY)
    if index.sk.name not in item:
        return None
    isk = encode_key(index.sk, item[index.sk.name], SORT_KEY_BYTES)
    return None if ipk is None else (ipk, isk)


def index_key_if_valid(index: IndexSchema, item: Item) -> tuple[bytes, bytes] | None:
    """As `index_key`, but None for attributes that cannot be keys: items older than the index were never checked."""
    try:
        return index_key(index, item)
    except BadInput:
        return None


def has_same_index_key(index: IndexSchema, old: Item, new: Item) -> bool:
    """True when both items have the same key attributes for the index: most updates touch no index."""
    for key in index.keys:
        before, after = old.get(key.name), new.get(key.name)
        # True equals 1 in Python, but only one of them can be a key.
        if type(before) is not type(after) or before != after:
            return False
    return True


def key_only_item(table: TableSchema, key: ItemKey) -> Item:
    """The item that has nothing but its key."""
    item: Item = {table.pk.name: _stored_value(key[0])}
    if table.sk is not None and key[1] is not None:
        item[table.sk.name] = _stored_value(key[1])
    return item


def _stored_value(value: KeyValue) -> KeyValue:
    return canonical(value) if isinstance(value, int | Decimal) else value


def position_of(table: TableSchema, index: IndexSchema | None, item: Item) -> Position:
    """The position of a page that ends with this item."""
    keys = table.keys if index is None else (*table.keys, *index.keys)
    return {key.name: item[key.name] for key in keys}


def position_key(table: TableSchema, index: IndexSchema | None, start: Position) -> tuple[bytes, ...]:
    """The key bytes after which the next page begins: (pk, sk) of a table, (ipk, isk, pk, sk) of an index."""
    keys = table.keys if index is None else (*table.keys, *index.keys)
    if set(start) != {key.name for key in keys}:
        raise BadCursor("The position names other keys than this table or index has. Start from the first page.")
    try:
        own = item_key(table, start)
        if index is None:
            return own
        isk = sort_key(index.sk, None if index.sk is None else start[index.sk.name])
        return (partition_key(index.pk, start[index.pk.name]), isk, *own)
    except BadInput as error:
        raise BadCursor(f"The position does not fit this table or index: {error.message}") from error
