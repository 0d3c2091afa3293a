"""Games at the points where each write applies, for the design document."""

from random import Random

from msgspec.structs import replace

from zataku.drawing.samples import (
    MINIMAL,
    a_message,
    a_picture,
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
OVER = in_play(_chance, ROOM, 1, 1, "finished")
PAUSING, _ = between_rounds(_chance, ROOM, 1)
FINISHED = ended(PAUSING)
GUESS = replace(
    a_message(_chance, DRAWING, GUEST, 1, "りんご", DRAWING.updated_at + 1), type="correct", is_correct=True
)
PICTURE = a_picture(_chance, DRAWING, 1, 1, HOST.id, DRAWING.updated_at + 1, 64)
WORDS = ("りんご", "ごりら", "らっこ")
