"""Looking into a table item by item: a partition in the order of its sort key, or page after page of everything."""

from base64 import b64decode
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Literal

import msgspec

from zataku.errors import InvalidRequest, NotFound, Unavailable
from zataku.server.admin.messages import ItemPage, ItemView, KeyCondition
from zataku.server.admin.tables.masking import masked
from zataku.table import BadInput, IndexNotReady, IndexSchema, Item, KeyAttribute, KeyValue, Store, Table, TableSchema
from zataku.table.backend.limits import PARTITION_KEY_BYTES, SORT_KEY_BYTES
from zataku.table.backend.numbers import canonical
from zataku.table.backend.port import KeyRange, QueryItems, Rows, ScanItems
from zataku.table.backend.validation import checked_key
from zataku.table.backend.values import item_size, unpack_row
from zataku.table.dynamodb.wire import wire_item
from zataku.table.store import cursor

_SIGNS: dict[KeyCondition, Literal["=", "<", "<=", ">", ">=", "between", "begins"]] = {
    "eq": "=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "begins_with": "begins",
    "between": "between",
}


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to see. Without a partition key it is everything, in no order."""

    index: str | None = None
    pk: str | None = None
    op: KeyCondition | None = None
    sk: str | None = None
    sk2: str | None = None
    newest: bool = False
    limit: int = 25
    after: str | None = None


async def browse(store: Store, table: Table, wanted: Wanted) -> ItemPage:
    """The items that are wanted, with what reading them took."""
    schema = store.schema(table)
    index = _index(schema, wanted.index)
    secret = await store.backend.secret()
    try:
        read = _read(schema, index, wanted)
        place = _fingerprint(wanted, schema)
        start = None if not wanted.after else cursor.read(wanted.after, place, secret)
        read = msgspec.structs.replace(read, start=start, limit=wanted.limit)
        with store.measured(f"{table.name}.browse") as consumed:
            rows = await _rows(store, read)
    except IndexNotReady as refused:
        raise Unavailable(refused.message, code=refused.code) from refused
    except BadInput as refused:
        raise InvalidRequest(refused.message, code=refused.code) from refused
    following = None if rows.resume is None else cursor.sign(rows.resume, place, secret)
    items = [_view(table, index, unpack_row(row)) for row in rows.rows]
    return ItemPage(items=items, read_units=consumed.reads, next=following)


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
    known = ", ".join(index.name for index in schema.indexes) or "none"
    raise NotFound(f"{schema.name} has no index {name}. There are: {known}.")


def _read(schema: TableSchema, index: IndexSchema | None, wanted: Wanted) -> QueryItems | ScanItems:
    place = index or schema
    if not wanted.pk:
        if wanted.op or wanted.sk or wanted.sk2 or wanted.newest:
            raise InvalidRequest(f"Sort keys are in order within a partition only. Give {place.pk.name} too, as pk.")
        return ScanItems(schema, index)
    pk = read_key(place.pk, wanted.pk, PARTITION_KEY_BYTES)
    return QueryItems(schema, pk, index, _range(place.sk, wanted), newest_first=wanted.newest)


def _range(key: KeyAttribute | None, wanted: Wanted) -> KeyRange | None:
    if not wanted.sk:
        if wanted.op or wanted.sk2:
            raise InvalidRequest("A comparison needs something to compare with. Give sk too.")
        return None
    if key is None:
        raise InvalidRequest("There is no sort key here. Leave sk and op out.")
    op = wanted.op or "eq"
    if (op == "between") != bool(wanted.sk2):
        raise InvalidRequest("between takes both ends, sk and sk2, and nothing else does.")
    low = read_key(key, wanted.sk, SORT_KEY_BYTES)
    high = read_key(key, wanted.sk2, SORT_KEY_BYTES) if wanted.sk2 else None
    return KeyRange(_SIGNS[op], low, high)


def read_key(key: KeyAttribute, text: str, most: int) -> KeyValue:
    """A key as a person writes it: numbers in digits, bytes in base64."""
    value: object = text
    try:
        if key.type == "N":
            value = canonical(Decimal(text))
        elif key.type == "B":
            value = b64decode(text, validate=True)
    except (InvalidOperation, ValueError):
        form = "a number" if key.type == "N" else "bytes in base64"
        raise InvalidRequest(f"{key.name} is {form}, which {text!r} is not.") from None
    return checked_key(key, value, most)


def _fingerprint(wanted: Wanted, schema: TableSchema) -> bytes:
    """Tells one way of looking from any other, whatever the length of its pages."""
    where = (schema.name, wanted.index, wanted.pk, wanted.op, wanted.sk, wanted.sk2, wanted.newest)
    return b"admin " + repr(where).encode("utf-8", "surrogatepass")


def _view(table: Table, index: IndexSchema | None, item: Item) -> ItemView:
    kind = next((each.entity.__name__ for each in table.bindings if each.owns(item)), None)
    keys = [key.name for key in (*table.keys, *(index.keys if index else ()))]
    shown, names = masked(item)
    ordered = {name: shown[name] for name in dict.fromkeys((*keys, *sorted(shown))) if name in shown}
    attributes = wire_item(ordered)
    key = {each.name: attributes[each.name] for each in table.keys}
    return ItemView(kind=kind, key=key, attributes=attributes, masked=names, bytes=item_size(item))
