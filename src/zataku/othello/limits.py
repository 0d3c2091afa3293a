"""What an attribute of Othello by vote may hold: identifiers, squares, turns, texts, times of voting.

Lengths of texts are counted in characters (Unicode code points), as the design document counts them.
"""

from typing import Annotated, Literal, NewType, TypeAlias
from uuid import UUID, uuid5

from msgspec import Meta, Struct

from zataku.table import UUID_PATTERN, anchored
from zataku.text import is_blank, is_disallowed

UserId = NewType("UserId", str)
GameId = NewType("GameId", str)
CandidateId = NewType("CandidateId", str)

UserUuid: TypeAlias = Annotated[
    UserId, Meta(pattern=anchored(UUID_PATTERN), title="UUID", description="User ID (UUID)")
]
"""Who plays along, such as 123e4567-e89b-12d3-a456-426614174000, in small letters."""

GameUuid: TypeAlias = Annotated[
    GameId, Meta(pattern=anchored(UUID_PATTERN), title="UUID", description="Game ID (UUID)")
]
"""A game, such as 456e7890-e89b-12d3-a456-426614174001."""

CandidateUuid: TypeAlias = Annotated[
    CandidateId, Meta(pattern=anchored(UUID_PATTERN), title="UUID", description="Candidate ID (UUID)")
]
"""A move to vote for, made of its game, turn and square: see `candidate_id`."""

Author: TypeAlias = Annotated[
    str, Meta(pattern=anchored(f"AI|USER#{UUID_PATTERN}"), title="`AI`, `USER#<userId>`", description="Author")
]
"""Who proposed a candidate: the engine, or one user."""

Username: TypeAlias = Annotated[str, Meta(min_length=1, max_length=30, description="User name")]
"""A name of 1 to 30 characters; `check_name` says what it may not hold."""

Email: TypeAlias = Annotated[
    str,
    Meta(
        pattern=anchored(r"[^\s@\x00-\x20\x7f]{1,64}@[^\s@\x00-\x20\x7f]{1,189}"),
        max_length=254,
        title="one @, no white space, at most 254 characters",
        description="Mail address",
    ),
]
"""A mail address as far as its form tells; `check_name` says what else it may not hold."""

IconUrl: TypeAlias = Annotated[
    str,
    Meta(
        pattern=anchored(r"https://[!-~]{1,2040}|/[!-.0-~][!-~]{0,2000}"),
        title="`https://…` or a path on this server, at most 2,048 characters",
        description="URL of the icon picture",
    ),
]
"""An icon at an https address, or a path on this server; never `javascript:`, `data:` or another server by `//`."""

Square: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[A-H][1-8]"), title="`A1` to `H8`", description="Position, such as `D3`")
]
"""A square, by column letter and by row digit from the top: A1 to H8."""

SquareOrPass: TypeAlias = Annotated[
    str, Meta(pattern=anchored("[A-H][1-8]|PASS"), title="`A1` to `H8`, `PASS`", description="Position, such as `D3`")
]
"""What a turn was used for: a square, or a pass of a side that has no move."""

Turn: TypeAlias = Annotated[int, Meta(ge=0, le=120)]
"""A turn. Sixty discs and at most one pass after each make 120 the number after the last."""

Votes: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000, description="Number of votes")]
"""How many voted for a candidate."""

BoardState: TypeAlias = Annotated[
    str,
    Meta(
        pattern=anchored("[ -~]{1,1000}"),
        title="1 to 1,000 ASCII characters",
        description='Board (JSON text): `{"board": 8 rows of 8}`',
    ),
]
"""The board as JSON text, 155 characters as `format_board` writes it."""

Description: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=200, description="Reason for the move (at most 200 characters)")
]
"""Why a move is good, in 1 to 200 characters."""

Content: TypeAlias = Annotated[str, Meta(min_length=1, max_length=500, description="Commentary")]
"""What is to be said about a turn, in 1 to 500 characters."""

AiLevel: TypeAlias = Annotated[int, Meta(ge=1, le=10, description="Strength of the AI")]
"""How well the AI plays, from 1 to 10."""

Cadence: TypeAlias = Annotated[
    str,
    Meta(
        pattern=anchored("DAILY|PT[1-9][0-9]{0,3}M"),
        title="`DAILY`, `PT1M` to `PT9999M`",
        description="How long a vote lasts",
    ),
]
"""How long a vote lasts: until midnight (`DAILY`), or 1 to 9,999 minutes as an ISO 8601 duration (`PT30M`)."""

TimeZone: TypeAlias = Annotated[
    str,
    Meta(
        pattern=anchored("[A-Z][A-Za-z0-9_+-]{1,30}(?:/[A-Za-z0-9_+-]{1,30}){0,2}"),
        title="IANA time zone",
        description="Time zone whose midnight counts; Asia/Tokyo where absent",
    ),
]
"""The zone of a daily game, such as Asia/Tokyo or GMT. `open_game` refuses names that are no zone."""

Language: TypeAlias = Literal["ja", "ko", "en"]
GameType: TypeAlias = Literal["OTHELLO"]
GameStatus: TypeAlias = Literal["ACTIVE", "FINISHED"]
CandidateStatus: TypeAlias = Literal["VOTING", "CLOSED", "ADOPTED"]
Side: TypeAlias = Literal["BLACK", "WHITE"]
Player: TypeAlias = Literal["AI", "COLLECTIVE"]
Winner: TypeAlias = Literal["AI", "COLLECTIVE", "DRAW"]


class Descriptions(Struct, frozen=True, kw_only=True):
    """A reason in every language that templates write."""

    ja: Description
    ko: Description
    en: Description

    def __post_init__(self) -> None:
        for text in (self.ja, self.ko, self.en):
            check_text("A reason", text)


class Contents(Struct, frozen=True, kw_only=True):
    """Commentary in every language that templates write."""

    ja: Content
    ko: Content
    en: Content

    def __post_init__(self) -> None:
        for text in (self.ja, self.ko, self.en):
            check_text("Commentary", text)


CANDIDATES = UUID("e5f91df0-50b4-5814-8c36-c7e6d0f8b192")
"""The namespace of candidate IDs. It never changes: under another one, a square could be proposed twice."""


def candidate_id(game_id: GameId, turn: int, position: str) -> CandidateId:
    """The one ID that a square can have in a turn: UUIDv5 of `<gameId>#<turn>#<position>`."""
    return CandidateId(str(uuid5(CANDIDATES, f"{game_id}#{turn}#{position}")))


def side_of(turn: int) -> Side:
    """Whose turn it is: black begins with turn 0, and a pass is a turn as well."""
    return "WHITE" if turn % 2 else "BLACK"


def check_name(what: str, text: str) -> None:
    """Refuse a line of text that cannot be seen, has white space around it, or plays tricks with its neighbours."""
    if text != text.strip():
        raise ValueError(f"{what} has white space around it. Take it away.")
    if "\n" in text:
        raise ValueError(f"{what} has a line break in it. Use one line.")
    check_text(what, text)


def check_text(what: str, text: str) -> None:
    """Refuse a text with control or direction characters, or with nothing to see; line breaks are fine."""
    for character in text:
        if is_disallowed(character) and character != "\n":
            raise ValueError(f"{what} holds the character U+{ord(character):04X}, which is not text. Take it out.")
    if is_blank(text):
        raise ValueError(f"{what} has nothing in it that can be seen. Write something.")
