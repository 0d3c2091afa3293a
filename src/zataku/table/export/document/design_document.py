"""The design document: the items and access patterns of a table, written from its declaration."""

import re
from collections.abc import Iterable, Iterator, Sequence

from zataku.table.backend.errors import DesignError
from zataku.table.export.cloudformation.resources import design_name
from zataku.table.export.document.entities import Examples, cost_section, docstring, entity_section
from zataku.table.export.document.notation import code_span, key_notation, markdown_table
from zataku.table.export.document.tables import (
    alarm_section,
    index_section,
    pattern_section,
    settings_section,
    waiver_section,
)
from zataku.table.export.document.writes import write_section
from zataku.table.schema.design_notes import Departure
from zataku.table.schema.entity import Entity, binding_of
from zataku.table.schema.table import Table
from zataku.table.store.permissions import INDEX_ACTIONS, Grant, PermissionMatrix

_NOTATION = (
    "In keys, `<name>` stands for the value of that attribute and `<name:03d>` for a number padded with zeros to three "
    "digits. An attribute that is not required is absent from items that have no value for it."
)
_COSTS = (
    "Costs are in units as AWS bills them. A write is of a new item and counts the table and every index that takes it "
    "up, the largest item as if each index held all of it; in a transaction the table's part counts twice. A read is "
    "of one item, eventually consistent; a strong one costs twice as much."
)

# Headings below the third level are too many to list.
_LOWEST_LISTED_LEVEL = 3


def design_document(
    tables: Sequence[Table],
    *,
    title: str,
    env: str = "prod",
    departures: Sequence[Departure] = (),
    rights: PermissionMatrix | None = None,
    introduction: str = "",
    examples: Iterable[Entity] = (),
) -> str:
    """The document of some tables in Markdown. The same design gives the same text to the byte.

    Of each kind of item it shows that of `examples` with the most attributes; where there is none, one that is made
    from the types of its fields.
    """
    if not tables:
        raise DesignError("A design document needs at least one table.")
    fullest_examples = _fullest(examples)
    body = [part for table in tables for part in _table_section(table, env, fullest_examples)]
    if rights is not None:
        body += _rights(rights)
    if departures:
        body += _departures(departures)
    head = [f"# {title}"]
    if introduction:
        head.append(introduction.strip())
    return "\n\n".join([*head, _NOTATION, _COSTS, _contents(body), *body]) + "\n"


def _fullest(examples: Iterable[Entity]) -> dict[type[Entity], Entity]:
    counts: dict[type[Entity], int] = {}
    fullest: dict[type[Entity], Entity] = {}
    for example in examples:
        kind = type(example)
        count = len(binding_of(kind).encode(example))
        if count > counts.get(kind, 0):
            counts[kind], fullest[kind] = count, example
    return fullest


def _table_section(table: Table, env: str, examples: Examples) -> Iterator[str]:
    yield f"## {design_name(table)}"
    yield from settings_section(table, env, "###")
    if table.bindings:
        yield "### Entities"
        yield markdown_table(("Entity", *(code_span(key.name) for key in table.keys), "What it is"), _overview(table))
    for binding in table.bindings:
        yield from entity_section(binding, examples, "####")
    yield from index_section(table, "###")
    yield from pattern_section(table, "###")
    yield from write_section(table, "###")
    yield from cost_section(table, examples, "###")
    yield from alarm_section(table, env, "###")
    yield from waiver_section(table, "###")


def _overview(table: Table) -> Iterator[tuple[str, ...]]:
    for binding in table.bindings:
        keys = (code_span(key_notation(binding, template)) for template in binding.key_templates.values())
        yield binding.entity.__name__, *keys, docstring(binding.entity)


def _rights(matrix: PermissionMatrix) -> Iterator[str]:
    yield "## Permissions"
    yield "What each function may do with each table. Whatever is not listed is refused."
    rows = (
        (code_span(rights.function), design_name(grant.table), grant.description, _index_names(grant))
        for rights in matrix
        for grant in rights.grants
    )
    yield markdown_table(("Function", "Table", "Rights", "Indexes"), rows)


def _index_names(grant: Grant) -> str:
    """The indexes that a grant allows to read; a dash when it has no action on indexes."""
    if not grant.table.indexes or not grant.actions & INDEX_ACTIONS:
        return "–"
    if len(grant.indexes) == len(grant.table.indexes):
        return "all"
    return ", ".join(code_span(index.name) for index in grant.indexes) or "none"


def _departures(departures: Sequence[Departure]) -> Iterator[str]:
    yield "## Departures"
    yield "Where this design differs from the document it follows."
    yield markdown_table(
        ("Departure", "Reason", "Figure"),
        ((departure.difference, departure.reason, departure.figure or "–") for departure in departures),
    )


def _contents(body: Sequence[str]) -> str:
    """Links to the headings of the second and third level."""
    seen: dict[str, int] = {}
    lines: list[str] = []
    for heading in _headings(body):
        level, text = heading.split(" ", 1)
        anchor = _anchor(text)
        count = seen[anchor] = seen.get(anchor, -1) + 1
        if len(level) <= _LOWEST_LISTED_LEVEL:
            indent = "  " * (len(level) - 2)
            lines.append(f"{indent}- [{text}](#{anchor}{f'-{count}' if count else ''})")
    return "\n".join(lines)


def _headings(body: Sequence[str]) -> Iterator[str]:
    return (part for part in body if part.startswith("#"))


def _anchor(heading: str) -> str:
    """The address of a heading, as the usual renderers make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
