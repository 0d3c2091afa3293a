"""Writes that keep a finished game beyond its seven days: each removes the `ttl` of one item."""

from typing import Any

from zataku.drawing.design import ChatMessage, Game, Picture, Round, Seat, esiritori
from zataku.drawing.errors import NotAllowed
from zataku.drawing.limits import Epoch, Moment, PlayerId
from zataku.drawing.writes.examples import FINISHED
from zataku.drawing.writes.game_update import require_status, update_game
from zataku.table import Budget, Plan, path, update


@esiritori.write(budget=Budget(writes=19, of="a round of 10 players"))
def keep_round(round_: Round) -> Plan[Round]:
    """Remove the expiry of a round of a kept game.

    A game is kept item by item, the game last: repeating it does no harm, and a game without a `ttl` has all rounds,
    pictures and seats. A transaction would cost twice as much, and 100 pictures exceed its limit of 4 MB. Parts of
    pictures expire, and so do messages posted while or after a game is kept.
    """
    ttl = path(Round, lambda item: item.ttl)
    return Plan(update(Round.key(game_id=round_.game_id, round_number=round_.round_number), ttl.remove()))


@esiritori.write(budget=Budget(writes=101, of="a picture of 100 KB"))
def keep_picture(picture: Picture) -> Plan[Picture]:
    """Remove the expiry of a picture of a kept game."""
    ttl = path(Picture, lambda item: item.ttl)
    key = Picture.key(game_id=picture.game_id, round_number=picture.round_number, turn_number=picture.turn_number)
    return Plan(update(key, ttl.remove()))


@esiritori.write(budget=Budget(writes=2, of="500 kana"))
def keep_message(message: ChatMessage) -> Plan[ChatMessage]:
    """Remove the expiry of a message of a kept game.

    A message that the cap has already removed is not restored: the condition fails, and the caller skips it.
    """
    ttl = path(ChatMessage, lambda item: item.ttl)
    return Plan(
        update(ChatMessage.key(game_id=message.game_id, created_at=message.created_at, id=message.id), ttl.remove())
    )


@esiritori.write(budget=Budget(writes=2, of="any seat"))
def keep_seat(seat: Seat) -> Plan[Seat]:
    """Remove the expiry of a seat of a kept game, so that the game stays in the player's list."""
    ttl = path(Seat, lambda item: item.ttl)
    return Plan(update(Seat.key(game_id=seat.game_id, player_id=seat.player_id), ttl.remove()))


_KEEP: dict[str, Any] = {
    "game": FINISHED,
    "epoch": FINISHED.epoch,
    "player_id": FINISHED.players[0].id,
    "now": FINISHED.updated_at + 1,
}


@esiritori.write(budget=Budget(writes=3, of="a finished game of 10 players"), example=_KEEP)
def keep_game(game: Game, epoch: Epoch, player_id: PlayerId, now: Moment) -> Plan[Game]:
    """Keep a finished game for a player, so that links to it work after the seven days. The last step of keeping.

    Players who left during the game may keep it too.
    """
    require_status(game, "finished")
    if all(player.id != player_id for player in game.players):
        raise NotAllowed("Only a player of the game may keep it.")
    return Plan(update_game(game, epoch, now, ttl=None))
