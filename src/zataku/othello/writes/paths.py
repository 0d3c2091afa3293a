"""Field paths used by the writes, and the conditions built from them."""

from zataku.othello.design import Candidate, Game, Vote
from zataku.othello.errors import RuleViolation
from zataku.othello.limits import CandidateId, GameId
from zataku.table import Condition, Key, path

status = path(Game, lambda game: game.status)
current_turn = path(Game, lambda game: game.current_turn)
closed_turn = path(Game, lambda game: game.closed_turn)
opened_turn = path(Game, lambda game: game.opened_turn)
deadline = path(Game, lambda game: game.voting_deadline)
board_state = path(Game, lambda game: game.board_state)
winner = path(Game, lambda game: game.winner)
updated_at = path(Game, lambda game: game.updated_at)
vote_count = path(Candidate, lambda candidate: candidate.vote_count)
candidate_status = path(Candidate, lambda candidate: candidate.status)
voted_candidate = path(Vote, lambda vote: vote.candidate_id)
vote_updated_at = path(Vote, lambda vote: vote.updated_at)


def at_turn(turn: int) -> Condition[Game]:
    """The game is active and at this turn."""
    return status.equals("ACTIVE") & current_turn.equals(turn)


def voting_open(turn: int, now: str) -> Condition[Game]:
    """Voting in this turn is open: its deadline is in the future and it is not closed."""
    return at_turn(turn) & closed_turn.not_equals(turn) & deadline.above(now)


def voting_unchanged(game: Game, now: str) -> Condition[Game]:
    """Voting in the loaded game's turn is open, with the deadline that its candidates copy."""
    return voting_open(game.current_turn, now) & deadline.equals(game.voting_deadline)


def voting_closed(game: Game) -> Condition[Game]:
    """The turn of the loaded game is closed and was not reopened since: each reopening sets a new deadline."""
    turn = game.current_turn
    if game.closed_turn != turn or game.voting_deadline is None:
        raise RuleViolation("not_closed", "Voting in this turn is not closed. Close it first.")
    return at_turn(turn) & closed_turn.equals(turn) & deadline.equals(game.voting_deadline)


def without_vote(turn: int) -> Condition[Game]:
    """The game is active and at this turn, in which there is no vote."""
    return at_turn(turn) & deadline.missing()


def candidate_key(game_id: GameId, turn: int, candidate_id: CandidateId) -> Key[Candidate]:
    """The key of a candidate."""
    return Candidate.key(game_id=game_id, turn_number=turn, candidate_id=candidate_id)
