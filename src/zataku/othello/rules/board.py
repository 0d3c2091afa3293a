"""The board, legal moves, and the end of a game.

A GAME item holds the board as JSON: `{"board": 8 rows of 8}`, 0 empty, 1 black, 2 white, row 1 first. These rules
check writes and generate samples; they are simple and slow, and not those of the engine.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from zataku.othello.limits import Side, Winner

Cell: TypeAlias = Literal[0, 1, 2]
Row: TypeAlias = Annotated[tuple[Cell, ...], Meta(min_length=8, max_length=8)]
Board: TypeAlias = Annotated[tuple[Row, ...], Meta(min_length=8, max_length=8)]
"""Rows from the top, each from column A to column H."""


class BoardDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """The JSON document of a board."""

    board: Board


_decoder = msgspec.json.Decoder(BoardDocument)


def format_board(board: Board) -> str:
    """The board as JSON text, without spaces."""
    return msgspec.json.encode(BoardDocument(board)).decode()


def parse_board(text: str) -> Board:
    """The board of a JSON text; raises ValueError for anything but 8 rows of 8 cells of 0, 1 or 2."""
    try:
        return _decoder.decode(text).board
    except msgspec.MsgspecError as problem:
        raise ValueError(f"The text is not a board: {problem}") from None


_EMPTY: Row = (0,) * 8
START: Board = (*(_EMPTY,) * 3, (0, 0, 0, 2, 1, 0, 0, 0), (0, 0, 0, 1, 2, 0, 0, 0), *(_EMPTY,) * 3)
"""Four discs in the middle: D4 and E5 white, E4 and D5 black."""

COLOURS: dict[Side, Cell] = {"BLACK": 1, "WHITE": 2}
_DIRECTIONS = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right)


def opponent(side: Side) -> Side:
    """The opponent of a side."""
    return "WHITE" if side == "BLACK" else "BLACK"


def square_coordinates(square: str) -> tuple[int, int]:
    """Row and column of a square, both from 0."""
    return int(square[1]) - 1, ord(square[0]) - ord("A")


def square_at(row: int, column: int) -> str:
    """The name of a square."""
    return f"{chr(ord('A') + column)}{row + 1}"


def flipped_discs(board: Board, side: Side, row: int, column: int) -> list[tuple[int, int]]:
    """The discs that a move of the side flips; empty when the move is not legal."""
    colour = COLOURS[side]
    flipped: list[tuple[int, int]] = []
    if board[row][column]:
        return flipped
    for down, right in _DIRECTIONS:
        line: list[tuple[int, int]] = []
        y, x = row + down, column + right
        while 0 <= y < 8 and 0 <= x < 8 and board[y][x] and board[y][x] != colour:
            line.append((y, x))
            y, x = y + down, x + right
        if 0 <= y < 8 and 0 <= x < 8 and board[y][x] == colour:
            flipped += line
    return flipped


def legal_moves(board: Board, side: Side) -> list[str]:
    """The squares that the side may play, from A1 to H8, row by row."""
    return [
        square_at(row, column) for row in range(8) for column in range(8) if flipped_discs(board, side, row, column)
    ]


def play_move(board: Board, side: Side, square: str) -> Board:
    """The board after a move; raises ValueError when the move is not legal."""
    coordinates = square_coordinates(square)
    flipped = flipped_discs(board, side, *coordinates)
    if not flipped:
        raise ValueError(f"{side} may not play {square}.")
    colour = COLOURS[side]
    changed = {coordinates, *flipped}
    return tuple(
        tuple(colour if (row, column) in changed else cell for column, cell in enumerate(cells))
        for row, cells in enumerate(board)
    )


def count_discs(board: Board, side: Side) -> int:
    """The number of discs of a side."""
    return sum(row.count(COLOURS[side]) for row in board)


def is_over(board: Board) -> bool:
    """True when neither side has a move."""
    return not legal_moves(board, "BLACK") and not legal_moves(board, "WHITE")


def winner(board: Board, ai_side: Side) -> Winner:
    """The player with more discs, or a draw."""
    ai, crowd = count_discs(board, ai_side), count_discs(board, opponent(ai_side))
    return "DRAW" if ai == crowd else "AI" if ai > crowd else "COLLECTIVE"
