"""Writes that finish a game and set the expiry of its items.

Nothing is added to a finished game, so that what a job reads of it is complete.
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
"""Items that one `set_item_expiry` takes: with the check of the game they are the 100 of a transaction."""

_COMMENTARY_EXPIRY = path(Commentary, lambda commentary: commentary.expires_at)
_MOVE_EXPIRY = path(Move, lambda move: move.expires_at)
_CANDIDATE_EXPIRY = path(Candidate, lambda candidate: candidate.expires_at)
_VOTE_EXPIRY = path(Vote, lambda vote: vote.expires_at)
_GAME_EXPIRY = path(Game, lambda game: game.expires_at)
_EXPIRY = parse_instant(NOW) + RETENTION_SECONDS


@board_game.write(budget=Budget(writes=3, of="a game"), example={"game": FULL_GAME, "now": NOW})
def finish(game: Game, now: str) -> Plan[Game]:
    """A game ends where neither side has a move left, and who has more discs wins. It moves to GSI1's finished games.

    The last turn is commented on before this.
    """
    board = parse_board(game.board_state)
    if not is_over(board):
        raise RuleViolation("not_over", "Somebody has a move yet.")
    ended = paths.at_turn(game.current_turn) & paths.deadline.missing()
    return Plan(
        update(
            Game.key(game_id=game.game_id),
            paths.status.set("FINISHED"),
            paths.winner.set(winner(board, game.ai_side)),
            paths.updated_at_path.set(now),
            when=ended,
        )
    )


def expiry_of(game: Game, now: str) -> int:
    """When a finished game is to be deleted: 90 days after its end, and a day from now at the earliest.

    The day is for the job, so that nothing it has marked is gone before it has marked the rest.
    """
    return max(parse_instant(game.updated_at) + RETENTION_SECONDS, parse_instant(now) + DAY)


@board_game.write(
    budget=Budget(writes=299, of="99 votes"),
    example={"game_id": A_GAME, "items": [VOTE], "expires_at": _EXPIRY, "now": NOW},
)
def set_item_expiry(
    game_id: GameId, items: Sequence[Move | Commentary | Candidate | Vote], expires_at: int, now: str
) -> Plan[Game]:
    """Up to 99 items of a finished game are to be deleted at a moment that lies ahead, such as `expiry_of` gives.

    A larger game takes several calls, in any order. `set_game_expiry` comes last, so that a game with an expiry has one
    on every item. Until its expiry an item can be given another one. After it the item is gone, and a call that names
    it is refused as a whole: a job that resumes reads again and passes the items without an expiry.
    """
    if not 1 <= len(items) <= MAX_STAMPED_ITEMS:
        raise RuleViolation("wrong_number", f"1 to {MAX_STAMPED_ITEMS} items are marked at once.")
    if any(it.game_id != game_id for it in items):
        raise RuleViolation("wrong_game", "The items are of another game.")
    _require_future(expires_at, now)
    over_now = check(Game.key(game_id=game_id), paths.status.equals("FINISHED"))
    return Plan(over_now, *[_expiry_step(it, expires_at) for it in items])


@board_game.write(budget=Budget(writes=2, of="a game"), example={"game_id": A_GAME, "expires_at": _EXPIRY, "now": NOW})
def set_game_expiry(game_id: GameId, expires_at: int, now: str) -> Plan[Game]:
    """A finished game itself is to be deleted at a moment that lies ahead, after everything in it was marked."""
    _require_future(expires_at, now)
    over_now = paths.status.equals("FINISHED")
    return Plan(update(Game.key(game_id=game_id), _GAME_EXPIRY.set(expires_at), when=over_now))


def _require_future(expires_at: int, now: str) -> None:
    if expires_at <= parse_instant(now):
        raise RuleViolation("already_past", "The moment of deletion lies ahead.")


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
