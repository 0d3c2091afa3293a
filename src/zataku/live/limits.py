"""Types and limits of the values of a live room: ids, times, `seq`, and texts that fit on a slide."""

import re
from typing import Annotated, Literal, NewType, TypeAlias

from msgspec import Meta

from zataku.table import anchored
from zataku.text import fold, is_blank

RoomId = NewType("RoomId", str)
CommentId = NewType("CommentId", str)
LogId = NewType("LogId", str)
HostId = NewType("HostId", str)
SenderId = NewType("SenderId", str)
ConnectionId = NewType("ConnectionId", str)
ProcessName = NewType("ProcessName", str)

UUID_PATTERN = anchored("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
UUID_V4 = Meta(pattern=UUID_PATTERN, title="UUIDv4")
"""A random UUID in lower case, such as 456e7890-e89b-42d3-a456-426614174001."""

_EXTERNAL_ID = anchored("[A-Za-z0-9._:@=+/-]{1,128}")
EXTERNAL_ID = Meta(pattern=_EXTERNAL_ID, title="1 to 128 letters, digits and `._:@=+/-`")
"""An id that another system gives: an account, a session, a socket of API Gateway (`L0SM9cOFvHcCIhw=`), a process."""

# Control characters and line breaks would break a comment that flies in one line; marks that change the direction of
# writing would reach into the comments beside it; half a surrogate pair is not text.
ONE_LINE = anchored(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")

RoomName: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=ONE_LINE, title="one visible line of 1 to 100 characters")
]
"""The name of a room: one visible line of at most 100 characters."""

Content: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=500, pattern=ONE_LINE, title="one visible line of 1 to 500 characters")
]
"""The text of a comment: one visible line of at most 500 characters (Unicode code points)."""

Nickname: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=30, pattern=ONE_LINE, title="one visible line of 1 to 30 characters")
]
"""The nickname of a sender: one visible line of at most 30 characters."""

ANONYMOUS = "Anonymous"
"""The nickname of a sender who gives none."""

AnonymousNumber: TypeAlias = Annotated[int, Meta(ge=1, le=9_999_999)]
"""Tells the senders without a nickname apart in a room. It says nothing about them in another."""

MAX_HOST_NAMES = 8
"""Names of the host, the latest ones, that nobody else in the room may use."""

RoomStatus: TypeAlias = Literal["OPEN", "CLOSED"]
"""A room is open (開催中) until its host closes it (終了); it stays closed."""

CODE_FORM = anchored("[1-9][0-9]{5}")
SIX_DIGITS = anchored("[0-9]{6}")
RoomCode: TypeAlias = Annotated[str, Meta(pattern=CODE_FORM, title="6 digits", examples=["482159"])]
"""The short number of a room, to be typed off a slide."""

MAX_EPOCH = 99_999
Epoch: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_EPOCH)]
"""How often a process has taken the room."""

MAX_COMMENT_NUMBER = 9_999_999
"""The last number that one owner can give; after it, the owner acquires the room again."""

SEQ_FORM = anchored("[0-9]{12}")
Seq: TypeAlias = Annotated[str, Meta(pattern=SEQ_FORM, title="12 digits", examples=["000030000042"])]
"""The position of a comment in its room: five digits for the epoch of its owner, seven for the owner's number."""

SEQ_START: Seq = "000000000000"
"""The `seq` before the first comment: a reader that has seen nothing resumes after it."""

SlowMode: TypeAlias = Annotated[int, Meta(ge=1, le=3600)]
"""Seconds that a sender waits between two comments."""

Votes: TypeAlias = Annotated[int, Meta(ge=1, le=999_999_999_999)]
"""The number of upvotes of a comment."""

Reaction: TypeAlias = Literal["clap", "aha", "lol"]
"""The kinds of reactions."""

ReactionCount: TypeAlias = Annotated[int, Meta(ge=0, le=999_999_999_999)]
"""The number of reactions of a kind in a minute."""

MAX_PINS = 5
"""Comments that can be pinned at the same time."""

HostMark: TypeAlias = Literal["HIDDEN", "PINNED", "ANSWERED"]
"""The marks that a host can set on a comment and remove."""

MarkKind: TypeAlias = Literal["HIDDEN", "PINNED", "ANSWERED", "DELETED"]
"""All marks of comments; a deletion is final."""

BlockKind: TypeAlias = Literal["SENDER", "WORD"]
"""The kinds of blocks: a sender's session, or a word."""

BlockValue: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=128, pattern=ONE_LINE, title="one visible line of 1 to 128 characters")
]
"""A blocked session, or a blocked word as `fold_word` writes it."""

MAX_WORD_LENGTH = 50

Action: TypeAlias = Literal[
    "HIDE", "SHOW", "PIN", "UNPIN", "ANSWER", "REASK", "DELETE",
    "PAUSE", "RESUME", "SLOW", "HURRY", "BLOCK_SENDER", "UNBLOCK_SENDER", "BLOCK_WORD", "UNBLOCK_WORD",
]  # fmt: skip
"""The actions of a host, as the log names them."""

CONNECTION_TTL_SECONDS = 24 * 60 * 60
"""The time to live of a connection that is not deleted."""

RETRACTION_SECONDS = 60
"""How long a sender can take a comment back."""

MAX_COMMENTS_PER_WRITE = 99
"""A transaction has 100 items, and one of them is the room."""

MAX_JOINS_PER_WRITE = 99
"""A transaction has 100 items, and one of them is the room."""

MAX_UPVOTES_PER_WRITE = 97
"""A transaction has 100 items: beside the upvotes the room, the count, and for the first upvotes the comment."""


def require_visible(name: str, text: str) -> None:
    """Raise `ValueError` for a text without a visible character: blanks, zero-width characters, fillers, lone marks."""
    if is_blank(text):
        raise ValueError(f"The {name} shows nothing. Write something that can be seen")


def is_external_id(text: str) -> bool:
    """True for a text that has the form of an id of another system."""
    return re.search(_EXTERNAL_ID, text) is not None


def fold_word(word: str) -> str:
    """The form in which words are compared, without differences of case and width."""
    return fold(word).strip()
