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
    """A user signs up; an ID is given once."""
    return Plan(put(user, if_absent=True))


@board_game.write(
    budget=Budget(writes=1, of="a user"),
    example={"was": PLAYER, "username": "player2", "icon_url": None, "email": None, "now": NOW},
)
def change_profile(was: User, username: str, icon_url: str | None, email: str | None, now: str) -> Plan[User]:
    """A user changes name, icon or address; of two who change the same at once, the second is refused."""
    return Plan(save(replace(was, username=username, icon_url=icon_url, email=email, updated_at=now), was=was))


@board_game.write(budget=Budget(writes=2, of="a game"), example={"game": NEW_GAME})
def open_game(game: Game) -> Plan[Game]:
    """A game begins on the opening board, with a deadline where the crowd has the first move."""
    begun = (game.status, game.current_turn, game.winner, game.closed_turn, game.opened_turn)
    if begun != ("ACTIVE", 0, None, None, None):
        raise RuleViolation("not_new", "A game begins active, at turn 0, without a winner.")
    if game.board_state != format_board(START):
        raise RuleViolation("not_new", "A game begins with the four discs of the opening.")
    if (game.voting_deadline is None) != (game.ai_side == side_of(0)):
        raise RuleViolation("wrong_deadline", "A game has a deadline exactly when the crowd is to move.")
    if game.voting_deadline is not None and game.voting_deadline <= game.created_at:
        raise RuleViolation("wrong_deadline", "The first deadline comes after the beginning.")
    if game.time_zone is not None and not _is_zone(game.time_zone):
        raise RuleViolation("unknown_zone", f"{game.time_zone} is not a time zone. Use a name such as Asia/Tokyo.")
    return Plan(put(game, if_absent=True))


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return False
    return True
