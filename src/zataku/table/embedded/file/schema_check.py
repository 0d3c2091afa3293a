"""The SQLite schema of a store's file: it has the tables and indexes of `layout` and nothing else.

A backup may come from anywhere. A trigger, a view, a virtual table, a generated column, a check or an index over an
expression would be run by reading or writing it, so that the schema is compared before anything of the file is used.
SQLite lets any column hold a value of any type, so that those of the store's own records are checked, too.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, TypeVar, cast

import apsw
import msgspec

from zataku.table.backend.errors import BadInput
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.embedded.file import layout
from zataku.table.embedded.file.sqlite_types import Connection
from zataku.text import is_utf8

T = TypeVar("T", TableSchema, IndexSchema)

# Type, name and table of an object, and its SQL without differences of white space; None for the index of a constraint.
_SchemaObject: TypeAlias = tuple[str, str, str, str | None]
# A trigger may have the name of a table, so that a name alone identifies nothing.
_ObjectKey: TypeAlias = tuple[str, str]
_OPTIONAL_TABLES = frozenset({"usage"})
# What separates words for SQLite. Other spaces of Unicode are letters of a name to it.
_WHITE_SPACE = re.compile(r"[ \t\n\f\r]+")
# Of the two versions in the header of a file. SQLite only reads one that is written in a later version.
_MAX_FILE_VERSION = 2
# Tables, indexes and commits are counted from one; a store that counts further would leave the range of an integer.
_MAX_NUMBER = 1 << 60
_INVALID_RECORDS = {
    "state": f"""(SELECT count(*) FROM state) <> 1 OR EXISTS (SELECT 1 FROM state WHERE
        typeof(commits) <> 'integer' OR commits NOT BETWEEN 0 AND {_MAX_NUMBER}
        OR typeof(sequence) <> 'integer' OR sequence NOT BETWEEN 0 AND {_MAX_NUMBER}
        OR typeof(secret) <> 'blob' OR length(secret) <> 32)""",
    "sqlite_sequence": f"""EXISTS (SELECT 1 FROM sqlite_sequence WHERE typeof(name) <> 'text'
        OR typeof(seq) <> 'integer' OR seq NOT BETWEEN 1 AND {_MAX_NUMBER})""",
    "tables": """EXISTS (SELECT 1 FROM tables WHERE typeof(name) <> 'text' OR typeof(schema) <> 'blob'
        OR typeof(ttl_walked) NOT IN ('null', 'integer'))""",
    "indexes": """EXISTS (SELECT 1 FROM indexes WHERE table_number NOT IN (SELECT number FROM tables)
        OR typeof(name) <> 'text' OR typeof(schema) <> 'blob' OR typeof(walked) NOT IN ('null', 'integer')
        OR typeof(done) <> 'integer' OR typeof(total) <> 'integer')""",
    "consumers": """EXISTS (SELECT 1 FROM consumers WHERE typeof(table_number) <> 'integer' OR typeof(name) <> 'text'
        OR typeof(position) <> 'integer')""",
    "tokens": """EXISTS (SELECT 1 FROM tokens WHERE typeof(token) <> 'text' OR typeof(digest) <> 'blob'
        OR typeof(at) <> 'real')""",
    "usage": """EXISTS (SELECT 1 FROM usage WHERE typeof(pattern) <> 'text' OR typeof(calls) <> 'integer'
        OR typeof(reads) <> 'real' OR typeof(writes) <> 'real')""",
}
# Texts of those records that are not UTF-8 cannot be read.
_TEXTS = {"tables": "name", "indexes": "name", "consumers": "name", "tokens": "token", "usage": "pattern"}
_INVALID_ITEMS = """typeof(pk) <> 'blob' OR typeof(sk) <> 'blob' OR typeof(size) <> 'integer' OR size < 0
    OR typeof(expires) NOT IN ('null', 'integer') OR typeof(item) <> 'blob'"""
_INVALID_LOG = """typeof(at) <> 'real' OR typeof(kind) <> 'integer' OR typeof(expired) <> 'integer'
    OR typeof(keys) NOT IN ('null', 'blob') OR typeof(old) NOT IN ('null', 'blob')
    OR typeof(new) NOT IN ('null', 'blob') OR seq > (SELECT sequence FROM state)"""
_INVALID_ENTRIES = """typeof(ipk) <> 'blob' OR typeof(isk) <> 'blob' OR typeof(pk) <> 'blob' OR typeof(sk) <> 'blob'
    OR typeof(id) <> 'integer'"""


def check_schema(connection: Connection, path: Path) -> None:
    """Refuse a file with any other table, index, view or trigger than a store has."""
    found = _objects(connection)
    # The store's own tables first: the numbers of all others are read from them.
    own = _created(layout.STORE_TABLES + layout.USAGE_TABLE)
    for missing in sorted(own.keys() - found.keys()):
        if own[missing][2] not in _OPTIONAL_TABLES:
            raise _refused(path, f"lacks {_described(own[missing])}")
    _require_same(path, {key: found[key] for key in own.keys() & found.keys()}, own)
    expected = _created(layout.STORE_TABLES + layout.USAGE_TABLE + _table_statements(connection, path, len(found)))
    _require_same(path, found, expected)
    for missing in sorted(expected.keys() - found.keys() - own.keys()):
        raise _refused(path, f"lacks {_described(expected[missing])}")


def check_records(connection: Connection, path: Path) -> None:
    """Refuse a file whose own records are not such as a store writes. Its schema is known to be a store's."""
    with path.open("rb") as file:
        if max(file.read(20)[18:]) > _MAX_FILE_VERSION:
            raise _refused(path, "is in a form that this SQLite cannot write")
    if connection.pragma("page_size") != layout.PAGE_SIZE:
        raise _refused(path, "has pages of another size than a store")
    found = {name for kind, name in _objects(connection) if kind == "table"}
    for table, condition in _INVALID_RECORDS.items():
        if (table in found or table not in _OPTIONAL_TABLES) and _has(connection, condition):
            raise _foreign_records(path, table)
    for table, column in _TEXTS.items():
        if table in found and not _are_utf8(connection, table, column):
            raise _foreign_records(path, table)
    tables = _checked_tables(connection, path)
    indexes = _checked_indexes(connection, path, tables)
    checks = [(layout.items(number), _INVALID_ITEMS) for number in tables]
    checks += [(layout.log(number), _INVALID_LOG) for number in tables]
    checks += [(layout.entries(number), _INVALID_ENTRIES) for number in indexes]
    for table, condition in checks:
        if _has(connection, f"EXISTS (SELECT 1 FROM {table} WHERE {condition})"):
            raise _foreign_records(path, table)


def _has(connection: Connection, condition: str) -> bool:
    return bool(connection.execute(f"SELECT {condition}").get)


def _are_utf8(connection: Connection, table: str, column: str) -> bool:
    return all(is_utf8(text) for (text,) in connection.execute(f"SELECT CAST({column} AS BLOB) FROM {table}"))


def _checked_tables(connection: Connection, path: Path) -> dict[int, TableSchema]:
    """The schemas of the tables by their numbers. The name stands in a column and in the schema."""
    schemas: dict[int, TableSchema] = {}
    for number, name, schema in connection.execute("SELECT number, name, schema FROM tables").fetchall():
        schemas[number] = _decoded(schema, TableSchema, path, "tables")
        if schemas[number].name != name:
            raise _foreign_records(path, "tables")
    return schemas


def _checked_indexes(connection: Connection, path: Path, tables: Mapping[int, TableSchema]) -> list[int]:
    """The numbers of the indexes, each of which its table's schema names."""
    rows = connection.execute("SELECT number, table_number, name, schema FROM indexes").fetchall()
    for _, table_number, name, schema in rows:
        index = _decoded(schema, IndexSchema, path, "indexes")
        if index.name != name or name not in {each.name for each in tables[table_number].indexes}:
            raise _foreign_records(path, "indexes")
    return [number for number, *_ in rows]


def _decoded(schema: bytes, schema_type: type[T], path: Path, table: str) -> T:
    try:
        return msgspec.json.decode(schema, type=schema_type)
    except (ValueError, RecursionError) as error:
        raise _foreign_records(path, table) from error


def _foreign_records(path: Path, table: str) -> BadInput:
    return _refused(path, f"has records in {table!r} that a store does not write")


def _require_same(
    path: Path, found: dict[_ObjectKey, _SchemaObject], expected: dict[_ObjectKey, _SchemaObject]
) -> None:
    for key, item in sorted(found.items()):
        if expected.get(key) != item:
            raise _refused(path, f"has {_described(item)}, which is not of a store")


def _table_statements(connection: Connection, path: Path, object_count: int) -> str:
    tables, indexes = (
        [int(number) for (number,) in connection.execute(f"SELECT number FROM {table} LIMIT {object_count}").fetchall()]
        for table in ("tables", "indexes")
    )
    # Each needs a table at least. A file that names millions must not have them all created for the comparison.
    if len(tables) + len(indexes) >= object_count:
        raise _refused(path, "names more tables than it has")
    for name, numbers in (("tables", tables), ("indexes", indexes)):
        if not all(1 <= number <= _MAX_NUMBER for number in numbers):
            raise _foreign_records(path, name)
    return "".join([*map(layout.create_table, tables), *map(layout.create_index, indexes)])


def _created(statements: str) -> dict[_ObjectKey, _SchemaObject]:
    """The objects that statements create."""
    memory = cast("Connection", apsw.Connection(":memory:"))
    try:
        memory.execute(statements)
        return _objects(memory)
    finally:
        memory.close()


def _objects(connection: Connection) -> dict[_ObjectKey, _SchemaObject]:
    # As bytes: the names in a file from elsewhere may be no text.
    rows: list[tuple[bytes | None, bytes | None, bytes | None, bytes | None]] = connection.execute(
        "SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema"
    ).fetchall()
    objects: dict[_ObjectKey, _SchemaObject] = {}
    for columns in rows:
        kind, name, table, sql = [None if column is None else column.decode(errors="replace") for column in columns]
        statement = None if sql is None else _WHITE_SPACE.sub(" ", sql).strip(" ")
        objects[str(kind), str(name)] = (str(kind), str(name), str(table), statement)
    return objects


def _described(item: _SchemaObject) -> str:
    return f"the {item[0]} {item[1]!r}"


def _refused(path: Path, problem: str) -> BadInput:
    return BadInput(f"{path} {problem}. It is not used; take a backup that Zataku has made.")
