"""How start() changes the tables in a file: new ones are made, global indexes come and go, the rest is refused."""

from collections.abc import Sequence
from typing import Any

import msgspec

from zataku.table.backend.errors import SchemaRefused
from zataku.table.backend.port import IndexState
from zataku.table.backend.schema_diff import check_table, check_table_change
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.embedded.catalog import Catalog, IndexPart, TablePart
from zataku.table.embedded.file import layout
from zataku.table.embedded.file.sqlite_types import Connection
from zataku.table.embedded.write_group import Group


def load(connection: Connection) -> Catalog:
    """The tables as the file has them."""
    tables: list[tuple[Any, ...]] = connection.execute("SELECT number, schema, ttl_walked FROM tables").fetchall()
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT table_number, number, schema, walked, done, total FROM indexes ORDER BY number"
    ).fetchall()
    parts: list[TablePart] = []
    for number, schema, ttl_walked in tables:
        table = msgspec.json.decode(schema, type=TableSchema)
        indexes = [_index_part(table, *row[1:]) for row in rows if row[0] == number]
        parts.append(TablePart(table, number, tuple(indexes), ttl_walked is not None))
    return Catalog(parts)


def _index_part(table: TableSchema, number: int, schema: bytes, walked: int | None, done: int, total: int) -> IndexPart:
    index = msgspec.json.decode(schema, type=IndexSchema)
    status = "active" if walked is None else "creating"
    return IndexPart(table, index, number, IndexState(table.name, index.name, status, done, total))


def adapt(group: Group, tables: Sequence[TableSchema]) -> None:
    """Make the file fit the tables, inside the writer's transaction. All refusals come before the first change."""
    stored = {part.schema.name: part for part in load(group.connection).parts}
    if len({table.name for table in tables}) < len(tables):
        raise SchemaRefused("Two tables have the same name. Rename one.")
    for table in tables:
        check_table(table)
        if table.name in stored:
            check_table_change(stored[table.name].schema, table)
    for table in tables:
        part = stored.get(table.name)
        if part is None:
            _create(group, table)
        elif part.schema != table:
            _change(group, part, table)


def refuse_unfit(catalog: Catalog, tables: Sequence[TableSchema]) -> None:
    """Refuse tables that the stored ones cannot serve."""
    stored = {part.schema.name: part.schema for part in catalog.parts}
    for table in tables:
        if table.name in stored:
            check_table_change(stored[table.name], table)


def _create(group: Group, table: TableSchema) -> None:
    group.change("INSERT INTO tables (name, schema) VALUES (?, ?)", table.name, msgspec.json.encode(table))
    number = group.connection.last_insert_rowid()
    group.change(layout.create_table(number))
    for index in table.indexes:
        _create_index(group, number, index, None, 0)


def _create_index(group: Group, table: int, index: IndexSchema, walked: int | None, total: int) -> None:
    group.change(
        "INSERT INTO indexes (table_number, name, schema, walked, total) VALUES (?, ?, ?, ?, ?)",
        table,
        index.name,
        msgspec.json.encode(index),
        walked,
        total,
    )
    group.change(layout.create_index(group.connection.last_insert_rowid()))


def _change(group: Group, part: TablePart, table: TableSchema) -> None:
    wanted = {index.name: index for index in table.indexes}
    for index in part.indexes:
        new = wanted.pop(index.schema.name, None)
        if new is not None and new.keys == index.schema.keys and new.local == index.schema.local:
            # A projection is applied when reading, so it changes with the schema alone.
            group.change("UPDATE indexes SET schema = ? WHERE number = ?", msgspec.json.encode(new), index.number)
            continue
        group.change(layout.drop_index(index.number))
        group.change("DELETE FROM indexes WHERE number = ?", index.number)
        if new is not None:
            wanted[new.name] = new
    if wanted:
        row = group.row(f"SELECT count(*) FROM {part.items}")
        total = 0 if row is None else row[0]
        for index in wanted.values():
            _create_index(group, part.number, index, 0 if total else None, total)
    if part.schema.ttl != table.ttl:
        group.change("UPDATE tables SET ttl_walked = 0 WHERE number = ?", part.number)
    group.change("UPDATE tables SET schema = ? WHERE number = ?", msgspec.json.encode(table), part.number)
