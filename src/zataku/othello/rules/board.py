"""The board as the GAME item holds it: `{"board": 8 rows of 8}`, 0 empty, 1 black, 2 white, row 1 first."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

Cell: TypeAlias = Literal[0, 1, 2]
Row: TypeAlias = Annotated[tuple[Cell, ...], Meta(min_length=8, max_length=8)]
Board: TypeAlias = Annotated[tuple[Row, ...], Meta(min_length=8, max_length=8)]
"""Rows from the top, each from column A to column H."""


class BoardText(Struct, frozen=True, forbid_unknown_fields=True):
    """What the JSON text of a board holds, and nothing else."""

    board: Board


_decoder = msgspec.json.Decoder(BoardText)


def board_text(board: Board) -> str:
    """The board as JSON text, without spaces."""
    return msgspec.json.encode(BoardText(board)).decode()


def read_board(text: str) -> Board:
    """The board of a JSON text; raises ValueError for anything but 8 rows of 8 cells of 0, 1 or 2."""
    try:
        return _decoder.decode(text).board
    except msgspec.MsgspecError as problem:
        raise ValueError(f"The text is not a board: {problem}") from None


_EMPTY: Row = (0,) * 8
START: Board = (*(_EMPTY,) * 3, (0, 0, 0, 2, 1, 0, 0, 0), (0, 0, 0, 1, 2, 0, 0, 0), *(_EMPTY,) * 3)
"""Four discs in the middle: D4 and E5 white, E4 and D5 black."""
