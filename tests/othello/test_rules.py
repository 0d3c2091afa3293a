"""The rules of Othello, compared with published perft counts."""

import pytest

from zataku.othello.limits import Side
from zataku.othello.rules.board import (
    START,
    Board,
    Row,
    count_discs,
    is_over,
    legal_moves,
    opponent,
    play_move,
    square_at,
    square_coordinates,
    winner,
)


def count_leaves(board: Board, side: Side, depth: int, passed: bool = False) -> int:
    """The number of games of that many moves; a pass is a move."""
    if depth == 0:
        return 1
    squares = legal_moves(board, side)
    if not squares:
        return 1 if passed else count_leaves(board, opponent(side), depth - 1, passed=True)
    return sum(count_leaves(play_move(board, side, square), opponent(side), depth - 1) for square in squares)


def test_the_number_of_games_equals_the_published_perft_counts():
    assert [count_leaves(START, "BLACK", depth) for depth in range(1, 6)] == [4, 12, 56, 244, 1396]


def test_black_has_four_legal_first_moves():
    assert legal_moves(START, "BLACK") == ["D3", "C4", "F5", "E6"]


def test_a_move_flips_the_discs_between():
    board = play_move(START, "BLACK", "D3")
    assert (count_discs(board, "BLACK"), count_discs(board, "WHITE")) == (4, 1)
    assert board[2][3] == board[3][3] == 1


@pytest.mark.parametrize("square", ["A1", "D4", "C3", "E3"])
def test_a_square_that_flips_nothing_is_rejected(square: str):
    with pytest.raises(ValueError, match="may not"):
        play_move(START, "BLACK", square)


def test_a_game_is_over_when_neither_side_has_a_move_and_more_discs_win():
    black: Row = (1,) * 8
    white: Row = (2,) * 8
    board: Board = (*(black,) * 5, *(white,) * 3)
    assert is_over(board)
    assert (winner(board, "BLACK"), winner(board, "WHITE")) == ("AI", "COLLECTIVE")
    assert winner((*(black,) * 4, *(white,) * 4), "WHITE") == "DRAW"
    assert not is_over(START)
    # Black has a move while white has none.
    assert not is_over(((1, 2, *(0,) * 6), *(((0,) * 8),) * 7))


def test_squares_are_named_by_column_and_row():
    assert square_coordinates("A1") == (0, 0)
    assert square_coordinates("H1") == (0, 7)
    assert all(square_at(*square_coordinates(square)) == square for square in ("A1", "H8", "D3", "C5"))
