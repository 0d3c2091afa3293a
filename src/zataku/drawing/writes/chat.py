"""Writes of a game's chat: messages, wrong guesses and notices."""

from typing import Any

from zataku.drawing.design import ChatMessage, Game, esiritori
from zataku.drawing.limits import Epoch, Moment, PlayerName, TurnId
from zataku.drawing.rules.chat import NewMessage, chat_message
from zataku.drawing.writes.examples import DRAWING, GUEST, MESSAGE
from zataku.drawing.writes.game_update import require_drawing_turn, require_owner, require_seated
from zataku.table import Budget, Plan, put

_POST: dict[str, Any] = {
    "game": DRAWING,
    "epoch": DRAWING.epoch,
    "message": MESSAGE,
    "player_name": GUEST.name,
    "now": DRAWING.updated_at + 1,
}


@esiritori.write(budget=Budget(writes=2, of="500 kana"), example=_POST)
def post_chat(game: Game, epoch: Epoch, message: NewMessage, now: Moment) -> Plan[ChatMessage]:
    """Post a message of a seated player. The same message sent twice is stored once.

    Checking the stored game as well would cost 4 to 48 units by its size, and the message twice. A server that has
    lost the room without noticing can assign numbers twice: the chat is longer by that many messages, until they too
    are 1,000 numbers behind.
    """
    require_owner(game, epoch, now)
    player = require_seated(game, message.player_id)
    return Plan(put(chat_message(game, message, player.name, "normal", now), if_absent=True))


@esiritori.write(
    budget=Budget(writes=2, of="500 kana"),
    example={**_POST, "turn_id": DRAWING.current_round and DRAWING.current_round.current_turn.id},
)
def post_guess(game: Game, epoch: Epoch, turn_id: TurnId, message: NewMessage, now: Moment) -> Plan[ChatMessage]:
    """Post a wrong guess of the current turn, as `post_chat` does."""
    require_owner(game, epoch, now)
    require_drawing_turn(game, turn_id)
    player = require_seated(game, message.player_id)
    return Plan(put(chat_message(game, message, player.name, "guess", now), if_absent=True))


@esiritori.write(budget=Budget(writes=2, of="500 kana"), example=_POST)
def post_notice(
    game: Game, epoch: Epoch, message: NewMessage, player_name: PlayerName, now: Moment
) -> Plan[ChatMessage]:
    """Post a notice about a player, who may have left, as `post_chat` does."""
    require_owner(game, epoch, now)
    return Plan(put(chat_message(game, message, player_name, "system", now), if_absent=True))
