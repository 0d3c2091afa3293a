"""Table definitions in the file: loading them, and changing them to the schemas that a store is started with."""

from collections.abc import Sequence
from typing import Any

import msgspec

from zataku.table.backend.errors import SchemaRefused
from zataku.table.backend.port import IndexState
from zataku.table.backend.schema_diff import check_table, check_table_change
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.embedded.catalog import Catalog, StoredIndex, StoredTable
from zataku.table.embedded.file import layout
from zataku.table.embedded.file.sqlite_types import Connection
from zataku.table.embedded.writer import WriteGroup


def load_catalog(connection: Connection) -> Catalog:
    """The tables that the file holds."""
    tables: list[tuple[Any, ...]] = connection.execute("SELECT number, schema, ttl_walked FROM tables").fetchall()
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT table_number, number, schema, walked, done, total FROM indexes ORDER BY number"
    ).fetchall()
    stored: list[StoredTable] = []
    for number, schema, ttl_walked in tables:
        table = msgspec.json.decode(schema, type=TableSchema)
        indexes = [_stored_index(table, *row[1:]) for row in rows if row[0] == number]
        stored.append(StoredTable(table, number, tuple(indexes), ttl_walked is not None))
    return Catalog(stored)


def _stored_index(
    table: TableSchema, number: int, schema: bytes, walked: int | None, done: int, total: int
) -> StoredIndex:
    index = msgspec.json.decode(schema, type=IndexSchema)
    status = "active" if walked is None else "creating"
    return StoredIndex(table, index, number, IndexState(table.name, index.name, status, done, total))


def check_compatible(catalog: Catalog, tables: Sequence[TableSchema]) -> None:
    """Refuse schemas that the stored tables cannot be changed to."""
    for table in tables:
        if table.name in catalog:
            check_table_change(catalog[table.name].schema, table)


def apply_schemas(group: WriteGroup, tables: Sequence[TableSchema]) -> None:
    """Create and change tables inside the writer's transaction. Every refusal comes before the first change."""
    stored = load_catalog(group.connection)
    if len({table.name for table in tables}) < len(tables):
        raise SchemaRefused("Two tables have the same name. Rename one.")
    for table in tables:
        check_table(table)
    check_compatible(stored, tables)
    for table in tables:
        existing = stored.get(table.name)
        if existing is None:
            _create_table(group, table)
        elif existing.schema != table:
            _change_table(group, existing, table)


def _create_table(group: WriteGroup, table: TableSchema) -> None:
    group.execute("INSERT INTO tables (name, schema) VALUES (?, ?)", table.name, msgspec.json.encode(table))
    number = group.connection.last_insert_rowid()
    group.execute(layout.create_table(number))
    for index in table.indexes:
        _create_index(group, number, index, None, 0)


def _create_index(group: WriteGroup, table: int, index: IndexSchema, walked: int | None, total: int) -> None:
    group.execute(
        "INSERT INTO indexes (table_number, name, schema, walked, total) VALUES (?, ?, ?, ?, ?)",
        table,
        index.name,
        msgspec.json.encode(index),
        walked,
        total,
    )
    group.execute(layout.create_index(group.connection.last_insert_rowid()))


def _change_table(group: WriteGroup, stored: StoredTable, table: TableSchema) -> None:
    new_indexes = {index.name: index for index in table.indexes}
    for index in stored.indexes:
        new = new_indexes.pop(index.schema.name, None)
        if new is not None and new.keys == index.schema.keys and new.local == index.schema.local:
            # A projection is applied when reading, so it changes with the schema alone.
            group.execute("UPDATE indexes SET schema = ? WHERE number = ?", msgspec.json.encode(new), index.number)
            continue
        group.execute(layout.drop_index(index.number))
        group.execute("DELETE FROM indexes WHERE number = ?", index.number)
        if new is not None:
            new_indexes[new.name] = new
    if new_indexes:
        row = group.fetch_one(f"SELECT count(*) FROM {stored.items}")
        total = 0 if row is None else row[0]
        for index in new_indexes.values():
            _create_index(group, stored.number, index, 0 if total else None, total)
    if stored.schema.ttl != table.ttl:
        group.execute("UPDATE tables SET ttl_walked = 0 WHERE number = ?", stored.number)
    group.execute("UPDATE tables SET schema = ? WHERE number = ?", msgspec.json.encode(table), stored.number)
