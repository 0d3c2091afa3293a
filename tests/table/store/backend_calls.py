"""Every call of a backend, with the permissions that AWS requires for it."""

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
# An action and the part of its resource's ARN after `table/`.
RequiredPermission = tuple[str, str]


class Call(Struct, frozen=True):
    """A call with the permissions it needs, from AWS's documentation of each operation."""

    name: str
    needs: frozenset[RequiredPermission]
    run: Callable[[Backend], Awaitable[object]]


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
    all_calls: list[Call] = []
    for schema in schemas:
        all_calls += item_calls(schema)
        for index in (None, *schema.indexes):
            all_calls += [query_call(schema, index), scan_call(schema, index)]
        all_calls += stream_calls(schema)
    all_calls += [call for first in schemas for second in schemas for call in two_table_calls(first, second)]
    return all_calls


def item_calls(schema: TableSchema) -> list[Call]:
    calls_on_item = [Call("get", frozenset({("GetItem", schema.name)}), lambda store: store.get(read_of(schema)))]
    for kind in WRITES:
        write = write_of(kind, schema)
        calls_on_item.append(
            Call(kind, frozenset({(kind, schema.name)}), lambda store, write=write: store.write(write))
        )
    return calls_on_item


def query_call(schema: TableSchema, index: IndexSchema | None) -> Call:
    resource = schema.name if index is None else f"{schema.name}/index/{index.name}"
    read = QueryItems(schema, "a", index)
    return Call("query", frozenset({("Query", resource)}), lambda store: store.query(read))


def scan_call(schema: TableSchema, index: IndexSchema | None) -> Call:
    resource = schema.name if index is None else f"{schema.name}/index/{index.name}"
    read = ScanItems(schema, index)
    return Call("scan", frozenset({("Scan", resource)}), lambda store: store.scan(read))


def stream_calls(schema: TableSchema) -> list[Call]:
    if schema.stream is None:
        return []
    stream = f"{schema.name}/stream/2026-02-21T10:30:00.000"
    needs = frozenset((action, stream) for action in ("DescribeStream", "GetRecords", "GetShardIterator"))
    return [
        Call("changes", needs, lambda store: store.changes(schema, "consumer", 10)),
        Call("acknowledge", needs, lambda store: store.acknowledge(schema, "consumer", "1")),
        Call("forget", needs, lambda store: store.forget(schema, "consumer")),
    ]


def two_table_calls(first: TableSchema, second: TableSchema) -> list[Call]:
    both = (first, second)
    reads = [read_of(schema) for schema in both]
    puts = [PutItem(schema, {key.name: "a" for key in schema.keys}) for schema in both]
    pair_calls = [
        Call("batch_get", _permission_on_each("BatchGetItem", both), lambda store: store.batch_get(reads)),
        Call("snapshot", _permission_on_each("GetItem", both), lambda store: store.snapshot(reads)),
        Call("batch_write", _permission_on_each("BatchWriteItem", both), lambda store: store.batch_write(puts)),
    ]
    for first_kind in (*WRITES, "ConditionCheckItem"):
        for second_kind in (*WRITES, "ConditionCheckItem"):
            writes = [write_of(first_kind, first), write_of(second_kind, second)]
            needs = frozenset({(first_kind, first.name), (second_kind, second.name)})
            pair_calls.append(Call("transact", needs, lambda store, writes=writes: store.transact(writes)))
    return pair_calls


def _permission_on_each(action: str, schemas: tuple[TableSchema, ...]) -> frozenset[RequiredPermission]:
    return frozenset((action, schema.name) for schema in schemas)
