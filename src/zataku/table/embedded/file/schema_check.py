"""The SQLite schema of a store's file: it has the tables and indexes of `layout` and nothing else.

A backup may come from anywhere. A trigger, a view, a virtual table, a generated column, a check or an index over an
expression would be run by reading or writing it, so that the schema is compared before anything of the file is used.
"""

from pathlib import Path
from typing import TypeAlias, cast

import apsw

from zataku.table.backend.errors import BadInput
from zataku.table.embedded.file import layout
from zataku.table.embedded.file.sqlite_types import Connection

# Type, name and table of an object, and its SQL without differences of white space; None for the index of a constraint.
_SchemaObject: TypeAlias = tuple[str, str, str, str | None]
_OPTIONAL_TABLES = frozenset({"usage"})


def check_schema(connection: Connection, path: Path) -> None:
    """Refuse a file with any other table, index, view or trigger than a store has."""
    found = _objects(connection)
    # The store's own tables first: the numbers of all others are read from them.
    own = _created(layout.STORE_TABLES + layout.USAGE_TABLE)
    for missing in sorted(own.keys() - found.keys()):
        if own[missing][2] not in _OPTIONAL_TABLES:
            raise _refused(path, f"lacks {_described(own[missing])}")
    _require_same(path, {name: found[name] for name in own.keys() & found.keys()}, own)
    expected = _created(layout.STORE_TABLES + layout.USAGE_TABLE + _table_statements(connection))
    _require_same(path, found, expected)
    for missing in sorted(expected.keys() - found.keys() - own.keys()):
        raise _refused(path, f"lacks {_described(expected[missing])}")


def _require_same(path: Path, found: dict[str, _SchemaObject], expected: dict[str, _SchemaObject]) -> None:
    for name, item in sorted(found.items()):
        if expected.get(name) != item:
            raise _refused(path, f"has {_described(item)}, which is not of a store")


def _table_statements(connection: Connection) -> str:
    tables = connection.execute("SELECT number FROM tables").fetchall()
    indexes = connection.execute("SELECT number FROM indexes").fetchall()
    statements = [layout.create_table(int(number)) for (number,) in tables]
    return "".join([*statements, *(layout.create_index(int(number)) for (number,) in indexes)])


def _created(statements: str) -> dict[str, _SchemaObject]:
    """The objects that statements create."""
    memory = cast("Connection", apsw.Connection(":memory:"))
    try:
        memory.execute(statements)
        return _objects(memory)
    finally:
        memory.close()


def _objects(connection: Connection) -> dict[str, _SchemaObject]:
    rows: list[tuple[str, str, str, str | None]] = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema"
    ).fetchall()
    return {
        name: (kind, name, table, None if sql is None else " ".join(sql.split())) for kind, name, table, sql in rows
    }


def _described(item: _SchemaObject) -> str:
    return f"the {item[0]} {item[1]!r}"


def _refused(path: Path, problem: str) -> BadInput:
    return BadInput(f"{path} {problem}. It is not used; take a backup that Zataku has made.")
