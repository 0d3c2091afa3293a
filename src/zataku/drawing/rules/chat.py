"""A message as it is asked for, and the chat item that it becomes."""

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

    The owner counts on from the `last_message` it read strongly after taking the room, and never goes back.
    """

    id: MessageUuid
    number: ChatNumber
    player_id: PlayerUuid
    content: ChatText


def chat_message(game: Game, message: NewMessage, name: PlayerName, kind: ChatType, now: Moment) -> ChatMessage:
    """The message, and for a guess the turn it belongs to."""
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
