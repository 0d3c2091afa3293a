"""The part of the document about each kind of item: attributes, an example, size and cost."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias, cast

import msgspec

from zataku.table.backend import cost
from zataku.table.backend.limits import ITEM_BYTES
from zataku.table.backend.values import Item, Value, item_size
from zataku.table.export.document.attributes import HEADINGS, attribute_rows, part_rows, parts_of, remarks
from zataku.table.export.document.notation import code_span, markdown_table
from zataku.table.schema.analysis.item_size import max_item_size
from zataku.table.schema.analysis.sample_values import sample_item
from zataku.table.schema.entity import Entity
from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.table import Table

Examples: TypeAlias = Mapping[type[Entity], Entity]
"""Entities that a design shows as its examples, by their kind."""


def entity_section(binding: Binding[Any], examples: Examples, level: str) -> Iterator[str]:
    """The paragraphs about one entity."""
    yield f"{level} {binding.entity.__name__}"
    description = docstring(binding.entity)
    if description:
        yield description
    yield markdown_table(HEADINGS, attribute_rows(binding))
    for part in parts_of(binding):
        description = docstring(part)
        yield f"{code_span(part.__name__)}: {description}" if description else f"{code_span(part.__name__)} is a map:"
        yield markdown_table(HEADINGS, part_rows(part))
    notes = list(remarks(binding))
    if notes:
        yield "\n".join(f"- {note}" for note in notes)
    example = sample_item(binding, examples.get(binding.entity))
    if example is not None:
        yield f"Example:\n\n```json\n{_as_json(example)}\n```"


def cost_section(table: Table, examples: Examples, level: str) -> Iterator[str]:
    """What reading and writing an item of each kind costs, for the example and for the largest item.

    A write is of a new item; of the largest one, every index is counted as if it held everything.
    """
    if not table.bindings:
        return
    yield f"{level} Sizes and costs"
    headings = ("Entity", "Example, bytes", "Write", "Read", "Largest, bytes", "Write", "Read")
    yield markdown_table(headings, (_cost_row(table, binding, examples) for binding in table.bindings))


def docstring(struct: type[Any]) -> str:
    """The docstring of a struct, if it has one of its own."""
    own: str | None = struct.__dict__.get("__doc__")
    return " ".join((own or "").split())


def _cost_row(table: Table, binding: Binding[Any], examples: Examples) -> tuple[str, ...]:
    example, largest = sample_item(binding, examples.get(binding.entity)), max_item_size(binding).bytes
    row = [binding.entity.__name__]
    if example is None:
        row += ["–", "–", "–"]
    else:
        size = item_size(example)
        row += [f"{size:,}", f"{_write_units(table, example):g}", f"{cost.read(size, False):g}"]
    if largest is None or largest > ITEM_BYTES:
        remark = "no limit" if largest is None else f"{largest:,}, above 400 KB"
        return (*row, remark, "–", "–")
    indexes = _index_count(table, example) if example is not None else 0
    return (*row, f"{largest:,}", f"{cost.write(0, largest) * (1 + indexes):g}", f"{cost.read(largest, False):g}")


def _index_count(table: Table, item: Item) -> int:
    return sum(all(key.name in item for key in index.schema.keys) for index in table.indexes.values())


def _write_units(table: Table, item: Item) -> float:
    schema, total = table.schema(), cost.write(0, item_size(item))
    for index in schema.indexes:
        if all(key.name in item for key in index.keys):
            attributes = schema.projected(index)
            size = item_size(item) if attributes is None else cost.entry_size(item, attributes)
            total += cost.entry_write(None, size, False)
    return total


def _as_json(item: Item) -> str:
    """An item as people write it: bytes as base64, sets as lists."""
    return json.dumps(_json_value(item), indent=2, ensure_ascii=False)


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _json_value(part) for name, part in cast("Item", value).items()}
    if isinstance(value, list):
        return [_json_value(part) for part in cast("list[Value]", value)]
    if isinstance(value, frozenset):
        return sorted((_json_value(part) for part in cast("frozenset[Value]", value)), key=str)
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return float(value) if isinstance(value, Decimal) else msgspec.to_builtins(value)
