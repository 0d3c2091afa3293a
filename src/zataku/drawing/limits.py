"""Value types of the drawing game with their limits, and the retention times of its items."""

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
"""Identifiers are UUIDs in lower case."""

ConnectionId: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[A-Za-z0-9_=+/-]{1,128}"), description="WebSocket connection ID")
]
"""The id of a player's socket, as assigned by the server or API Gateway."""

Moment: TypeAlias = Annotated[int, Meta(ge=0, le=9_999_999_999_999, description="Unix time in milliseconds")]
"""A moment of at most 13 digits, so that keys made of it sort by time until the year 2286."""

Until: TypeAlias = Annotated[int, Meta(ge=0, le=253_402_300_799, description="Unix time in seconds; deleted after it")]
"""When an item may be deleted."""

PlayerName: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=10, description="Name of a player: letters, numbers and spaces of any script")
]
"""A nickname of 1 to 10 code points that passes `check_name`."""

Answer: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[ぁ-ゖー]{1,50}"), description="The word to be drawn, in hiragana")
]
"""1 to 50 hiragana, U+3041 to U+3096, and the long vowel mark ー."""

Kana: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[ぁ-ゖ]"), description="The kana that the next word begins with")
]
"""One hiragana."""

ChatText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=500, description="Text of the message, in one line")]
"""1 to 500 code points that pass `check_chat_text`."""

TimeLimit: TypeAlias = Annotated[int, Meta(ge=30, le=300, description="Seconds to draw and guess")]
RoundCount: TypeAlias = Annotated[int, Meta(ge=1, le=10, description="Number of rounds")]
SeatCount: TypeAlias = Annotated[int, Meta(ge=2, le=10, description="Number of seats")]
RoundNumber: TypeAlias = Annotated[int, Meta(ge=1, le=10, description="Rounds are counted from 1")]
TurnNumber: TypeAlias = Annotated[int, Meta(ge=1, le=10, description="Turns of a round are counted from 1")]

Points: TypeAlias = Annotated[int, Meta(ge=1, le=300, description="A positive number of points")]
"""Points of one guess: whole seconds of a turn, so at most the longest time limit."""

Penalty: TypeAlias = Annotated[
    int, Meta(ge=1, le=150, description="Points that a drawer loses when no player guesses the word")
]
"""Half the time of a turn, in whole seconds."""

RoundPoints: TypeAlias = Annotated[int, Meta(ge=-150, le=3000, description="Points of a round, penalties subtracted")]
"""Ten turns at 300 points; a turn as drawer without a correct guess costs half of 300."""

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
"""A picture or a part of one; `check_base64` requires whole groups of four characters."""

StrokesNumber: TypeAlias = Annotated[int, Meta(ge=1, le=9_999, description="Parts of a picture, counted from 1")]
"""Two a second in the longest turn and the rest at its end are 601; servers that lost the room may add some."""

DrawingName: TypeAlias = Annotated[
    str, Meta(pattern=anchored("DRAWING#[0-9]{2}#[0-9]{2}"), description="Sort key of the picture's item")
]
"""The sort key of a turn's picture, and the prefix of the keys of its parts."""

GameStatus: TypeAlias = Literal["waiting", "playing", "finished"]
TurnStatus: TypeAlias = Literal["not_started", "setting_answer", "drawing", "finished"]
ReadyStatus: TypeAlias = Literal["ready", "not_ready"]
ScoreReason: TypeAlias = Literal["correct_answer", "drawer_penalty"]
ChatType: TypeAlias = Literal["normal", "system", "guess", "correct"]
Mode: TypeAlias = Literal["free", "shiritori"]

MAX_CHAT_MESSAGES = 1000
"""Messages kept per game; older ones are removed."""

ANSWER_SECONDS = 45
"""Time that the drawer has to choose a word."""

_DAY = 24 * 60 * 60
CONNECTION_SECONDS = _DAY
WAITING_ROOM_SECONDS = _DAY
"""A room whose game has not started a day after its creation expires."""

FINISHED_GAME_SECONDS = 7 * _DAY
"""Time that a finished game can be viewed."""

_RESULT_SECONDS = 15
LONGEST_GAME_SECONDS = 10 * 10 * (ANSWER_SECONDS + 300 + _RESULT_SECONDS)
"""10 rounds of 10 turns, each with 45 s for the word, 300 s of drawing and 15 s for its result: 36,000 s, ten hours."""

RETENTION_SECONDS = WAITING_ROOM_SECONDS + LONGEST_GAME_SECONDS + FINISHED_GAME_SECONDS
"""An item written at the start of the longest wait is kept until the last day: 727,200 s, 8 days and 10 hours."""


def check_name(name: str) -> None:
    """Raise ValueError unless a name consists of letters, numbers, marks and spaces, one of them visible."""
    kinds = [category(character) for character in name]
    if not all(kind[0] in "LNM" or kind == "Zs" for kind in kinds):
        raise ValueError("A player's name may contain only letters, numbers and spaces")
    if not any(kind[0] in "LN" and character not in BLANKS for kind, character in zip(kinds, name, strict=True)):
        raise ValueError("A player's name needs a visible letter or number")


def check_chat_text(text: str) -> None:
    """Raise ValueError for a message with line breaks, control or direction characters, or nothing visible."""
    if any(map(is_disallowed, text)):
        raise ValueError("A message must be one line without control characters")
    if is_blank(text):
        raise ValueError("A message needs a visible character")


def check_base64(text: str) -> None:
    """Raise ValueError for truncated base64."""
    if len(text) % 4:
        raise ValueError("A picture must be base64 with padding, in groups of four characters")


def seconds_after(now: Moment, seconds: int) -> Until:
    """The time some seconds after `now`, in seconds as TTL attributes need it."""
    return now // 1000 + seconds
