"""A case of the golden table, the two tables that all cases use, and the calls of a case.

Sizes are worked out by hand. An item `{"pk": "p", "sk": "s"}` has 6 bytes: two names of two and two values of one.
Every further attribute adds its name and its value.
"""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from zataku.table.backend.cost import ConsumedCapacity, Resource
from zataku.table.backend.errors import ConditionFailed, TransactionCancelled
from zataku.table.backend.port import (
    Backend,
    DeleteItem,
    GetItem,
    PutItem,
    QueryItems,
    ScanItems,
    TransactWrite,
    UpdateItem,
)
from zataku.table.backend.table_schema import KEYS_ONLY, IndexSchema, KeyAttribute, TableSchema, include
from zataku.table.backend.values import Item

PK, SK = KeyAttribute("pk"), KeyAttribute("sk")
PLAIN = TableSchema("GoldenPlain", PK, SK)
# Attributes named w, b and n, s, l, m put an item into one index each; all of them are sparse.
WHOLE = IndexSchema("whole", KeyAttribute("w"))
BARE = IndexSchema("bare", KeyAttribute("b"), KeyAttribute("n", "N"), KEYS_ONLY)
SOME = IndexSchema("some", KeyAttribute("s"), projection=include("note"))
NEAR = IndexSchema("near", PK, KeyAttribute("l"), include("note"), local=True)
NEAR_ALL = IndexSchema("near_all", PK, KeyAttribute("m"), local=True)
INDEXED = TableSchema("GoldenIndexed", PK, SK, (WHOLE, BARE, SOME, NEAR, NEAR_ALL))


class BatchGet(Struct, frozen=True):
    """Several items, read independently."""

    reads: tuple[GetItem, ...]


class Snapshot(Struct, frozen=True):
    """Several items as of one moment."""

    reads: tuple[GetItem, ...]


class BatchWrite(Struct, frozen=True):
    """Several independent writes."""

    writes: tuple[PutItem | DeleteItem, ...]


class Transact(Struct, frozen=True):
    """A transaction. With `repeated` it was carried out before under the same token."""

    writes: tuple[TransactWrite, ...]
    repeated: bool = False


Call: TypeAlias = (
    GetItem | QueryItems | ScanItems | PutItem | UpdateItem | DeleteItem | BatchGet | Snapshot | BatchWrite | Transact
)
Costs: TypeAlias = Mapping[Resource, tuple[float, float]]


class Case(Struct, frozen=True):
    """A call on some stored items, with its cost by table and index (reads, writes) and the documented rule for it.

    A `refused` call raises; no server reports its cost.
    """

    name: str
    rule: str
    call: Call
    costs: Costs
    stored: tuple[Item, ...] = ()
    table: TableSchema = PLAIN
    refused: bool = False


def reads(table: float = 0, **indexes: float) -> Costs:
    """Read units of a call on the plain table, or on the table with indexes and on its indexes."""
    return _costs(0, table, indexes)


def writes(table: float = 0, **indexes: float) -> Costs:
    """Write units of a call, named as in `reads`."""
    return _costs(1, table, indexes)


def _costs(kind: int, table: float, indexes: Mapping[str, float]) -> Costs:
    name = INDEXED.name if indexes else PLAIN.name
    units: dict[Resource, float] = {(name, index): used for index, used in indexes.items() if index != "none"}
    if table:
        units[name, None] = table
    return {resource: (0, used) if kind else (used, 0) for resource, used in units.items()}


def padded(size: int, sk: str = "s") -> Item:
    """An item of that many bytes: 6 of the keys, 3 of the name `pad`, and the rest of its value."""
    return {"pk": "p", "sk": sk, "pad": "x" * (size - 9)}


def item(sk: str = "s", **attributes: object) -> Item:
    """An item of 6 bytes plus its attributes; `sk` is one character."""
    return {"pk": "p", "sk": sk, **attributes}


async def run_case(store: Backend, case: Case, consumed: ConsumedCapacity) -> None:
    """Store the items of the case, then make its call."""
    for stored in case.stored:
        await store.write(PutItem(case.table, stored))
    if isinstance(case.call, Transact) and case.call.repeated:
        await store.transact(case.call.writes, case.name[:36])
    try:
        await _make_call(store, case, consumed)
    except (ConditionFailed, TransactionCancelled):
        assert case.refused
    else:
        assert not case.refused


async def _make_call(store: Backend, case: Case, consumed: ConsumedCapacity) -> None:
    call = case.call
    if isinstance(call, GetItem):
        await store.get(call, consumed)
    elif isinstance(call, QueryItems):
        await store.query(call, consumed)
    elif isinstance(call, ScanItems):
        await store.scan(call, consumed)
    elif isinstance(call, BatchGet):
        await store.batch_get(call.reads, consumed)
    elif isinstance(call, Snapshot):
        await store.snapshot(call.reads, consumed)
    elif isinstance(call, BatchWrite):
        await store.batch_write(call.writes, consumed)
    elif isinstance(call, Transact):
        await store.transact(call.writes, case.name[:36] if call.repeated else None, consumed)
    else:
        await store.write(call, consumed)
