"""Field paths used by the writes, and the conditions built from them."""

from zataku.othello.design import Candidate, Game, Vote
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


def candidate_key(game_id: GameId, turn: int, candidate_id: CandidateId) -> Key[Candidate]:
    """The key of a candidate."""
    return Candidate.key(game_id=game_id, turn_number=turn, candidate_id=candidate_id)
