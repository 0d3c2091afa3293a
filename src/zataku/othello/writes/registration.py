"""Writes that register users and open games."""

from zoneinfo import ZoneInfo

from msgspec.structs import replace

from zataku.othello.design import Game, User, board_game
from zataku.othello.errors import RuleViolation
from zataku.othello.limits import side_of
from zataku.othello.rules.board import START, format_board
from zataku.othello.writes.examples import NEW_GAME, NOW, PLAYER
from zataku.table import Budget, Plan, put, save


@board_game.write(budget=Budget(writes=1, of="a user"), example={"user": PLAYER})
def register_user(user: User) -> Plan[User]:
    """Register a user; an ID is used once."""
    return Plan(put(user, if_absent=True))


@board_game.write(
    budget=Budget(writes=1, of="a user"),
    example={"was": PLAYER, "username": "player2", "icon_url": None, "email": None, "now": NOW},
)
def change_profile(was: User, username: str, icon_url: str | None, email: str | None, now: str) -> Plan[User]:
    """Change a user's name, icon or address; of two concurrent changes, the second fails."""
    return Plan(save(replace(was, username=username, icon_url=icon_url, email=email, updated_at=now), was=was))


@board_game.write(budget=Budget(writes=2, of="a game"), example={"game": NEW_GAME})
def open_game(game: Game) -> Plan[Game]:
    """Open a game on the opening board, with a deadline if the crowd moves first."""
    progress = (game.status, game.current_turn, game.winner, game.closed_turn, game.opened_turn)
    if progress != ("ACTIVE", 0, None, None, None):
        raise RuleViolation("not_new", "A new game must be active, at turn 0, without a winner.")
    if game.board_state != format_board(START):
        raise RuleViolation("not_new", "A new game must have the opening board.")
    if (game.voting_deadline is None) != (game.ai_side == side_of(0)):
        raise RuleViolation("wrong_deadline", "A new game must have a deadline exactly when the crowd moves first.")
    if game.voting_deadline is not None and game.voting_deadline <= game.created_at:
        raise RuleViolation("wrong_deadline", "The first deadline must be later than the creation of the game.")
    if game.time_zone is not None and not _is_zone(game.time_zone):
        raise RuleViolation("unknown_zone", f"{game.time_zone} is not a time zone. Use a name such as Asia/Tokyo.")
    return Plan(put(game, if_absent=True))


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return False
    return True
