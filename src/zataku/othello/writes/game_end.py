"""Writes that finish a game and set the expiry of its items.

Nothing is added to a finished game, so that a job reads it completely.
"""

from collections.abc import Sequence
from typing import Any

from zataku.othello.design import A_GAME, Candidate, Commentary, Game, Move, Vote, board_game
from zataku.othello.errors import RuleViolation
from zataku.othello.limits import GameId
from zataku.othello.rules.board import is_over, parse_board, winner
from zataku.othello.writes import paths
from zataku.othello.writes.examples import FULL_GAME, NOW, VOTE
from zataku.table import Budget, Plan, Step, check, parse_instant, path, update

DAY = 86_400

RETENTION_SECONDS = 90 * DAY
"""Seconds from the end of a game to its deletion, where games are deleted at all."""

MAX_STAMPED_ITEMS = 99
"""Most items of one `set_item_expiry`: with the check of the game, the 100 of a transaction."""

_COMMENTARY_EXPIRY = path(Commentary, lambda commentary: commentary.expires_at)
_MOVE_EXPIRY = path(Move, lambda move: move.expires_at)
_CANDIDATE_EXPIRY = path(Candidate, lambda candidate: candidate.expires_at)
_VOTE_EXPIRY = path(Vote, lambda vote: vote.expires_at)
_GAME_EXPIRY = path(Game, lambda game: game.expires_at)
_EXPIRY = parse_instant(NOW) + RETENTION_SECONDS


@board_game.write(budget=Budget(writes=3, of="a game"), example={"game": FULL_GAME, "now": NOW})
def finish(game: Game, now: str) -> Plan[Game]:
    """Finish a game in which neither side has a move; the side with more discs wins. GSI1 then lists it as finished.

    The commentary on the last turn comes before this write.
    """
    board = parse_board(game.board_state)
    if not is_over(board):
        raise RuleViolation("not_over", "The game is not over: a side still has a move.")
    return Plan(
        update(
            Game.key(game_id=game.game_id),
            paths.status.set("FINISHED"),
            paths.winner.set(winner(board, game.ai_side)),
            paths.updated_at.set(now),
            when=paths.without_vote(game.current_turn),
        )
    )


def expiry_of(game: Game, now: str) -> int:
    """The expiry of a finished game: 90 days after its end, and a day from now at the earliest.

    The day gives the job time to set the expiry of all items before the first is deleted.
    """
    return max(parse_instant(game.updated_at) + RETENTION_SECONDS, parse_instant(now) + DAY)


@board_game.write(
    budget=Budget(writes=299, of="99 votes"),
    example={"game_id": A_GAME, "items": [VOTE], "expires_at": _EXPIRY, "now": NOW},
)
def set_item_expiry(
    game_id: GameId, items: Sequence[Move | Commentary | Candidate | Vote], expires_at: int, now: str
) -> Plan[Game]:
    """Set the expiry of up to 99 items of a finished game to a future time, such as `expiry_of` returns.

    A larger game takes several calls, in any order. `set_game_expiry` comes last, so that a game with an expiry has one
    on every item. The expiry of an item can be changed until the item is deleted. A call with a deleted item fails as a
    whole: a job that resumes reads again and passes the items without an expiry.
    """
    if not 1 <= len(items) <= MAX_STAMPED_ITEMS:
        raise RuleViolation("wrong_number", f"Pass 1 to {MAX_STAMPED_ITEMS} items at once.")
    if any(item.game_id != game_id for item in items):
        raise RuleViolation("wrong_game", "An item belongs to another game.")
    _require_future(expires_at, now)
    is_finished = check(Game.key(game_id=game_id), paths.status.equals("FINISHED"))
    return Plan(is_finished, *[_expiry_step(item, expires_at) for item in items])


@board_game.write(budget=Budget(writes=2, of="a game"), example={"game_id": A_GAME, "expires_at": _EXPIRY, "now": NOW})
def set_game_expiry(game_id: GameId, expires_at: int, now: str) -> Plan[Game]:
    """Set the expiry of a finished game to a future time, after that of all its items."""
    _require_future(expires_at, now)
    is_finished = paths.status.equals("FINISHED")
    return Plan(update(Game.key(game_id=game_id), _GAME_EXPIRY.set(expires_at), when=is_finished))


def _require_future(expires_at: int, now: str) -> None:
    if expires_at <= parse_instant(now):
        raise RuleViolation("already_past", "The expiry is in the past. Use a future time.")


def _expiry_step(item: Move | Commentary | Candidate | Vote, expires_at: int) -> Step[Any]:
    turn = {"game_id": item.game_id, "turn_number": item.turn_number}
    match item:
        case Move():
            return update(Move.key(**turn), _MOVE_EXPIRY.set(expires_at))
        case Commentary():
            return update(Commentary.key(**turn), _COMMENTARY_EXPIRY.set(expires_at))
        case Candidate():
            return update(Candidate.key(**turn, candidate_id=item.candidate_id), _CANDIDATE_EXPIRY.set(expires_at))
        case Vote():
            return update(Vote.key(**turn, user_id=item.user_id), _VOTE_EXPIRY.set(expires_at))
