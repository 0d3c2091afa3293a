"""What the drawing game accepts: identifiers, names, words, texts, numbers, pictures, and how long things are kept."""

from typing import Annotated, Literal, NewType, TypeAlias
from unicodedata import category

from msgspec import Meta

from zataku.table import UUID_PATTERN, anchored
from zataku.text import BLANKS, is_blank, is_disallowed

GameId = NewType("GameId", str)
PlayerId = NewType("PlayerId", str)
RoundId = NewType("RoundId", str)
TurnId = NewType("TurnId", str)
MessageId = NewType("MessageId", str)

_UUID = anchored(UUID_PATTERN)
GameUuid: TypeAlias = Annotated[GameId, Meta(pattern=_UUID, title="UUID", description="Game ID (UUID)")]
PlayerUuid: TypeAlias = Annotated[PlayerId, Meta(pattern=_UUID, title="UUID", description="Player ID (UUID)")]
RoundUuid: TypeAlias = Annotated[RoundId, Meta(pattern=_UUID, title="UUID", description="Round ID (UUID)")]
TurnUuid: TypeAlias = Annotated[TurnId, Meta(pattern=_UUID, title="UUID", description="Turn ID (UUID)")]
MessageUuid: TypeAlias = Annotated[MessageId, Meta(pattern=_UUID, title="UUID", description="Message ID (UUID)")]
"""Identifiers are UUIDs in small letters."""

ConnectionId: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[A-Za-z0-9_=+/-]{1,128}"), description="WebSocket connection ID")
]
"""The socket of a player, as the server or API Gateway names it."""

Moment: TypeAlias = Annotated[int, Meta(ge=0, le=9_999_999_999_999, description="Unix time in milliseconds")]
"""A moment of at most 13 digits, so that keys made of it sort by time until the year 2286."""

Until: TypeAlias = Annotated[int, Meta(ge=0, le=253_402_300_799, description="Unix time in seconds; deleted after it")]
"""When an item may be deleted."""

PlayerName: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=10, description="Name of a player: letters, numbers and spaces of any script")
]
"""A nickname of 1 to 10 code points; `check_name` says which."""

Answer: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[ぁ-ゖー]{1,50}"), description="The word to be drawn, in hiragana")
]
"""1 to 50 hiragana, U+3041 to U+3096, and the long vowel mark ー."""

Kana: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[ぁ-ゖ]"), description="The kana that the next word begins with")
]
"""One hiragana."""

ChatText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=500, description="What was said, in one line")]
"""1 to 500 code points; `check_chat_text` says which."""

TimeLimit: TypeAlias = Annotated[int, Meta(ge=30, le=300, description="Seconds to draw and guess")]
RoundCount: TypeAlias = Annotated[int, Meta(ge=1, le=10, description="Number of rounds")]
SeatCount: TypeAlias = Annotated[int, Meta(ge=2, le=10, description="Number of seats")]
RoundNumber: TypeAlias = Annotated[int, Meta(ge=1, le=10, description="Rounds are counted from 1")]
TurnNumber: TypeAlias = Annotated[int, Meta(ge=1, le=10, description="Turns of a round are counted from 1")]

Points: TypeAlias = Annotated[int, Meta(ge=1, le=300, description="A positive number of points")]
"""What one guess is worth: whole seconds of a turn, hence at most its longest time limit."""

Penalty: TypeAlias = Annotated[int, Meta(ge=1, le=150, description="What a drawer loses whom nobody understood")]
"""Half the time of a turn, in whole seconds."""

RoundPoints: TypeAlias = Annotated[int, Meta(ge=-150, le=3000, description="Points of a round, penalties subtracted")]
"""Ten turns at 300 points; one turn as drawer whom nobody understood costs half of 300."""

Total: TypeAlias = Annotated[int, Meta(ge=-1500, le=30_000, description="Points so far, penalties subtracted")]
"""Ten rounds of `RoundPoints`."""

ChatNumber: TypeAlias = Annotated[int, Meta(ge=1, le=999_999_999, description="Messages of a game, counted from 1")]
Epoch: TypeAlias = Annotated[int, Meta(ge=0, description="How often the room changed its owner")]

PICTURE_CHARACTERS = 100 * 1024
"""The document's 100 KB, counted after base64."""

PictureText: TypeAlias = Annotated[
    str,
    Meta(
        pattern=anchored("[A-Za-z0-9+/]*={0,2}"),
        min_length=4,
        max_length=PICTURE_CHARACTERS,
        description="Drawing commands, gzip and base64",
    ),
]
"""A picture or a part of one; `check_base64` demands whole groups of four."""

MAX_FLUSHES_PER_SECOND = 2
StrokesNumber: TypeAlias = Annotated[int, Meta(ge=1, le=9_999, description="Parts of a picture, counted from 1")]
"""Two a second in the longest turn and the rest at its end are 601; servers that lost the room may add theirs."""

DrawingName: TypeAlias = Annotated[
    str, Meta(pattern=anchored("DRAWING#[0-9]{2}#[0-9]{2}"), description="Sort key of the picture's item")
]
"""Where a turn's picture lies, and how the keys of its parts begin."""

GameStatus: TypeAlias = Literal["waiting", "playing", "finished"]
TurnStatus: TypeAlias = Literal["not_started", "setting_answer", "drawing", "finished"]
ReadyStatus: TypeAlias = Literal["ready", "not_ready"]
ScoreReason: TypeAlias = Literal["correct_answer", "drawer_penalty"]
ChatType: TypeAlias = Literal["normal", "system", "guess", "correct"]
Mode: TypeAlias = Literal["free", "shiritori"]

MAX_CHAT_MESSAGES = 1000
"""Messages that stay of one game; older ones are removed."""

ANSWER_SECONDS = 45
"""How long the drawer may think about a word."""

_DAY = 24 * 60 * 60
CONNECTION_SECONDS = _DAY
WAITING_ROOM_SECONDS = _DAY
"""A room that has not begun a day after it was opened is abandoned."""

FINISHED_GAME_SECONDS = 7 * _DAY
"""How long a finished game can be looked at."""

_RESULT_SECONDS = 15
LONGEST_GAME_SECONDS = 10 * 10 * (ANSWER_SECONDS + 300 + _RESULT_SECONDS)
"""10 rounds of 10 turns, each with 45 s for the word, 300 s of drawing and 15 s for its result: 36,000 s, ten hours."""

RETENTION_SECONDS = WAITING_ROOM_SECONDS + LONGEST_GAME_SECONDS + FINISHED_GAME_SECONDS
"""What is written in the first moment of the longest wait is there on the last day: 727,200 s, 8 days and 10 hours."""


def check_name(name: str) -> None:
    """Refuse a name with anything but letters, numbers, marks and spaces, or with nothing to see in it."""
    kinds = [category(character) for character in name]
    if not all(kind[0] in "LNM" or kind == "Zs" for kind in kinds):
        raise ValueError("A player's name has letters, numbers and spaces only")
    if not any(kind[0] in "LN" and character not in BLANKS for kind, character in zip(kinds, name, strict=True)):
        raise ValueError("A player's name has a letter or a number that can be seen")


def check_chat_text(text: str) -> None:
    """Refuse a message with line breaks, controls or marks that turn text around, or with nothing to see in it."""
    if any(map(is_disallowed, text)):
        raise ValueError("A message is one line without control characters")
    if is_blank(text):
        raise ValueError("A message has something that can be seen")


def check_base64(text: str) -> None:
    """Refuse base64 that was cut off."""
    if len(text) % 4:
        raise ValueError("A picture is base64 with its padding, in groups of four characters")


def seconds_after(now: Moment, seconds: int) -> Until:
    """A moment some time later, as TTL attributes count: in seconds."""
    return now // 1000 + seconds
