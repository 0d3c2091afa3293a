"""Value types of Othello by vote with their limits: identifiers, squares, turns, texts, times of voting.

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
"""The id of a user, such as 123e4567-e89b-12d3-a456-426614174000, in lower case."""

GameUuid: TypeAlias = Annotated[
    GameId, Meta(pattern=anchored(UUID_PATTERN), title="UUID", description="Game ID (UUID)")
]
"""The id of a game, such as 456e7890-e89b-12d3-a456-426614174001."""

CandidateUuid: TypeAlias = Annotated[
    CandidateId, Meta(pattern=anchored(UUID_PATTERN), title="UUID", description="Candidate ID (UUID)")
]
"""The id of a candidate, derived from its game, turn and square by `candidate_id`."""

Author: TypeAlias = Annotated[
    str, Meta(pattern=anchored(f"AI|USER#{UUID_PATTERN}"), title="`AI`, `USER#<userId>`", description="Author")
]
"""The author of a candidate: the engine, or a user."""

Username: TypeAlias = Annotated[str, Meta(min_length=1, max_length=30, description="User name")]
"""A name of 1 to 30 characters that passes `check_name`."""

Email: TypeAlias = Annotated[
    str,
    Meta(
        pattern=anchored(r"[^\s@\x00-\x20\x7f]{1,64}@[^\s@\x00-\x20\x7f]{1,189}"),
        max_length=254,
        title="one @, no white space, at most 254 characters",
        description="Mail address",
    ),
]
"""Text in the form of a mail address that passes `check_name`."""

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
"""The move of a turn: a square, or a pass of a side that has no move."""

Turn: TypeAlias = Annotated[int, Meta(ge=0, le=120)]
"""The number of a turn. With sixty discs and at most one pass after each, 120 comes after the last."""

Votes: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000_000, description="Number of votes")]
"""The number of votes for a candidate."""

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
"""The reason for a move, in 1 to 200 characters."""

Content: TypeAlias = Annotated[str, Meta(min_length=1, max_length=500, description="Commentary")]
"""The commentary on a turn, in 1 to 500 characters."""

AiLevel: TypeAlias = Annotated[int, Meta(ge=1, le=10, description="Strength of the AI")]
"""The strength of the AI, from 1 to 10."""

Cadence: TypeAlias = Annotated[
    str,
    Meta(
        pattern=anchored("DAILY|PT[1-9][0-9]{0,3}M"),
        title="`DAILY`, `PT1M` to `PT9999M`",
        description="How long a vote lasts",
    ),
]
"""The length of a vote: until midnight (`DAILY`), or 1 to 9,999 minutes as an ISO 8601 duration (`PT30M`)."""

TimeZone: TypeAlias = Annotated[
    str,
    Meta(
        pattern=anchored("[A-Z][A-Za-z0-9_+-]{1,30}(?:/[A-Za-z0-9_+-]{1,30}){0,2}"),
        title="IANA time zone",
        description="Time zone of the midnight deadline; Asia/Tokyo where absent",
    ),
]
"""The zone of a daily game, such as Asia/Tokyo or GMT. `open_game` rejects unknown zones."""

Language: TypeAlias = Literal["ja", "ko", "en"]
GameType: TypeAlias = Literal["OTHELLO"]
GameStatus: TypeAlias = Literal["ACTIVE", "FINISHED"]
CandidateStatus: TypeAlias = Literal["VOTING", "CLOSED", "ADOPTED"]
Side: TypeAlias = Literal["BLACK", "WHITE"]
Player: TypeAlias = Literal["AI", "COLLECTIVE"]
Winner: TypeAlias = Literal["AI", "COLLECTIVE", "DRAW"]


class Descriptions(Struct, frozen=True, kw_only=True):
    """A reason in every language of the templates."""

    ja: Description
    ko: Description
    en: Description

    def __post_init__(self) -> None:
        for text in (self.ja, self.ko, self.en):
            check_text("A reason", text)


class Contents(Struct, frozen=True, kw_only=True):
    """Commentary in every language of the templates."""

    ja: Content
    ko: Content
    en: Content

    def __post_init__(self) -> None:
        for text in (self.ja, self.ko, self.en):
            check_text("Commentary", text)


CANDIDATES = UUID("e5f91df0-50b4-5814-8c36-c7e6d0f8b192")
"""The namespace of candidate IDs. It must never change: with another one, a square could be proposed twice."""


def candidate_id(game_id: GameId, turn: int, position: str) -> CandidateId:
    """The one ID that a square can have in a turn: UUIDv5 of `<gameId>#<turn>#<position>`."""
    return CandidateId(str(uuid5(CANDIDATES, f"{game_id}#{turn}#{position}")))


def side_of(turn: int) -> Side:
    """The side that plays a turn: black has the even turns, and a pass is a turn as well."""
    return "WHITE" if turn % 2 else "BLACK"


def check_name(label: str, text: str) -> None:
    """Raise ValueError unless the text is one visible line without surrounding white space; `label` names it."""
    if text != text.strip():
        raise ValueError(f"{label} begins or ends with white space. Remove it.")
    if "\n" in text:
        raise ValueError(f"{label} has a line break. Use one line.")
    check_text(label, text)


def check_text(label: str, text: str) -> None:
    """Raise ValueError for control or direction characters, or for nothing visible; line breaks are allowed."""
    for character in text:
        if is_disallowed(character) and character != "\n":
            raise ValueError(f"{label} has the character U+{ord(character):04X}, which is not allowed. Remove it.")
    if is_blank(text):
        raise ValueError(f"{label} has no visible character. Write something.")
