"""The one way to change a game: from a loaded state, by the room's owner, if nothing has happened since."""

from typing import Any

from msgspec.structs import replace

from zataku.drawing.design import Game
from zataku.drawing.errors import NotNow, NotYours, RoomTaken
from zataku.drawing.limits import Epoch, GameStatus, Moment, PlayerId, TurnId
from zataku.drawing.values import CurrentRound, Player, Turn
from zataku.table import Step, save


def changed(game: Game, epoch: Epoch, now: Moment, **changes: Any) -> Step[Game]:
    """The game's next state, on condition of its version.

    The epoch moves only together with the version, so that demanding the version demands the epoch too.
    """
    demand_owner(game, epoch, now)
    return save(replace(game, updated_at=now, **changes), was=game)


def demand_owner(game: Game, epoch: Epoch, now: Moment) -> None:
    """Refuse who is not the owner of the room, and games that are about to be deleted.

    An owner who lost the room and reads the game again finds another epoch than its own, and is refused here.
    """
    if game.epoch != epoch:
        raise RoomTaken(f"The room is in its {game.epoch}. hands, not in the {epoch}. any more. Let go of it.")
    if game.ttl is not None and game.ttl <= now // 1000:
        raise NotNow("The game is over and about to be deleted.")


def demand_status(game: Game, status: GameStatus) -> None:
    """Refuse what does not belong to this part of a game."""
    if game.status != status:
        raise NotNow(f"The game is {game.status}; this is for a game that is {status}.")


def demand_host(game: Game, player_id: PlayerId) -> None:
    """Refuse everybody but the host."""
    if game.host_id != player_id:
        raise NotYours("Only the host may do this.")


def seated(game: Game, player_id: PlayerId) -> Player:
    """The player of this id, who sits at the table and has not left it."""
    for player in game.players:
        if player.id == player_id and player.left_at is None:
            return player
    raise NotYours("Only somebody who sits at the table may do this.")


def with_player(game: Game, player: Player) -> tuple[Player, ...]:
    """The players, one of them in a new state."""
    return tuple(player if other.id == player.id else other for other in game.players)


def round_under_way(game: Game, turn_id: TurnId) -> CurrentRound:
    """The round that is played, as long as this is its turn: a deadline or a guess that comes late does nothing."""
    demand_status(game, "playing")
    if game.current_round is None or game.current_round.ended_at is not None:
        raise NotNow("No round is under way.")
    if game.current_round.current_turn.id != turn_id:
        raise NotNow("The turn has moved on.")
    return game.current_round


def turn_under_way(game: Game, turn_id: TurnId) -> tuple[CurrentRound, Turn]:
    """The round that is played, and this turn of it while somebody draws and others guess."""
    current = round_under_way(game, turn_id)
    if current.current_turn.status != "drawing":
        raise NotNow("Nobody is drawing.")
    return current, current.current_turn
