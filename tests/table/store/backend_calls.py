"""Every call that a backend takes, and what AWS wants to have granted for it."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from tests.support.designs import live
from zataku.table import Table
from zataku.table.backend import expression as ex
from zataku.table.backend.port import (
    Backend,
    CheckItem,
    DeleteItem,
    GetItem,
    PutItem,
    QueryItems,
    ScanItems,
    TransactWrite,
    UpdateItem,
)
from zataku.table.backend.table_schema import IndexSchema, TableSchema

ENV = "dev"
# An action and what follows `table/` in the ARN of its resource.
Needed = tuple[str, str]


class Call(Struct, frozen=True):
    """A call with what it needs, by AWS's documentation of each operation's permissions."""

    name: str
    needs: frozenset[Needed]
    make: Callable[[Backend], Awaitable[object]]


def read_of(table: TableSchema) -> GetItem:
    return GetItem(table, ("a", None if table.sk is None else "b"))


def write_of(kind: str, table: TableSchema) -> TransactWrite:
    key = ("a", None if table.sk is None else "b")
    if kind == "PutItem":
        item = {name.name: value for name, value in zip(table.keys, ("a", "b"), strict=False)}
        return PutItem(table, item, ex.Missing((table.pk.name,)))
    if kind == "UpdateItem":
        return UpdateItem(table, key, (ex.Assign(("x",), ex.Literally(1)),))
    return DeleteItem(table, key) if kind == "DeleteItem" else CheckItem(table, key, ex.Exists((table.pk.name,)))


WRITES = ("PutItem", "UpdateItem", "DeleteItem")


def calls(tables: tuple[Table, ...] = live.TABLES) -> list[Call]:
    """All calls on one table or index, and all pairs of tables in one call."""
    schemas = [table.schema(ENV) for table in tables]
    found: list[Call] = []
    for schema in schemas:
        found += single(schema)
        found += [
            made for index in (None, *schema.indexes) for made in (querying(schema, index), scanning(schema, index))
        ]
        found += streaming(schema)
    found += [made for first in schemas for second in schemas for made in together(first, second)]
    return found


def single(schema: TableSchema) -> list[Call]:
    found = [Call("get", frozenset({("GetItem", schema.name)}), lambda store: store.get(read_of(schema)))]
    for kind in WRITES:
        write = write_of(kind, schema)
        found.append(Call(kind, frozenset({(kind, schema.name)}), lambda store, write=write: store.write(write)))
    return found


def querying(schema: TableSchema, index: IndexSchema | None) -> Call:
    where = schema.name if index is None else f"{schema.name}/index/{index.name}"
    read = QueryItems(schema, "a", index)
    return Call("query", frozenset({("Query", where)}), lambda store: store.query(read))


def scanning(schema: TableSchema, index: IndexSchema | None) -> Call:
    where = schema.name if index is None else f"{schema.name}/index/{index.name}"
    read = ScanItems(schema, index)
    return Call("scan", frozenset({("Scan", where)}), lambda store: store.scan(read))


def streaming(schema: TableSchema) -> list[Call]:
    if schema.stream is None:
        return []
    stream = f"{schema.name}/stream/2026-02-21T10:30:00.000"
    needs = frozenset((action, stream) for action in ("DescribeStream", "GetRecords", "GetShardIterator"))
    return [
        Call("changes", needs, lambda store: store.changes(schema, "somebody", 10)),
        Call("acknowledge", needs, lambda store: store.acknowledge(schema, "somebody", "1")),
        Call("forget", needs, lambda store: store.forget(schema, "somebody")),
    ]


def together(first: TableSchema, second: TableSchema) -> list[Call]:
    both = (first, second)
    reads = [read_of(schema) for schema in both]
    puts = [PutItem(schema, {key.name: "a" for key in schema.keys}) for schema in both]
    found = [
        Call("batch_get", _each("BatchGetItem", both), lambda store: store.batch_get(reads)),
        Call("snapshot", _each("GetItem", both), lambda store: store.snapshot(reads)),
        Call("batch_write", _each("BatchWriteItem", both), lambda store: store.batch_write(puts)),
    ]
    for one in (*WRITES, "ConditionCheckItem"):
        for other in (*WRITES, "ConditionCheckItem"):
            writes = [write_of(one, first), write_of(other, second)]
            needs = frozenset({(one, first.name), (other, second.name)})
            found.append(Call("transact", needs, lambda store, writes=writes: store.transact(writes)))
    return found


def _each(action: str, schemas: tuple[TableSchema, ...]) -> frozenset[Needed]:
    return frozenset((action, schema.name) for schema in schemas)
