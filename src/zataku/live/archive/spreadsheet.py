"""CSV rows of RFC 4180 in which no cell is a formula for a spreadsheet."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from zataku.text import is_visible

BYTE_ORDER_MARK = "\ufeff"
"""Without it Excel does not read a file as UTF-8."""

_FORMULA_STARTS = frozenset("=+-@")
_LINE_CONTROLS = frozenset("\t\r\n")
_SEPARATOR = ";"


def csv_rows(cells: Iterable[Sequence[str]]) -> bytes:
    """Rows as CSV, each ended by CR LF, every cell escaped."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerows([escape_formula(cell) for cell in row] for row in cells)
    return buffer.getvalue().encode()


def escape_formula(cell: str) -> str:
    """The text with an apostrophe wherever a spreadsheet could read it as the start of a formula.

    At the start, the first visible character counts, in any width, since an import may strip the blanks before it.
    Where the list separator is `;`, as in much of Europe, spreadsheets split rows only there: the text after each `;`
    is a cell of its own, and gets an apostrophe before its sign. The smiley `;-)` is left as it is.
    """
    first, *others = cell.split(_SEPARATOR)
    return _SEPARATOR.join([_escape_start(first), *map(_escape_split_cell, others)])


def _escape_start(text: str) -> str:
    if _starts_with_letter(text):
        return text
    start = _start(text)
    if _normal(text[start : start + 1]) in _FORMULA_STARTS or not _LINE_CONTROLS.isdisjoint(text[:start]):
        return f"'{text}"
    return text


def _escape_split_cell(text: str) -> str:
    if not text or _starts_with_letter(text):
        return text
    # The CSV writer doubles quotes; at the start of a split cell two of them read as an empty text.
    start = _start(text, '"')
    sign = _normal(text[start : start + 1])
    if sign not in _FORMULA_STARTS or (sign == "-" and _normal(text[start + 1 : start + 2]) == ")"):
        return text
    return f"{text[:start]}'{text[start:]}"


def _starts_with_letter(text: str) -> bool:
    """True for most texts, which need no further check: no letter or digit starts a formula."""
    return text[:1].isalnum()


def _start(text: str, skipped: str = "") -> int:
    """The index of the first visible character, the length of a text without one."""
    for index, character in enumerate(text):
        if _normal(character) and character not in skipped:
            return index
    return len(text)


@lru_cache(maxsize=1024)
def _normal(character: str) -> str:
    """A character in its usual width, and nothing for an invisible one."""
    return unicodedata.normalize("NFKC", character)[:1] if character and is_visible(character) else ""
