"""Games in the state that each write needs, and arguments of the writes, for the design document."""

from random import Random
from typing import Any

from msgspec.structs import replace

from zataku.drawing.design import Game
from zataku.drawing.limits import MessageId
from zataku.drawing.rules.chat import NewMessage
from zataku.drawing.samples import MINIMAL, an_id, between_rounds, ended, in_play, ready_room

_random = Random(1)
ROOM = ready_room(_random, 1_771_669_800_000, replace(MINIMAL, rounds=2))
HOST, GUEST = ROOM.players
CHOOSING = in_play(_random, ROOM, 1, 1, "setting_answer")
DRAWING = in_play(_random, ROOM, 1, 1)
TURN_OVER = in_play(_random, ROOM, 1, 1, "finished")
BETWEEN_ROUNDS, _ = between_rounds(_random, ROOM, 1)
FINISHED = ended(BETWEEN_ROUNDS)
MESSAGE = NewMessage(id=MessageId(an_id(_random)), number=1, player_id=GUEST.id, content="りんご")
WORDS = ("りんご", "ごりら", "らっこ")


def example_arguments(game: Game) -> dict[str, Any]:
    """Arguments of a write on the turn or round of this game."""
    current = game.current_round
    assert current is not None
    return {
        "game": game,
        "epoch": game.epoch,
        "now": game.updated_at + 1,
        "turn_id": current.current_turn.id,
        "round_id": current.id,
        "drawer_id": GUEST.id,
        "suggestions": WORDS,
    }
