"""The item browser: the items of a partition in the order of their sort keys, or pages of a whole table."""

from base64 import b64decode
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Literal

import msgspec

from zataku.errors import InvalidRequest, NotFound, Unavailable
from zataku.server.admin.messages import ItemPage, ItemView, KeyCondition
from zataku.table import (
    BadInput,
    IndexNotReady,
    IndexSchema,
    Item,
    KeyAttribute,
    KeyValue,
    Store,
    Table,
    TableSchema,
    UnreadableItem,
)
from zataku.table.backend.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from zataku.table.backend.numbers import canonical
from zataku.table.backend.port import KeyRange, QueryItems, Rows, ScanItems
from zataku.table.backend.validation import checked_key
from zataku.table.backend.values import item_size, unpack_row
from zataku.table.backend.wire import wire_item
from zataku.table.store import cursor
from zataku.table.store.row_readers import item_or_problem

_OPERATORS: dict[KeyCondition, Literal["=", "<", "<=", ">", ">=", "between", "begins"]] = {
    "eq": "=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "begins_with": "begins",
    "between": "between",
}


SECRET_ATTRIBUTES = frozenset({"password", "tokenHash", "keyHash"})
"""Hashes of passwords, cookies and keys, which are hidden even from admins."""

MASK = "••••••••"
_VISIBLE_LETTERS = 8
# One search for items that do not fit looks at 2,000 items, few enough at a time for the event loop.
_SEARCH_ITEMS = 200
_MAX_SEARCH_READS = 10


class ItemQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query for items. Without a partition key it scans the table, in no order.

    `unreadable` leaves out the items that fit their entity.
    """

    index: str | None = None
    pk: str | None = None
    op: KeyCondition | None = None
    sk: str | None = None
    sk2: str | None = None
    newest: bool = False
    unreadable: bool = False
    limit: int = 25
    after: str | None = None


async def browse(store: Store, table: Table, query: ItemQuery) -> ItemPage:
    """A page of items, with the read units that it cost."""
    schema = store.schema(table)
    index = _index(schema, query.index)
    secret = await store.backend.secret()
    try:
        read = _read(schema, index, query)
        fingerprint = _fingerprint(query, schema)
        start = None if not query.after else cursor.read(query.after, fingerprint, secret)
        read = msgspec.structs.replace(read, start=start, limit=query.limit)
        with store.measured(f"{table.name}.browse") as consumed:
            rows, items = await (_search_unreadable if query.unreadable else _read_items)(store, table, read)
    except IndexNotReady as refused:
        raise Unavailable(refused.message, code=refused.code) from refused
    except BadInput as refused:
        raise InvalidRequest(refused.message, code=refused.code) from refused
    following = None if rows.resume is None else cursor.sign(rows.resume, fingerprint, secret)
    return ItemPage(items=items, scanned=rows.scanned, read_units=consumed.reads, next=following)


async def _read_items(store: Store, table: Table, read: QueryItems | ScanItems) -> tuple[Rows, list[ItemView]]:
    rows = await _rows(store, read)
    return rows, [_view(table, read.index, unpack_row(row)) for row in rows.rows]


async def _search_unreadable(store: Store, table: Table, read: QueryItems | ScanItems) -> tuple[Rows, list[ItemView]]:
    """The next items that do not fit their entity; the search of a large table goes on with the next page."""
    if read.index is not None:
        raise InvalidRequest("An index may hold part of an item only. Search the table for items that do not fit.")
    wanted, found, scanned = read.limit or 1, list[ItemView](), 0
    rows = Rows([], read.start, 0, 0)
    for _ in range(_MAX_SEARCH_READS):
        rows = await _rows(store, msgspec.structs.replace(read, limit=_SEARCH_ITEMS, start=rows.resume))
        scanned += rows.scanned
        found += [view for row in rows.rows if (view := _view(table, None, unpack_row(row))).problem is not None]
        if rows.resume is None or len(found) >= wanted:
            break
    return msgspec.structs.replace(rows, scanned=scanned), found


async def _rows(store: Store, read: QueryItems | ScanItems) -> Rows:
    label = f"{read.table.name}.browse"
    if isinstance(read, QueryItems):
        return await store.calls(label, partial(store.backend.query, read), repeatable=True)
    return await store.calls(label, partial(store.backend.scan, read), repeatable=True)


def _index(schema: TableSchema, name: str | None) -> IndexSchema | None:
    if not name:
        return None
    for index in schema.indexes:
        if index.name == name:
            return index
    names = ", ".join(index.name for index in schema.indexes) or "none"
    raise NotFound(f"{schema.name} has no index {name}. There are: {names}.")


def _read(schema: TableSchema, index: IndexSchema | None, query: ItemQuery) -> QueryItems | ScanItems:
    keys = index or schema
    if not query.pk:
        if query.op or query.sk or query.sk2 or query.newest:
            raise InvalidRequest(f"Sort keys are ordered within a partition only. Give {keys.pk.name} as pk.")
        return ScanItems(schema, index)
    pk = read_key(keys.pk, query.pk, PARTITION_KEY_BYTES)
    return QueryItems(schema, pk, index, _range(keys.sk, query), newest_first=query.newest)


def _range(key: KeyAttribute | None, query: ItemQuery) -> KeyRange | None:
    if not query.sk:
        if query.op or query.sk2:
            raise InvalidRequest("A comparison needs a value. Give sk.")
        return None
    if key is None:
        raise InvalidRequest("This table or index has no sort key. Leave out sk and op.")
    op = query.op or "eq"
    if (op == "between") != bool(query.sk2):
        raise InvalidRequest("Only between takes both sk and sk2.")
    low = read_key(key, query.sk, SORT_KEY_BYTES)
    high = read_key(key, query.sk2, SORT_KEY_BYTES) if query.sk2 else None
    return KeyRange(_OPERATORS[op], low, high)


def read_key(key: KeyAttribute, text: str, max_bytes: int) -> KeyValue:
    """The key value of a typed text: numbers in digits, bytes in base64."""
    value: object = text
    try:
        if key.type == "N":
            value = canonical(Decimal(text))
        elif key.type == "B":
            value = b64decode(text, validate=True)
    except (InvalidOperation, ValueError):
        form = "a number" if key.type == "N" else "bytes in base64"
        raise InvalidRequest(f"{key.name} must be {form}; {text!r} is not.") from None
    return checked_key(key, value, max_bytes)


def _fingerprint(query: ItemQuery, schema: TableSchema) -> bytes:
    """Identifies a query, whatever its page size, so that a cursor works for its own query only."""
    identity = (schema.name, query.index, query.pk, query.op, query.sk, query.sk2, query.newest, query.unreadable)
    return b"admin " + repr(identity).encode("utf-8", "surrogatepass")


def _view(table: Table, index: IndexSchema | None, item: Item) -> ItemView:
    kind = next((binding.entity.__name__ for binding in table.bindings if binding.owns(item)), None)
    keys = [key.name for key in (*table.keys, *(index.keys if index else ()))]
    shown, names = mask_secrets(item)
    ordered = {name: shown[name] for name in dict.fromkeys((*keys, *sorted(shown))) if name in shown}
    attributes = wire_item(ordered)
    key = {key.name: attributes[key.name] for key in table.keys}
    size, problem = item_size(item), _problem(table, index, item)
    return ItemView(kind=kind, key=key, attributes=attributes, masked=names, bytes=size, problem=problem)


def _problem(table: Table, index: IndexSchema | None, item: Item) -> str | None:
    """Why the item does not fit its entity. An index may hold part of an item, of which nothing can be said."""
    if index is not None and index.projection.kind != "ALL":
        return None
    found = item_or_problem(table, item)
    return str(_shorten(found.reason, _secrets(item))) if isinstance(found, UnreadableItem) else None


def mask_secrets(item: Item) -> tuple[Item, list[str]]:
    """The item with its secrets masked, and their names. A secret within a key is cut to its first letters."""
    names = sorted(SECRET_ATTRIBUTES.intersection(item))
    secrets = _secrets(item)
    shown = {name: MASK if name in SECRET_ATTRIBUTES else _shorten(value, secrets) for name, value in item.items()}
    return shown, names


def _secrets(item: Item) -> list[str]:
    values = (item.get(name) for name in sorted(SECRET_ATTRIBUTES))
    return [value for value in values if isinstance(value, str) and value]


def _shorten(value: object, secrets: list[str]) -> object:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, f"{secret[:_VISIBLE_LETTERS]}…")
    return value
