"""The conditional update of a game, and the preconditions of its writes."""

from typing import Any

from msgspec.structs import replace

from zataku.drawing.design import Game, esiritori
from zataku.drawing.errors import NotAllowed, RoomTaken, WrongState
from zataku.drawing.limits import Epoch, GameId, GameStatus, Moment, PlayerId, TurnId
from zataku.drawing.values import CurrentRound, Player, Turn
from zataku.table import Budget, Plan, Step, path, save, update

_epoch = path(Game, lambda game: game.epoch)


def update_game(game: Game, epoch: Epoch, now: Moment, **changes: Any) -> Step[Game]:
    """The step that saves the game's next state, on condition of its version.

    The epoch changes only together with the version, so that the condition on the version covers the epoch.
    """
    require_owner(game, epoch, now)
    return save(replace(game, updated_at=now, **changes), was=game)


def require_owner(game: Game, epoch: Epoch, now: Moment) -> None:
    """Raise `RoomTaken` unless the epoch is the caller's, and `WrongState` for a game that is about to be deleted."""
    if game.epoch != epoch:
        raise RoomTaken(f"The room has a new owner: epoch {game.epoch}, not {epoch}. Stop writing to it.")
    if game.ttl is not None and game.ttl <= now // 1000:
        raise WrongState("The game has expired and is about to be deleted.")


def require_status(game: Game, status: GameStatus) -> None:
    """Raise `WrongState` unless the game has the status."""
    if game.status != status:
        raise WrongState(f"The game is {game.status}. This needs a game that is {status}.")


def require_host(game: Game, player_id: PlayerId) -> None:
    """Raise `NotAllowed` unless the player is the host."""
    if game.host_id != player_id:
        raise NotAllowed("Only the host may do this.")


def require_seated(game: Game, player_id: PlayerId) -> Player:
    """The seated player of this id."""
    for player in game.players:
        if player.id == player_id and player.left_at is None:
            return player
    raise NotAllowed("Only a seated player may do this.")


def replace_player(game: Game, player: Player) -> tuple[Player, ...]:
    """The players with one of them replaced."""
    return tuple(player if other.id == player.id else other for other in game.players)


def require_round(game: Game, turn_id: TurnId) -> CurrentRound:
    """The current round, if the turn is its current one; raises `WrongState` for late deadlines and guesses."""
    require_status(game, "playing")
    if game.current_round is None or game.current_round.ended_at is not None:
        raise WrongState("No round is in progress.")
    if game.current_round.current_turn.id != turn_id:
        raise WrongState("The turn has moved on.")
    return game.current_round


def require_drawing_turn(game: Game, turn_id: TurnId) -> tuple[CurrentRound, Turn]:
    """The current round and turn, if the turn is being drawn."""
    current = require_round(game, turn_id)
    if current.current_turn.status != "drawing":
        raise WrongState("The turn is not in its drawing phase.")
    return current, current.current_turn


@esiritori.write(budget=Budget(writes=2, of="a game of 10 players in a fresh turn"))
def take_room(game_id: GameId) -> Plan[Game]:
    """Take over a game for a server: no other can change it from then on. Returns the game with the new epoch.

    The new owner then reads `last_message` and, in a turn, `strokes_of`, to continue their numbers. Writes of messages
    and parts of pictures do not check the stored game, so a server that lost the room may add some until it notices.
    """
    return Plan(update(Game.key(game_id=game_id), _epoch.add(1)))
