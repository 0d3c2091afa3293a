"""Rows for a spreadsheet: CSV as RFC 4180 has it, in which no cell is a formula."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence

from zataku.texts import seen

BYTE_ORDER_MARK = "\ufeff"
"""Without it Excel takes UTF-8 for the encoding of the country that it is in."""

_FORMULA = frozenset("=+-@")
_TURNS = frozenset("\t\r\n")


def rows(cells: Iterable[Sequence[str]]) -> bytes:
    """Some rows, each ended by CR LF; every cell is harmless."""
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerows([harmless(cell) for cell in row] for row in cells)
    return written.getvalue().encode()


def harmless(cell: str) -> str:
    """The same text, after an apostrophe if a spreadsheet could take it for a formula.

    What counts is the first character that shows, in whichever width; blanks before it may be cut off on the way in.
    """
    if cell[:1].isalnum():
        # Nearly all of them, and none of these letters is another width of what begins a formula.
        return cell
    lead = 0
    while lead < len(cell) and not seen(cell[lead]):
        lead += 1
    begins = unicodedata.normalize("NFKC", cell[lead : lead + 1])[:1]
    if begins in _FORMULA or not _TURNS.isdisjoint(cell[:lead]):
        return f"'{cell}"
    return cell
