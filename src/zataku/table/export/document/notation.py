"""Markdown tables with aligned columns, code spans, and keys as a design document writes them: `GAME#<gameId>`."""

from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import east_asian_width

from zataku.table.schema.entity_bindings import Binding
from zataku.table.schema.key_template import KeyTemplate, Slot


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; line breaks and bars in a cell are escaped."""
    cells = [[_cell(text) for text in row] for row in (headings, *rows)]
    widths = [max(3, *(_width(row[at]) for row in cells)) for at in range(len(headings))]
    lines = [_line(row, widths) for row in cells]
    rule = "| " + " | ".join("-" * width for width in widths) + " |"
    return "\n".join([lines[0], rule, *lines[1:]])


def code_span(text: str) -> str:
    """Text as inline code, even if it contains backticks."""
    ticks = "`" * (_longest_run(text) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def key_notation(binding: Binding[Any], template: KeyTemplate, fixed: dict[str, str] | None = None) -> str:
    """A template with attribute names in angle brackets; `fixed` has the values of fields that are always the same."""
    values = fixed or {}

    def text_of(part: str | Slot) -> str:
        if isinstance(part, str):
            return part
        value = values.get(part.field)
        return slot_notation(binding, part) if value is None else value.zfill(part.width or 0)

    return "".join(text_of(part) for part in template.parts)


def slot_notation(binding: Binding[Any], part: Slot) -> str:
    """One field of a template, with the number of digits that a number is padded to."""
    padding = "" if part.width is None else f":0{part.width}d"
    return f"<{attribute_name(binding, part.field)}{padding}>"


def attribute_name(binding: Binding[Any], field: str) -> str:
    """The name of a field on disk; that of a derived value is its own."""
    stored = binding.fields.get(field)
    return field if stored is None else stored.attribute


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (text + " " * (width - _width(text)) for text, width in zip(row, widths, strict=True))
    return "| " + " | ".join(padded) + " |"


def _width(text: str) -> int:
    """The columns of a text in a fixed-width font, where wide characters take two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _longest_run(text: str) -> int:
    longest = current = 0
    for letter in text:
        current = current + 1 if letter == "`" else 0
        longest = max(longest, current)
    return longest
