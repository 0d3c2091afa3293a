"""Which squares a side may take, what becomes of the board, and who has won: the rules of Othello in the smallest form.

Writes are held to it, and fixtures are made with it. It is plain and slow; nothing that plays well stands on it.
"""

from zataku.othello.limits import Side, Winner
from zataku.othello.rules.board import Board, Cell

COLOURS: dict[Side, Cell] = {"BLACK": 1, "WHITE": 2}
_WAYS = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right)


def other(side: Side) -> Side:
    """The side across the board."""
    return "WHITE" if side == "BLACK" else "BLACK"


def place_of(square: str) -> tuple[int, int]:
    """Row and column of a square, both from 0."""
    return int(square[1]) - 1, ord(square[0]) - ord("A")


def square_at(row: int, column: int) -> str:
    """The name of a square."""
    return f"{chr(ord('A') + column)}{row + 1}"


def turned(board: Board, side: Side, row: int, column: int) -> list[tuple[int, int]]:
    """The discs that change colour when the side plays there; none when it may not."""
    mine = COLOURS[side]
    found: list[tuple[int, int]] = []
    if board[row][column]:
        return found
    for down, right in _WAYS:
        line: list[tuple[int, int]] = []
        y, x = row + down, column + right
        while 0 <= y < 8 and 0 <= x < 8 and board[y][x] and board[y][x] != mine:
            line.append((y, x))
            y, x = y + down, x + right
        if 0 <= y < 8 and 0 <= x < 8 and board[y][x] == mine:
            found += line
    return found


def legal(board: Board, side: Side) -> list[str]:
    """The squares that the side may take, from A1 to H8, row by row."""
    return [square_at(row, column) for row in range(8) for column in range(8) if turned(board, side, row, column)]


def played(board: Board, side: Side, square: str) -> Board:
    """The board after a move; raises ValueError when it is not allowed."""
    at = place_of(square)
    changed = turned(board, side, *at)
    if not changed:
        raise ValueError(f"{side} may not play {square}.")
    mine = COLOURS[side]
    new = {at, *changed}
    return tuple(
        tuple(mine if (row, column) in new else cell for column, cell in enumerate(cells))
        for row, cells in enumerate(board)
    )


def discs(board: Board, side: Side) -> int:
    """How many discs the side has."""
    return sum(row.count(COLOURS[side]) for row in board)


def over(board: Board) -> bool:
    """True when neither side has a move."""
    return not legal(board, "BLACK") and not legal(board, "WHITE")


def winner(board: Board, ai_side: Side) -> Winner:
    """Who has more discs."""
    ai, crowd = discs(board, ai_side), discs(board, other(ai_side))
    return "DRAW" if ai == crowd else "AI" if ai > crowd else "COLLECTIVE"
