"""Games in the state that each write needs, for the design document."""

from random import Random

from msgspec.structs import replace

from zataku.drawing.limits import MessageId
from zataku.drawing.rules.chat import NewMessage
from zataku.drawing.samples import (
    MINIMAL,
    an_id,
    between_rounds,
    ended,
    in_play,
    settled_room,
)

_chance = Random(1)
ROOM = settled_room(_chance, 1_771_669_800_000, replace(MINIMAL, rounds=2))
HOST, GUEST = ROOM.players
CHOOSING = in_play(_chance, ROOM, 1, 1, "setting_answer")
DRAWING = in_play(_chance, ROOM, 1, 1)
TURN_OVER = in_play(_chance, ROOM, 1, 1, "finished")
BETWEEN_ROUNDS, _ = between_rounds(_chance, ROOM, 1)
FINISHED = ended(BETWEEN_ROUNDS)
MESSAGE = NewMessage(id=MessageId(an_id(_chance)), number=1, player_id=GUEST.id, content="りんご")
STROKES = "H4sIAAAAAAAA"
WORDS = ("りんご", "ごりら", "らっこ")
