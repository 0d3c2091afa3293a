"""Rows for a spreadsheet: CSV as RFC 4180 has it, in which no cell is a formula."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from zataku.text import is_visible

BYTE_ORDER_MARK = "\ufeff"
"""Without it Excel takes UTF-8 for the encoding of the country that it is in."""

_FORMULA = frozenset("=+-@")
_TURNS = frozenset("\t\r\n")
_SEPARATOR = ";"


def rows(cells: Iterable[Sequence[str]]) -> bytes:
    """Some rows, each ended by CR LF; every cell is harmless."""
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerows([harmless(cell) for cell in row] for row in cells)
    return written.getvalue().encode()


def harmless(cell: str) -> str:
    """The same text, with an apostrophe wherever a spreadsheet could begin to take it for a formula.

    At the beginning, the first character counts that shows, in whichever width; blanks before it may be cut off on the
    way in. Where the list separator is `;`, as in much of Europe, spreadsheets split rows there and nowhere else: what
    follows a `;` is a cell of its own, and gets an apostrophe before its sign. Only `;-)` is left winking.
    """
    first, *others = cell.split(_SEPARATOR)
    return _SEPARATOR.join([_begun(first), *map(_split_off, others)])


def _begun(text: str) -> str:
    if _says_something(text):
        return text
    lead = _lead(text)
    if _plain(text[lead : lead + 1]) in _FORMULA or not _TURNS.isdisjoint(text[:lead]):
        return f"'{text}"
    return text


def _split_off(text: str) -> str:
    if not text or _says_something(text):
        return text
    # Quotes in the middle of a cell are doubled; at the beginning of one, two of them are an empty text.
    lead = _lead(text, '"')
    sign = _plain(text[lead : lead + 1])
    if sign not in _FORMULA or (sign == "-" and _plain(text[lead + 1 : lead + 2]) == ")"):
        return text
    return f"{text[:lead]}'{text[lead:]}"


def _says_something(text: str) -> bool:
    """True for nearly all: they begin with a letter, and none is another width of what begins a formula."""
    return text[:1].isalnum()


def _lead(text: str, passed: str = "") -> int:
    """How many characters come before the first that counts."""
    for at, character in enumerate(text):
        if _plain(character) and character not in passed:
            return at
    return len(text)


@lru_cache(maxsize=1024)
def _plain(character: str) -> str:
    """A character in its usual width, and nothing for one that does not show."""
    return unicodedata.normalize("NFKC", character)[:1] if character and is_visible(character) else ""
