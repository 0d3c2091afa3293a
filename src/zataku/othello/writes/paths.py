"""The attributes that writes look at and change, and what it means that voting is open."""

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
touched_at = path(Game, lambda game: game.updated_at)
vote_count = path(Candidate, lambda candidate: candidate.vote_count)
outcome = path(Candidate, lambda candidate: candidate.status)
chosen = path(Vote, lambda vote: vote.candidate_id)
revoted_at = path(Vote, lambda vote: vote.updated_at)


def at_turn(turn: int) -> Condition[Game]:
    """The game is on and has come to this turn, not further."""
    return status.equals("ACTIVE") & current_turn.equals(turn)


def voting_open(turn: int, now: str) -> Condition[Game]:
    """Everyone may vote in this turn: its deadline lies ahead and nobody has closed it."""
    return at_turn(turn) & closed_turn.not_equals(turn) & deadline.above(now)


def candidate_key(game_id: GameId, turn: int, candidate_id: CandidateId) -> Key[Candidate]:
    """Where a candidate lies."""
    return Candidate.key(game_id=game_id, turn_number=turn, candidate_id=candidate_id)
