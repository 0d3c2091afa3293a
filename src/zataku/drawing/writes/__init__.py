"""Every write of the drawing game. Those of seats, turns and rounds have modules of their own; the others are here.

A game is changed from a loaded state, on condition of its version and by the owner of its room alone (`changing`).
"""

from typing import Any

from zataku.drawing.design import ChatMessage, Connection, Game, Picture, Round, Seat, esiritori
from zataku.drawing.errors import NotYours
from zataku.drawing.limits import (
    CONNECTION_SECONDS,
    ConnectionId,
    Epoch,
    GameId,
    Moment,
    PlayerId,
    PlayerName,
    TurnId,
    seconds_after,
)
from zataku.drawing.writes.chat import Saying, message_of
from zataku.drawing.writes.examples import DRAWING, FINISHED, GUEST, SAYING
from zataku.drawing.writes.game_update import changed, demand_owner, demand_status, seated, turn_under_way
from zataku.drawing.writes.seats import (
    change_settings,
    create_game,
    kick,
    leave_seat,
    note_absence,
    note_presence,
    set_ready,
    start_game,
    take_seat,
)
from zataku.drawing.writes.turns import (
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
    "note_absence",
    "note_presence",
    "part_connection",
    "post_chat",
    "post_guess",
    "post_notice",
    "reveal_kana",
    "set_ready",
    "start_game",
    "take_room",
    "take_seat",
    "touch_connection",
]

_epoch = path(Game, lambda game: game.epoch)
_socket = path(Connection, lambda connection: connection.connection_id)
_connected = path(Connection, lambda connection: connection.connected_at)
_connected_game = path(Connection, lambda connection: connection.game_id)
_last_active = path(Connection, lambda connection: connection.last_active_at)
_connection_ttl = path(Connection, lambda connection: connection.ttl)


@esiritori.write(budget=Budget(writes=2, of="a game of 10 players in a fresh turn"))
def take_room(game_id: GameId) -> Plan[Game]:
    """A server takes over a game: from now on no other can change it. Gives the game with the new epoch.

    After that the new owner reads `last_message` and, in a turn, `strokes_of`, to go on with their numbers. Messages
    and parts of pictures do not look at the stored game, so that one who lost the room adds some until it learns of it.
    """
    return Plan(update(Game.key(game_id=game_id), _epoch.add(1)))


_SAID: dict[str, Any] = {
    "game": DRAWING,
    "epoch": DRAWING.epoch,
    "saying": SAYING,
    "player_name": GUEST.name,
    "now": DRAWING.updated_at + 1,
}


@esiritori.write(budget=Budget(writes=2, of="500 kana"), example=_SAID)
def post_chat(game: Game, epoch: Epoch, saying: Saying, now: Moment) -> Plan[ChatMessage]:
    """Somebody at the table says something. The same message sent twice is kept once.

    Looking at the stored game as well would cost 4 to 48 units by its size, and the message twice. A server that lost
    the room and has not learnt of it can post on, with numbers that come twice: the chat is longer by so many, until
    they too lie 1,000 numbers behind.
    """
    demand_owner(game, epoch, now)
    player = seated(game, saying.player_id)
    return Plan(put(message_of(game, saying, player.name, "normal", now), if_absent=True))


@esiritori.write(
    budget=Budget(writes=2, of="500 kana"),
    example={**_SAID, "turn_id": DRAWING.current_round and DRAWING.current_round.current_turn.id},
)
def post_guess(game: Game, epoch: Epoch, turn_id: TurnId, saying: Saying, now: Moment) -> Plan[ChatMessage]:
    """Somebody guesses in this turn, and is wrong. Posted as `post_chat` posts."""
    demand_owner(game, epoch, now)
    turn_under_way(game, turn_id)
    player = seated(game, saying.player_id)
    return Plan(put(message_of(game, saying, player.name, "guess", now), if_absent=True))


@esiritori.write(budget=Budget(writes=2, of="500 kana"), example=_SAID)
def post_notice(game: Game, epoch: Epoch, saying: Saying, player_name: PlayerName, now: Moment) -> Plan[ChatMessage]:
    """The game tells something of a player, who may have left it. Posted as `post_chat` posts."""
    demand_owner(game, epoch, now)
    return Plan(put(message_of(game, saying, player_name, "system", now), if_absent=True))


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


@esiritori.write(budget=Budget(writes=1, of="any connection"))
def part_connection(game_id: GameId, player_id: PlayerId, left_at: Moment) -> Plan[Connection]:
    """Whoever has left a game or was sent away is not reached in it any more.

    Somebody who plays elsewhere by now, or has come back, stays where they are. Should a server stop before it does
    this, the connection expires after 24 hours; who sits at a table, the game alone says.
    """
    old = _connected_game.equals(game_id) & _connected.below(left_at)
    return Plan(delete(Connection.key(player_id=player_id), when=old))


@esiritori.write(budget=Budget(writes=19, of="a round of 10 players"))
def keep_round(found: Round) -> Plan[Round]:
    """A round of a game that somebody keeps does not expire.

    Keeping goes item by item, the game last: doing it twice does no harm, and a game without a `ttl` has all rounds,
    pictures and seats. A transaction would cost twice as much, and 100 pictures are more than the 4 MB it takes. Parts
    of pictures expire, and so do messages that come while or after a game is kept.
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
    """A message of a game that somebody keeps does not expire.

    One that newer messages have pushed out meanwhile stays away: the condition fails, and keeping goes on without it.
    """
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
    """A player keeps a finished game, so that links to it outlive the week. The last step of keeping.

    Whoever left while it was played may keep it too.
    """
    demand_status(game, "finished")
    if all(player.id != player_id for player in game.players):
        raise NotYours("Only somebody who played the game may keep it.")
    return Plan(changed(game, epoch, now, ttl=None))
