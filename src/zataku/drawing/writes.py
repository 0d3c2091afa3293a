"""Every write of the drawing game. Those of seats, turns and rounds have modules of their own; the others are here.

A game is changed from a loaded state, on condition of its version and by the owner of its room alone (`changing`).
"""

from typing import Any

from zataku.drawing.changing import changed, demand_status, seated
from zataku.drawing.design import ChatMessage, Connection, Game, Picture, Round, Seat, esiritori
from zataku.drawing.examples import FINISHED
from zataku.drawing.limits import CONNECTION_SECONDS, ConnectionId, Epoch, GameId, Moment, PlayerId, seconds_after
from zataku.drawing.seating import (
    change_settings,
    create_game,
    kick,
    leave_seat,
    note_presence,
    set_ready,
    start_game,
    take_seat,
)
from zataku.drawing.turns import (
    begin_round,
    begin_turn,
    choose_answer,
    finish_game,
    finish_round,
    finish_turn,
    flush_strokes,
    guess_right,
    reveal_kana,
)
from zataku.table import Budget, Plan, delete, path, put, update

__all__ = [
    "begin_round",
    "begin_turn",
    "change_settings",
    "choose_answer",
    "connect",
    "create_game",
    "disconnect",
    "finish_game",
    "finish_round",
    "finish_turn",
    "flush_strokes",
    "guess_right",
    "keep_game",
    "keep_message",
    "keep_picture",
    "keep_round",
    "keep_seat",
    "kick",
    "leave_seat",
    "note_presence",
    "post_chat",
    "reveal_kana",
    "set_ready",
    "start_game",
    "take_room",
    "take_seat",
    "touch_connection",
]

_epoch = path(Game, lambda game: game.epoch)
_socket = path(Connection, lambda connection: connection.connection_id)
_last_active = path(Connection, lambda connection: connection.last_active_at)
_connection_ttl = path(Connection, lambda connection: connection.ttl)


@esiritori.write(budget=Budget(writes=2, of="a game of 10 players in a fresh turn"))
def take_room(game_id: GameId) -> Plan[Game]:
    """A server takes over a game: from now on no other can change it. Gives the game with the new epoch."""
    return Plan(update(Game.key(game_id=game_id), _epoch.add(1)))


@esiritori.write(budget=Budget(writes=2, of="500 kana"))
def post_chat(message: ChatMessage) -> Plan[ChatMessage]:
    """Something is said. The same message sent twice is kept once."""
    return Plan(put(message, if_absent=True))


@esiritori.write(budget=Budget(writes=1, of="any connection"))
def connect(connection: Connection) -> Plan[Connection]:
    """A player is reached under a new connection, in place of any earlier one."""
    return Plan(put(connection))


@esiritori.write(budget=Budget(writes=1, of="any connection"))
def touch_connection(player_id: PlayerId, connection_id: ConnectionId, now: Moment) -> Plan[Connection]:
    """A player is still there: the connection lives for another 24 hours, if it is still the player's."""
    until = seconds_after(now, CONNECTION_SECONDS)
    key = Connection.key(player_id=player_id)
    return Plan(update(key, _last_active.set(now), _connection_ttl.set(until), when=_socket.equals(connection_id)))


@esiritori.write(budget=Budget(writes=1, of="any connection"))
def disconnect(player_id: PlayerId, connection_id: ConnectionId) -> Plan[Connection]:
    """A connection is closed; a newer one of the same player stays."""
    return Plan(delete(Connection.key(player_id=player_id), when=_socket.equals(connection_id)))


@esiritori.write(budget=Budget(writes=19, of="a round of 10 players"))
def keep_round(found: Round) -> Plan[Round]:
    """A round of a game that somebody keeps does not expire.

    Keeping goes item by item, the game last: doing it twice does no harm, and a game without a `ttl` has everything.
    A transaction would cost twice as much, and 100 pictures are more than the 4 MB it takes. Parts of pictures expire.
    """
    ttl = path(Round, lambda it: it.ttl)
    return Plan(update(Round.key(game_id=found.game_id, round_number=found.round_number), ttl.remove()))


@esiritori.write(budget=Budget(writes=101, of="a picture of 100 KB"))
def keep_picture(found: Picture) -> Plan[Picture]:
    """A picture of a game that somebody keeps does not expire."""
    ttl = path(Picture, lambda it: it.ttl)
    key = Picture.key(game_id=found.game_id, round_number=found.round_number, turn_number=found.turn_number)
    return Plan(update(key, ttl.remove()))


@esiritori.write(budget=Budget(writes=2, of="500 kana"))
def keep_message(found: ChatMessage) -> Plan[ChatMessage]:
    """A message of a game that somebody keeps does not expire."""
    ttl = path(ChatMessage, lambda it: it.ttl)
    return Plan(update(ChatMessage.key(game_id=found.game_id, created_at=found.created_at, id=found.id), ttl.remove()))


@esiritori.write(budget=Budget(writes=2, of="any seat"))
def keep_seat(found: Seat) -> Plan[Seat]:
    """A seat of a game that somebody keeps does not expire, so that it stays among the player's games."""
    ttl = path(Seat, lambda it: it.ttl)
    return Plan(update(Seat.key(game_id=found.game_id, player_id=found.player_id), ttl.remove()))


_KEEPING: dict[str, Any] = {
    "game": FINISHED,
    "epoch": FINISHED.epoch,
    "player_id": FINISHED.players[0].id,
    "now": FINISHED.updated_at + 1,
}


@esiritori.write(budget=Budget(writes=3, of="a finished game of 10 players"), example=_KEEPING)
def keep_game(game: Game, epoch: Epoch, player_id: PlayerId, now: Moment) -> Plan[Game]:
    """A player keeps a finished game, so that links to it outlive the week. The last step of keeping."""
    demand_status(game, "finished")
    seated(game, player_id)
    return Plan(changed(game, epoch, now, ttl=None))
