"""Differences between stored tables and the tables of a design, and changes that no store can make.

Settings that only DynamoDB has, such as capacity and recovery, are ignored.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from zataku.table.backend.errors import SchemaRefused
from zataku.table.backend.limits import GLOBAL_INDEXES, LOCAL_INDEXES
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema


class TableDiff(Struct, frozen=True):
    """One table of a design compared with the stored one; `differences` are readable phrases."""

    table: str
    state: Literal["fits", "differs", "absent"]
    differences: tuple[str, ...] = ()


class PlannedChange(Struct, frozen=True):
    """One change that would make a stored table match its design.

    `removes` marks one that deletes something stored; the store works without one that is not `required`.
    """

    table: str
    difference: str
    action: str
    removes: bool = False
    required: bool = True


def compare_tables(declared: Sequence[TableSchema], stored: Iterable[TableSchema]) -> list[TableDiff]:
    """Compare each table of a design with the stored table of its name."""
    stored_tables = {table.name: table for table in stored}
    return [compare_table(table, stored_tables.get(table.name)) for table in declared]


def compare_table(declared: TableSchema, stored: TableSchema | None) -> TableDiff:
    """Compare one table with the stored one, if any."""
    if stored is None:
        return TableDiff(declared.name, "absent")
    differences = tuple(_differences(declared, stored))
    return TableDiff(declared.name, "differs" if differences else "fits", differences)


def require_matching(diffs: Iterable[TableDiff]) -> None:
    """Raise `SchemaRefused` unless every stored table matches the design."""
    mismatches = [_describe(diff) for diff in diffs if diff.state != "fits"]
    if mismatches:
        raise SchemaRefused(
            f"The store does not fit the design: {'; '.join(mismatches)}. With tables=verify nothing is created or "
            "changed: open the store without it once, or bring the tables up to date by other means."
        )


def _describe(diff: TableDiff) -> str:
    return f"{diff.table} is absent" if diff.state == "absent" else f"{diff.table}: {', '.join(diff.differences)}"


def _differences(declared: TableSchema, stored: TableSchema) -> Iterator[str]:
    if declared.keys != stored.keys:
        yield f"its keys are {_keys(stored.keys)}, not {_keys(declared.keys)}"
    before = {index.name: index for index in stored.indexes}
    after = {index.name: index for index in declared.indexes}
    for name in sorted(before.keys() | after.keys()):
        yield from _index_differences(name, after.get(name), before.get(name))
    if declared.ttl != stored.ttl:
        yield f"its time to live is {stored.ttl or 'off'}, not {declared.ttl or 'off'}"
    if declared.stream != stored.stream:
        yield f"its stream is {stored.stream or 'off'}, not {declared.stream or 'off'}"


def _index_differences(name: str, declared: IndexSchema | None, stored: IndexSchema | None) -> Iterator[str]:
    if stored is None:
        yield f"no index {name}"
    elif declared is None:
        yield f"an index {name} that the design lacks"
    elif declared.keys != stored.keys or declared.local != stored.local:
        yield f"{name} has the keys {_keys(stored.keys)}, not {_keys(declared.keys)}"
    elif declared.projection != stored.projection:
        yield f"{name} has another projection"


def _keys(keys: Sequence[KeyAttribute]) -> str:
    return " + ".join(f"{key.name} ({key.type})" for key in keys)


_RECREATE = "Export the items, create the table again and import them."


def check_table(table: TableSchema) -> None:
    """Raise `SchemaRefused` for a table that DynamoDB would not create."""
    local = [index for index in table.indexes if index.local]
    if len({index.name for index in table.indexes}) < len(table.indexes):
        raise SchemaRefused(f"Two indexes of {table.name} have the same name. Rename one.")
    if len(local) > LOCAL_INDEXES or len(table.indexes) - len(local) > GLOBAL_INDEXES:
        raise SchemaRefused(
            f"{table.name} has more than {GLOBAL_INDEXES} global or {LOCAL_INDEXES} local indexes. Drop some."
        )
    for index in local:
        if table.sk is None or index.pk != table.pk or index.sk is None:
            raise SchemaRefused(
                f"{index.name} is local: give it the partition key of {table.name} and a sort key, or make it global."
            )
    types: dict[str, str] = {}
    for key in (*table.keys, *(key for index in table.indexes for key in index.keys)):
        if types.setdefault(key.name, key.type) != key.type:
            raise SchemaRefused(f"{key.name} is a key of two types in {table.name}. Choose one.")


def check_table_change(stored: TableSchema, declared: TableSchema) -> None:
    """Raise `SchemaRefused` for a change that an existing table cannot follow."""
    if stored.keys != declared.keys:
        raise SchemaRefused(
            f"The keys of {declared.name} have changed, which a stored table cannot follow. {_RECREATE}"
        )
    before = {index.name: index for index in stored.indexes if index.local}
    after = {index.name: index for index in declared.indexes if index.local}
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            change = "is new" if name not in before else "is gone" if name not in after else "has changed"
            raise SchemaRefused(
                f"The local index {name} of {declared.name} {change}. Local indexes can only be made together with "
                f"their table. {_RECREATE} Or make it a global index.",
                index=name,
            )
