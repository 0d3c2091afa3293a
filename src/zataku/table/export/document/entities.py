"""The part of the document about each kind of item: attributes, an example, size and cost."""

from collections.abc import Iterator
from typing import Any

from zataku.table.backend import cost
from zataku.table.backend.limits import ITEM_BYTES
from zataku.table.backend.values import Item, item_size
from zataku.table.export.document.attributes import HEADINGS, attribute_rows, part_rows, parts_of, remarks
from zataku.table.export.document.markdown import code_span, markdown_table
from zataku.table.schema.analysis.item_size import max_item_size
from zataku.table.schema.analysis.sample_values import as_json, sample_item
from zataku.table.schema.binding import Binding
from zataku.table.schema.table import Table


def entity_section(binding: Binding[Any], level: str) -> Iterator[str]:
    """The paragraphs about one entity."""
    yield f"{level} {binding.entity.__name__}"
    told = docstring(binding.entity)
    if told:
        yield told
    yield markdown_table(HEADINGS, attribute_rows(binding))
    for part in parts_of(binding):
        told = docstring(part)
        yield f"{code_span(part.__name__)}: {told}" if told else f"{code_span(part.__name__)} is a map:"
        yield markdown_table(HEADINGS, part_rows(part))
    notes = list(remarks(binding))
    if notes:
        yield "\n".join(f"- {note}" for note in notes)
    example = sample_item(binding)
    if example is not None:
        yield f"Example:\n\n```json\n{as_json(example)}\n```"


def cost_section(table: Table, level: str) -> Iterator[str]:
    """What reading and writing an item of each kind costs, for the example and for the largest item.

    A write is of a new item; of the largest one, every index is counted as if it held everything.
    """
    if not table.bindings:
        return
    yield f"{level} Sizes and costs"
    headings = ("Entity", "Example, bytes", "Write", "Read", "Largest, bytes", "Write", "Read")
    yield markdown_table(headings, (_cost_row(table, binding) for binding in table.bindings))


def _cost_row(table: Table, binding: Binding[Any]) -> tuple[str, ...]:
    example, largest = sample_item(binding), max_item_size(binding).bytes
    row = [binding.entity.__name__]
    if example is None:
        row += ["–", "–", "–"]
    else:
        size = item_size(example)
        row += [f"{size:,}", f"{_write(table, example):g}", f"{cost.read(size, False):g}"]
    if largest is None or largest > ITEM_BYTES:
        why = "no limit" if largest is None else f"{largest:,}, above 400 KB"
        return (*row, why, "–", "–")
    indexes = _holding(table, example) if example is not None else 0
    return (*row, f"{largest:,}", f"{cost.write(0, largest) * (1 + indexes):g}", f"{cost.read(largest, False):g}")


def _holding(table: Table, item: Item) -> int:
    return sum(all(key.name in item for key in index.schema.keys) for index in table.indexes.values())


def _write(table: Table, item: Item) -> float:
    schema, total = table.schema(), cost.write(0, item_size(item))
    for index in schema.indexes:
        if all(key.name in item for key in index.keys):
            held = schema.projected(index)
            size = item_size(item) if held is None else cost.entry_size(item, held)
            total += cost.entry_write(None, size, False)
    return total


def docstring(kind: type[Any]) -> str:
    """The docstring of a struct, if it has one of its own."""
    own: str | None = kind.__dict__.get("__doc__")
    return " ".join((own or "").split())
