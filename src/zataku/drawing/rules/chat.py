"""A message to be posted, and the chat item made of it."""

from msgspec import Struct

from zataku.drawing.design import ChatMessage, Game
from zataku.drawing.limits import (
    RETENTION_SECONDS,
    ChatNumber,
    ChatText,
    ChatType,
    MessageUuid,
    Moment,
    PlayerName,
    PlayerUuid,
    seconds_after,
)


class NewMessage(Struct, frozen=True, kw_only=True):
    """A message to be posted, with the number that the room's owner assigns.

    The owner continues from the number of `last_message`, read strongly after `take_room`, and only increases it.
    """

    id: MessageUuid
    number: ChatNumber
    player_id: PlayerUuid
    content: ChatText


def chat_message(game: Game, message: NewMessage, name: PlayerName, kind: ChatType, now: Moment) -> ChatMessage:
    """The chat item of a message; that of a guess names its round and turn."""
    current = game.current_round if kind in ("guess", "correct") else None
    return ChatMessage(
        id=message.id,
        game_id=game.game_id,
        player_id=message.player_id,
        player_name=name,
        content=message.content,
        type=kind,
        created_at=now,
        is_guess=None if current is None else True,
        is_correct=None if current is None else kind == "correct",
        round_number=None if current is None else current.round_number,
        turn_number=None if current is None else current.current_turn.turn_number,
        number=message.number,
        ttl=seconds_after(now, RETENTION_SECONDS),
    )
