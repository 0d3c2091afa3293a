"""What somebody says, and the message it becomes."""

from msgspec import Struct

from zataku.drawing.design import ChatMessage, Game
from zataku.drawing.limits import (
    KEPT_SECONDS,
    ChatNumber,
    ChatText,
    ChatType,
    MessageUuid,
    Moment,
    PlayerName,
    PlayerUuid,
    seconds_after,
)


class Saying(Struct, frozen=True, kw_only=True):
    """What somebody says, with the number that the room's owner gives it.

    The owner counts on from the `last_message` it read strongly after taking the room, and lets none be earlier.
    """

    id: MessageUuid
    number: ChatNumber
    player_id: PlayerUuid
    content: ChatText


def message_of(game: Game, saying: Saying, name: PlayerName, kind: ChatType, now: Moment) -> ChatMessage:
    """The message, and for a guess the turn it belongs to."""
    current = game.current_round if kind in ("guess", "correct") else None
    return ChatMessage(
        id=saying.id,
        game_id=game.game_id,
        player_id=saying.player_id,
        player_name=name,
        content=saying.content,
        type=kind,
        created_at=now,
        is_guess=None if current is None else True,
        is_correct=None if current is None else kind == "correct",
        round_number=None if current is None else current.round_number,
        turn_number=None if current is None else current.current_turn.turn_number,
        number=saying.number,
        ttl=seconds_after(now, KEPT_SECONDS),
    )
