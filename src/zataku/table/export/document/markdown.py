"""Markdown tables whose columns stand under each other in the text too."""

from collections.abc import Iterable, Sequence
from unicodedata import east_asian_width


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; text with line breaks or bars is made to fit its cell."""
    cells = [[_cell(text) for text in row] for row in (headings, *rows)]
    widths = [max(3, *(_width(row[at]) for row in cells)) for at in range(len(headings))]
    lines = [_line(row, widths) for row in cells]
    rule = "| " + " | ".join("-" * width for width in widths) + " |"
    return "\n".join([lines[0], rule, *lines[1:]])


def code_span(text: str) -> str:
    """Text set as code, whatever ticks it holds itself."""
    ticks = "`" * (_longest_run(text) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (text + " " * (width - _width(text)) for text, width in zip(row, widths, strict=True))
    return "| " + " | ".join(padded) + " |"


def _width(text: str) -> int:
    """The columns that a text takes where wide characters take two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _longest_run(text: str) -> int:
    longest = current = 0
    for letter in text:
        current = current + 1 if letter == "`" else 0
        longest = max(longest, current)
    return longest
