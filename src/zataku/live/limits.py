"""What the values of a live room may be: ids, moments, places of comments, and texts that can be shown on a slide."""

import re
from typing import Annotated, Literal, NewType, TypeAlias

from msgspec import Meta

from zataku.table import anchored
from zataku.text import fold, is_blank, is_visible

RoomId = NewType("RoomId", str)
CommentId = NewType("CommentId", str)
LogId = NewType("LogId", str)
HostId = NewType("HostId", str)
SenderId = NewType("SenderId", str)
ConnectionId = NewType("ConnectionId", str)
ProcessName = NewType("ProcessName", str)

UUID_PATTERN = anchored("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
UUID_V4 = Meta(pattern=UUID_PATTERN, title="UUIDv4")
"""A random UUID in small letters, such as 456e7890-e89b-42d3-a456-426614174001."""

_EXTERNAL_ID = anchored("[A-Za-z0-9._:@=+/-]{1,128}")
EXTERNAL_ID = Meta(pattern=_EXTERNAL_ID, title="1 to 128 letters, digits and `._:@=+/-`")
"""An id that comes from elsewhere: an account, a session, a socket of API Gateway (`L0SM9cOFvHcCIhw=`), a process."""

# Control characters and line breaks would tear a comment that flies in one line; marks that turn the direction of
# writing around would reach into the comments beside it; half a surrogate pair is no text at all.
ONE_LINE = anchored(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")

RoomName: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=ONE_LINE, title="one visible line of 1 to 100 characters")
]
"""The name of a room: one visible line of at most 100 characters."""

Content: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=500, pattern=ONE_LINE, title="one visible line of 1 to 500 characters")
]
"""What somebody wrote: one visible line of at most 500 characters (Unicode code points)."""

Nickname: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=30, pattern=ONE_LINE, title="one visible line of 1 to 30 characters")
]
"""A name to go by: one visible line of at most 30 characters."""

ANONYMOUS = "Anonymous"
"""The nickname of whoever gives none."""

RoomStatus: TypeAlias = Literal["OPEN", "CLOSED"]
"""A room is open (開催中) until its host closes it (終了); there is no way back."""

CODE_FORM = anchored("[1-9][0-9]{5}")
RoomCode: TypeAlias = Annotated[str, Meta(pattern=CODE_FORM, title="6 digits", examples=["482159"])]
"""A short number that leads to an open room, to be typed off a slide."""

MAX_EPOCH = 99_999
Epoch: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_EPOCH)]
"""How often the room has changed hands between processes."""

MAX_COMMENT_NUMBER = 9_999_999
"""How many comments one owner of a room can number; it takes the room again to go on."""

SEQ_FORM = anchored("[0-9]{12}")
Seq: TypeAlias = Annotated[str, Meta(pattern=SEQ_FORM, title="12 digits", examples=["000030000042"])]
"""The place of a comment in its room: five digits for the epoch of the owner that gave it, seven for its number."""

SEQ_START: Seq = "000000000000"
"""What comes before the first comment: a reader that has seen nothing resumes after it."""

SlowMode: TypeAlias = Annotated[int, Meta(ge=1, le=3600)]
"""Seconds that a sender waits between two comments."""

Votes: TypeAlias = Annotated[int, Meta(ge=1, le=999_999_999_999)]
"""How many people want a question answered."""

Reaction: TypeAlias = Literal["clap", "aha", "lol"]
"""What people do without a word."""

ReactionCount: TypeAlias = Annotated[int, Meta(ge=0, le=999_999_999_999)]
"""How often they did."""

MAX_PINS = 5
"""How many comments can be pinned at the same time."""

HostMark: TypeAlias = Literal["HIDDEN", "PINNED", "ANSWERED"]
"""What a host can make of a comment, and take back."""

MarkKind: TypeAlias = Literal["HIDDEN", "PINNED", "ANSWERED", "DELETED"]
"""What can have become of a comment; a deleted one stays deleted."""

BlockKind: TypeAlias = Literal["SENDER", "WORD"]
"""What a host keeps out: a sender's session, or a word."""

BlockValue: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=128, pattern=ONE_LINE, title="one visible line of 1 to 128 characters")
]
"""A blocked session, or a blocked word in the form that words are compared in."""

MAX_WORD_LENGTH = 50

# Small letters of the Turkish İ and I, which are an i to everybody else.
_DOTTED = str.maketrans({"ı": "i", "\u0307": None})

Action: TypeAlias = Literal[
    "HIDE", "SHOW", "PIN", "UNPIN", "ANSWER", "REASK", "DELETE",
    "PAUSE", "RESUME", "SLOW", "HURRY", "BLOCK_SENDER", "UNBLOCK_SENDER", "BLOCK_WORD", "UNBLOCK_WORD",
]  # fmt: skip
"""What a host did."""

CONNECTION_TTL_SECONDS = 24 * 60 * 60
"""How long a connection is believed in that nobody took away."""

RETRACTION_SECONDS = 60
"""How long people may take back what they wrote."""

MAX_COMMENTS_PER_WRITE = 99
"""The most comments of one tick: a transaction has 100 items, and one of them is the room."""

MAX_JOINS_PER_WRITE = 99
"""The most clients that join in one tick, beside the room."""

MAX_UPVOTES_PER_WRITE = 97
"""The most upvotes of one tick: beside the room, the question's count, and for the first ones the comment."""


def require_visible(what: str, text: str) -> None:
    """Refuse a text of which nothing could be seen: blanks, zero-width characters, fillers, lone variation marks."""
    if is_blank(text):
        raise ValueError(f"The {what} shows nothing. Write something that can be seen")


def is_external_id(text: str) -> bool:
    """True for what can be the id of a sender's session."""
    return re.search(_EXTERNAL_ID, text) is not None


def fold_word(word: str) -> str:
    """The form in which words are compared: wide and narrow, large and small letters are the same."""
    return fold(word).strip()


def match_form(text: str) -> str:
    """The form in which words are looked for: as `fold_word`, without what nobody sees and without the dots on an i."""
    shown = (" " if it.isspace() else it for it in fold_word(text) if it.isspace() or is_visible(it))
    return "".join(shown).translate(_DOTTED)
