"""How the tables that a file holds differ from those that a design asks for.

What only DynamoDB has, such as capacity and recovery, makes no difference to a file.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from zataku.table.backend.errors import SchemaRefused
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema


class TableFit(Struct, frozen=True):
    """One table of a design beside the stored one; `differences` are phrases for a person."""

    table: str
    state: Literal["fits", "differs", "absent"]
    differences: tuple[str, ...] = ()


def fits(wanted: Sequence[TableSchema], stored: Iterable[TableSchema]) -> list[TableFit]:
    """Each table of a design held against what a store has under its name."""
    known = {table.name: table for table in stored}
    return [fit(table, known.get(table.name)) for table in wanted]


def fit(wanted: TableSchema, stored: TableSchema | None) -> TableFit:
    """One table held against the stored one, or against none."""
    if stored is None:
        return TableFit(wanted.name, "absent")
    differences = tuple(_differences(wanted, stored))
    return TableFit(wanted.name, "differs" if differences else "fits", differences)


def refuse_misfits(found: Iterable[TableFit]) -> None:
    """Refuse a store whose tables are not just as the design has them."""
    wrong = [_told(each) for each in found if each.state != "fits"]
    if wrong:
        raise SchemaRefused(
            f"The store does not fit the design: {'; '.join(wrong)}. With tables=verify nothing is made or changed: "
            "open the store without it once, or bring the tables up to date by other means."
        )


def _told(found: TableFit) -> str:
    return f"{found.table} is absent" if found.state == "absent" else f"{found.table}: {', '.join(found.differences)}"


def _differences(wanted: TableSchema, stored: TableSchema) -> Iterator[str]:
    if wanted.keys != stored.keys:
        yield f"its keys are {_keys(stored.keys)}, not {_keys(wanted.keys)}"
    before = {index.name: index for index in stored.indexes}
    after = {index.name: index for index in wanted.indexes}
    for name in sorted(before.keys() | after.keys()):
        yield from _index_differences(name, after.get(name), before.get(name))
    if wanted.ttl != stored.ttl:
        yield f"its time to live is {stored.ttl or 'off'}, not {wanted.ttl or 'off'}"
    if wanted.stream != stored.stream:
        yield f"its stream is {stored.stream or 'off'}, not {wanted.stream or 'off'}"


def _index_differences(name: str, wanted: IndexSchema | None, stored: IndexSchema | None) -> Iterator[str]:
    if stored is None:
        yield f"no index {name}"
    elif wanted is None:
        yield f"an index {name} that the design lacks"
    elif wanted.keys != stored.keys or wanted.local != stored.local:
        yield f"{name} has the keys {_keys(stored.keys)}, not {_keys(wanted.keys)}"
    elif wanted.projection != stored.projection:
        yield f"{name} has another projection"


def _keys(keys: Sequence[KeyAttribute]) -> str:
    return " + ".join(f"{key.name} ({key.type})" for key in keys)
