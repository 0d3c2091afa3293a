"""Generated sample games follow the rules."""

from collections import Counter
from random import Random

import pytest

from zataku.othello.design import Candidate, Commentary, Game, Move, User, Vote
from zataku.othello.limits import Side, candidate_id, side_of
from zataku.othello.rules.board import START, Board, count_discs, format_board, legal_moves, opponent, play_move
from zataku.othello.samples import finished_game, running_game, users
from zataku.othello.writes.turns import winning_candidate
from zataku.table.schema.entity import binding_of

BEGIN = 1_767_225_600
# The game of this seed has passes in it.
SEED = 3


def sample_users() -> list[User]:
    """The voters of the samples."""
    return users(Random(1), BEGIN)


def items_of_kind(items: list[object], kind: type) -> list:
    """The items of one kind."""
    return [item for item in items if isinstance(item, kind)]


@pytest.fixture(scope="module", params=["BLACK", "WHITE"])
def finished(request: pytest.FixtureRequest) -> list[object]:
    """All items of a finished game."""
    return list(finished_game(Random(SEED), BEGIN, sample_users(), request.param))


def replay_moves(moves: list[Move]) -> Board:
    """The board after the moves; asserts that each is legal, and a pass only without another move."""
    board = START
    for turn, move in enumerate(moves):
        assert (move.turn_number, move.side) == (turn, side_of(turn))
        if move.position == "PASS":
            assert not legal_moves(board, move.side)
            assert legal_moves(board, opponent(move.side))
        else:
            board = play_move(board, move.side, move.position)
    return board


def test_a_finished_game_is_legal_to_its_end(finished: list[object]):
    game: Game = items_of_kind(finished, Game)[0]
    moves = items_of_kind(finished, Move)
    board = replay_moves(moves)
    assert not legal_moves(board, "BLACK")
    assert not legal_moves(board, "WHITE")
    assert game.board_state == format_board(board)
    assert game.current_turn == len(moves)
    lead = count_discs(board, game.ai_side) - count_discs(board, opponent(game.ai_side))
    assert game.winner == ("AI" if lead > 0 else "COLLECTIVE" if lead < 0 else "DRAW")
    assert (game.status, game.voting_deadline) == ("FINISHED", None)


def test_a_finished_game_has_passes_in_it():
    moves = items_of_kind(list(finished_game(Random(SEED), BEGIN, sample_users())), Move)
    assert "PASS" in {move.position for move in moves}


def test_moves_of_the_crowd_are_elected_and_counts_equal_votes(finished: list[object]):
    game: Game = items_of_kind(finished, Game)[0]
    candidates, votes = items_of_kind(finished, Candidate), items_of_kind(finished, Vote)
    tally = Counter(vote.candidate_id for vote in votes)
    assert len({(vote.turn_number, vote.user_id) for vote in votes}) == len(votes)
    assert {candidate.candidate_id: candidate.vote_count for candidate in candidates if candidate.vote_count} == dict(
        tally
    )
    for move in items_of_kind(finished, Move):
        ballot = [candidate for candidate in candidates if candidate.turn_number == move.turn_number]
        if move.side == game.ai_side or move.position == "PASS":
            assert not ballot
            assert move.candidate_id is None
        else:
            best = winning_candidate(ballot)
            assert (move.position, move.candidate_id) == (best.position, best.candidate_id)
            assert {candidate.candidate_id: candidate.status for candidate in ballot} == {
                candidate.candidate_id: "ADOPTED" if candidate is best else "CLOSED" for candidate in ballot
            }


def test_candidates_are_created_and_voted_for_before_the_deadline(finished: list[object]):
    candidates = {candidate.candidate_id: candidate for candidate in items_of_kind(finished, Candidate)}
    for candidate in candidates.values():
        assert candidate.candidate_id == candidate_id(candidate.game_id, candidate.turn_number, candidate.position)
        assert candidate.created_at < candidate.voting_deadline
        assert candidate.voting_deadline.endswith("T15:00:00Z")
    for vote in items_of_kind(finished, Vote):
        voted_candidate = candidates[vote.candidate_id]
        assert voted_candidate.created_at <= vote.created_at < voted_candidate.voting_deadline


def test_every_turn_has_commentary(finished: list[object]):
    turns = [commentary.turn_number for commentary in items_of_kind(finished, Commentary)]
    assert turns == [move.turn_number for move in items_of_kind(finished, Move)]


@pytest.mark.parametrize("ai_side", ["BLACK", "WHITE"])
@pytest.mark.parametrize("turns", [0, 1, 11, 12])
def test_a_running_game_has_an_open_vote(ai_side: Side, turns: int):
    items = list(running_game(Random(SEED), BEGIN, sample_users(), ai_side, turns))
    game: Game = items_of_kind(items, Game)[0]
    assert game.status == "ACTIVE"
    assert turns <= game.current_turn <= turns + 1
    assert side_of(game.current_turn) != ai_side
    assert game.board_state == format_board(replay_moves(items_of_kind(items, Move)))
    open_now = [candidate for candidate in items_of_kind(items, Candidate) if candidate.status == "VOTING"]
    assert open_now
    assert {candidate.turn_number for candidate in open_now} == {game.current_turn}
    assert {candidate.voting_deadline for candidate in open_now} == {game.voting_deadline}
    assert game.closed_turn != game.current_turn
    assert game.opened_turn == game.current_turn
    assert game.updated_at == min(candidate.created_at for candidate in open_now)


def test_the_same_seed_gives_the_same_items():
    assert users(Random(5), BEGIN) == users(Random(5), BEGIN)
    assert list(finished_game(Random(5), BEGIN, sample_users())) == list(
        finished_game(Random(5), BEGIN, sample_users())
    )
    assert list(finished_game(Random(5), BEGIN, sample_users())) != list(
        finished_game(Random(6), BEGIN, sample_users())
    )


def test_every_generated_item_can_be_stored(finished: list[object]):
    for item in (*users(Random(2), BEGIN, 40), *finished):
        binding_of(type(item)).encode(item)


def test_generated_names_are_unique():
    names = [user.username for user in users(Random(2), BEGIN, 40)]
    assert len(set(names)) == 40
