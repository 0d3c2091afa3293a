"""Writes that close, reopen, play and comment on a turn, and when they fail."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.othello.games import (
    AFTER,
    AFTER_D3,
    C3,
    C5,
    DEADLINE,
    E3,
    GAME,
    NOW,
    SOON,
    TOMORROW,
    TURN,
    assert_refused,
    board_after,
    candidate,
    closed_game,
    full_game,
    new_game,
    user_id_of,
    voted_game,
    wide_game,
)
from tests.support.stores import START
from zataku.othello.design import Candidate, Game, Move, game
from zataku.othello.errors import RuleViolation
from zataku.othello.rules.board import START as OPENING
from zataku.othello.rules.board import format_board, legal_moves
from zataku.othello.writes import (
    Proposal,
    add_commentary,
    advance,
    close_turn,
    play_turn,
    propose,
    reopen_turn,
    votable_squares,
    winning_candidate,
)
from zataku.table import Plan, Store, format_instant
from zataku.table.schema.entity import binding_of

REASON = Proposal("C3", "角を守る手です。")
LATER_STILL = format_instant(START + 2 * 86_400)
# Twelve black discs around four white ones: all twenty squares around them are legal for white.
WALL = tuple(
    tuple(
        0 if not (2 <= row <= 5 and 2 <= column <= 5) else 2 if 3 <= row <= 4 and 3 <= column <= 4 else 1
        for column in range(8)
    )
    for row in range(8)
)
# White has only A1, and beside it is one black disc that a move at C1 flips.
CORNER = ((2, 1, *(0,) * 6), *((0,) * 8,) * 7)


def violation_code(write: Any, *arguments: Any) -> str:
    """The code of the rule violation that the write raises."""
    with pytest.raises(RuleViolation) as error:
        write(*arguments)
    return error.value.code


async def test_a_turn_is_closed_at_its_deadline_and_once(store: Store):
    await store.put(voted_game)
    await assert_refused(store, close_turn(GAME, TURN, format_instant(START + 3599)))
    await assert_refused(store, close_turn(GAME, TURN + 1, DEADLINE))
    closed = await store.write(close_turn(GAME, TURN, DEADLINE))
    assert closed == replace(closed_game, updated_at=DEADLINE)
    await assert_refused(store, close_turn(GAME, TURN, AFTER))


async def test_a_turn_without_a_vote_cannot_be_closed(embedded: Store):
    await embedded.put(new_game)
    await assert_refused(embedded, close_turn(GAME, 0, AFTER))


async def test_a_closed_turn_without_candidates_can_be_reopened(store: Store):
    await store.put(voted_game)
    await assert_refused(store, reopen_turn(closed_game, TOMORROW, AFTER))
    await store.write(close_turn(GAME, TURN, DEADLINE))
    await store.write(reopen_turn(closed_game, TOMORROW, AFTER))
    reopened = await store.get(game(GAME), strong=True)
    assert reopened == replace(voted_game, voting_deadline=TOMORROW, updated_at=AFTER)
    await store.write(propose(reopened, REASON, user_id_of(1), AFTER))


@pytest.mark.parametrize("square", votable_squares(closed_game))
async def test_a_turn_with_a_candidate_is_not_reopened(embedded: Store, square: str):
    await embedded.write_many(put=[closed_game, candidate(square)])
    await assert_refused(embedded, reopen_turn(closed_game, TOMORROW, AFTER))


async def test_a_slow_reopening_does_not_undo_a_later_close(embedded: Store):
    await embedded.put(closed_game)
    slow = reopen_turn(closed_game, LATER_STILL, AFTER)
    await embedded.write(reopen_turn(closed_game, TOMORROW, AFTER))
    await embedded.write(close_turn(GAME, TURN, TOMORROW))
    await assert_refused(embedded, slow)


def test_a_turn_is_reopened_only_with_a_later_deadline_in_the_future():
    for deadline, now in ((AFTER, AFTER), (NOW, AFTER), (DEADLINE, SOON), (SOON, NOW)):
        assert violation_code(reopen_turn, closed_game, deadline, now) == "wrong_deadline"
    assert violation_code(reopen_turn, voted_game, TOMORROW, AFTER) == "not_closed"
    assert violation_code(reopen_turn, replace(closed_game, current_turn=2), TOMORROW, AFTER) == "not_closed"


def test_the_candidate_with_most_votes_wins_and_of_a_tie_the_earliest():
    late, early = replace(C3, created_at=SOON), E3
    assert winning_candidate([late, early]) is early
    assert winning_candidate([early, late]) is early
    assert winning_candidate([early, replace(late, vote_count=1)]).position == "C3"
    assert winning_candidate([E3, C5, C3]) is C3
    with pytest.raises(RuleViolation, match="no candidates"):
        winning_candidate([])


async def test_the_elected_candidate_is_played(store: Store):
    winner = replace(E3, vote_count=2)
    await store.write_many(put=[closed_game, C3, winner, C5])
    await store.write(advance(closed_game, [C3, winner, C5], AFTER))
    keys = [binding_of(Candidate).key_of(proposed) for proposed in (C3, E3, C5)]
    assert [proposed and proposed.status for proposed in await store.snapshot(*keys)] == ["CLOSED", "ADOPTED", "CLOSED"]
    move = await store.get(Move.key(game_id=GAME, turn_number=TURN), strong=True)
    assert move == Move(
        game_id=GAME,
        turn_number=TURN,
        side="WHITE",
        position="E3",
        played_by="COLLECTIVE",
        candidate_id=E3.candidate_id,
        created_at=AFTER,
    )
    after = await store.get(game(GAME), strong=True)
    assert after == replace(
        closed_game,
        current_turn=TURN + 1,
        board_state=board_after("D3", "E3"),
        voting_deadline=None,
        updated_at=AFTER,
    )
    await assert_refused(store, advance(closed_game, [C3, winner, C5], AFTER))


async def test_a_turn_is_not_played_before_it_is_closed(embedded: Store):
    await embedded.write_many(put=[voted_game, C3])
    await assert_refused(embedded, advance(closed_game, [C3], AFTER))
    assert violation_code(advance, voted_game, [C3], AFTER) == "not_closed"


async def test_a_turn_is_not_played_on_counts_that_have_changed(embedded: Store):
    await embedded.write_many(put=[closed_game, C3, replace(E3, vote_count=1)])
    await assert_refused(embedded, advance(closed_game, [C3, E3], AFTER))


@pytest.mark.parametrize("status", ["CLOSED", "ADOPTED"])
async def test_a_candidate_is_decided_on_once(embedded: Store, status: str):
    await embedded.write_many(put=[closed_game, C3, replace(E3, status=status)])
    await assert_refused(embedded, advance(closed_game, [C3, E3], AFTER))


@pytest.mark.parametrize("left_out", ["C3", "E3", "C5"])
async def test_a_turn_is_not_played_on_an_incomplete_list_of_candidates(embedded: Store, left_out: str):
    candidates = [replace(C3, vote_count=3), E3, C5]
    await embedded.write_many(put=[closed_game, *candidates])
    await assert_refused(
        embedded, advance(closed_game, [proposed for proposed in candidates if proposed.position != left_out], AFTER)
    )
    await embedded.write(advance(closed_game, candidates, AFTER))


async def test_a_reopened_turn_is_not_played_on_the_state_before(embedded: Store):
    await embedded.write_many(put=[replace(closed_game, voting_deadline=TOMORROW), C3])
    await assert_refused(embedded, advance(closed_game, [C3], AFTER))


def test_a_turn_is_not_played_with_a_candidate_of_another_turn_or_an_illegal_square():
    assert violation_code(advance, closed_game, [candidate("C3", turn_number=3)], AFTER) == "wrong_turn"
    assert violation_code(advance, closed_game, [candidate("H8")], AFTER) == "not_legal"


async def test_every_square_of_a_wide_board_is_decided_in_one_transaction(store: Store):
    wide = replace(closed_game, board_state=format_board(WALL))
    proposed = [candidate(square) for square in votable_squares(wide)]
    assert len(proposed) == 20
    await store.write_many(put=[wide, *proposed])
    await store.write(advance(wide, proposed, AFTER))
    keys = [binding_of(Candidate).key_of(candidate) for candidate in proposed]
    statuses = [candidate.status for candidate in await store.snapshot(*keys) if candidate]
    assert sorted(statuses) == ["ADOPTED", *["CLOSED"] * 19]


async def test_the_ai_plays_and_the_crowd_gets_a_deadline(store: Store):
    await store.put(new_game)
    move = await store.write(play_turn(new_game, "D3", SOON, DEADLINE))
    assert move == Move(game_id=GAME, turn_number=0, side="BLACK", position="D3", played_by="AI", created_at=SOON)
    assert await store.get(game(GAME), strong=True) == replace(voted_game, updated_at=SOON)
    await assert_refused(store, play_turn(new_game, "C4", SOON, DEADLINE))


@pytest.mark.parametrize("position", ["D4", "A1", "PASS", "Z9", ""])
def test_an_illegal_move_of_the_ai_is_rejected(position: str):
    assert violation_code(play_turn, new_game, position, SOON, DEADLINE) == "not_legal"


def test_a_turn_of_the_crowd_needs_a_deadline_in_the_future():
    for deadline in (None, SOON, NOW):
        assert violation_code(play_turn, new_game, "D3", SOON, deadline) == "wrong_deadline"


def plan_of(board: Any, ai_side: str, turn: int, position: str, deadline: str | None) -> Plan[Move]:
    """The plan of a move on that board."""
    return play_turn(
        replace(new_game, board_state=format_board(board), ai_side=ai_side, current_turn=turn), position, SOON, deadline
    )


async def test_a_crowd_without_a_move_passes_and_the_ai_needs_no_deadline(embedded: Store):
    waiting = await embedded.put(replace(new_game, ai_side="WHITE", board_state=format_board(CORNER)))
    assert not legal_moves(CORNER, "BLACK")
    assert violation_code(play_turn, waiting, "PASS", SOON, DEADLINE) == "wrong_deadline"
    move = await embedded.write(play_turn(waiting, "PASS", SOON))
    assert move is not None
    assert (move.side, move.position, move.played_by) == ("BLACK", "PASS", "COLLECTIVE")
    after = await embedded.get(game(GAME), strong=True)
    assert after == replace(waiting, current_turn=1, updated_at=SOON)


def test_a_turn_in_which_the_crowd_can_only_pass_has_no_deadline():
    # White's C1 flips B1, and no black disc is left: the game is over.
    assert violation_code(plan_of, CORNER, "WHITE", 1, "C1", DEADLINE) == "wrong_deadline"
    assert plan_of(CORNER, "WHITE", 1, "C1", None).steps
    # The AI passes, and the crowd has a move.
    assert violation_code(plan_of, CORNER, "BLACK", 0, "PASS", None) == "wrong_deadline"
    assert plan_of(CORNER, "BLACK", 0, "PASS", DEADLINE).steps


def test_no_move_is_played_when_the_game_is_over():
    for position in ("PASS", "A1"):
        assert violation_code(play_turn, replace(full_game, ai_side="WHITE"), position, SOON, None) == "game_over"


async def test_a_turn_with_a_vote_is_not_played_without_it(embedded: Store):
    stuck = replace(voted_game, ai_side="WHITE", current_turn=0, board_state=format_board(CORNER))
    await embedded.put(stuck)
    await assert_refused(embedded, play_turn(stuck, "PASS", SOON))
    with pytest.raises(RuleViolation, match="voted for"):
        play_turn(voted_game, "C3", SOON)
    assert violation_code(play_turn, voted_game, "PASS", SOON, None) == "not_legal"


def test_every_write_rejects_a_game_with_an_invalid_board():
    broken: Game = replace(closed_game, board_state="x")
    for attempt in (
        lambda: advance(broken, [C3], AFTER),
        lambda: play_turn(replace(broken, ai_side="WHITE"), "C3", AFTER, TOMORROW),
        lambda: propose(broken, REASON, user_id_of(1), NOW),
        lambda: reopen_turn(broken, TOMORROW, AFTER),
    ):
        with pytest.raises(ValueError, match="not a board"):
            attempt()


async def test_a_played_turn_gets_commentary_once(store: Store):
    commentary = add_commentary(GAME, 0, "白が一つ角に近づいた。", NOW)
    await assert_refused(store, commentary)
    await store.put(voted_game)
    await assert_refused(store, add_commentary(GAME, TURN, "まだ打たれていない。", NOW))
    await store.write(commentary)
    await assert_refused(store, add_commentary(GAME, 0, "別の見方。", SOON))


async def test_a_finished_game_gets_no_more_commentary(embedded: Store):
    await embedded.put(replace(full_game, status="FINISHED", winner="AI"))
    await assert_refused(embedded, add_commentary(GAME, 0, "遅すぎた。", NOW))


def test_the_boards_of_the_tests_have_their_legal_squares():
    assert votable_squares(wide_game) == ["F2", "C3", "B4", "F4", "F5", "E6", "C7", "D7", "E7", "G7"]
    assert votable_squares(voted_game) == ["C3", "E3", "C5"]
    assert legal_moves(OPENING, "BLACK") == votable_squares(new_game)
    assert voted_game.board_state == AFTER_D3
