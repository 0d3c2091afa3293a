"""What the values of a live room may be: ids, moments, numbers of comments, and texts that can be shown on a slide."""

from datetime import UTC, datetime
from typing import Annotated, Literal, NewType, TypeAlias

from msgspec import Meta

from zataku import texts
from zataku.table.forms import InstantMs, whole

RoomId = NewType("RoomId", str)
CommentId = NewType("CommentId", str)
LogId = NewType("LogId", str)
HostId = NewType("HostId", str)
SenderId = NewType("SenderId", str)
ConnectionId = NewType("ConnectionId", str)
ProcessName = NewType("ProcessName", str)

UUID_V4 = Meta(pattern=whole("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"), title="UUIDv4")
"""A random UUID in small letters, such as 456e7890-e89b-42d3-a456-426614174001."""

HANDLE = Meta(pattern=whole("[A-Za-z0-9._:@=+/-]{1,128}"), title="1 to 128 letters, digits and `._:@=+/-`")
"""An id that comes from elsewhere: an account, a session, a socket of API Gateway (`L0SM9cOFvHcCIhw=`), a process."""

# Control characters and line breaks would tear a comment that flies in one line; marks that turn the direction of
# writing around would reach into the comments beside it; half a surrogate pair is no text at all.
_IN_ONE_LINE = whole(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")

RoomName: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=_IN_ONE_LINE, title="one visible line of 1 to 100 characters")
]
"""The name of a room: one visible line of at most 100 characters."""

Content: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=500, pattern=_IN_ONE_LINE, title="one visible line of 1 to 500 characters")
]
"""What somebody wrote: one visible line of at most 500 characters (Unicode code points)."""

Nickname: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=30, pattern=_IN_ONE_LINE, title="one visible line of 1 to 30 characters")
]
"""A name to go by: one visible line of at most 30 characters."""

ANONYMOUS = "Anonymous"
"""The nickname of whoever gives none."""

RoomStatus: TypeAlias = Literal["OPEN", "CLOSED"]
"""A room is open (開催中) until its host closes it (終了); there is no way back."""

SEQ_DIGITS = 12
Seq: TypeAlias = Annotated[
    str, Meta(pattern=whole(f"[0-9]{{{SEQ_DIGITS}}}"), title="12 digits", examples=["000000000042"])
]
"""The number of a comment in its room as a text of twelve digits, so that it sorts by number."""

BEFORE_ALL: Seq = "0" * SEQ_DIGITS
"""The number before the first comment: a reader that has seen nothing resumes after it."""

Epoch: TypeAlias = Annotated[int, Meta(ge=1, le=999_999_999_999)]
"""How often the room has changed hands between processes."""

SlowMode: TypeAlias = Annotated[int, Meta(ge=1, le=3600)]
"""Seconds that a sender waits between two comments."""

Votes: TypeAlias = Annotated[int, Meta(ge=1, le=999_999_999_999)]
"""How many people want a question answered."""

HostMark: TypeAlias = Literal["HIDDEN", "PINNED", "ANSWERED"]
"""What a host can make of a comment, and take back."""

MarkKind: TypeAlias = Literal["HIDDEN", "PINNED", "ANSWERED", "DELETED"]
"""What can have become of a comment; a deleted one stays deleted."""

BlockKind: TypeAlias = Literal["SENDER", "WORD"]
"""What a host keeps out: a sender's session, or a word."""

BlockValue: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=128, pattern=_IN_ONE_LINE, title="one visible line of 1 to 128 characters")
]
"""A blocked session, or a blocked word in the form that words are compared in."""

WORD_CHARACTERS = 50

Action: TypeAlias = Literal[
    "HIDE", "SHOW", "PIN", "UNPIN", "ANSWER", "REASK", "DELETE",
    "PAUSE", "RESUME", "SLOW", "HURRY", "BLOCK_SENDER", "UNBLOCK_SENDER", "BLOCK_WORD", "UNBLOCK_WORD",
]  # fmt: skip
"""What a host did."""

CONNECTION_SECONDS = 24 * 60 * 60
"""How long a connection is believed in that nobody took away."""

OWN_REMOVAL_SECONDS = 60
"""How long people may take back what they wrote."""

COMMENTS_AT_ONCE = 99
"""The most comments of one tick: a transaction has 100 items, and one of them is the room."""


def refuse_invisible(what: str, text: str) -> None:
    """Refuse a text of which nothing could be seen: blanks, zero-width characters, fillers, lone variation marks."""
    if texts.shows_nothing(text):
        raise ValueError(f"The {what} shows nothing. Write something that can be seen")


def folded(word: str) -> str:
    """The form in which words are compared: wide and narrow, large and small letters are the same."""
    return texts.folded(word).strip()


def seq_of(number: int) -> Seq:
    """The number of a comment as it is stored."""
    if not 0 <= number < 10**SEQ_DIGITS:
        raise ValueError(f"{number} does not fit the {SEQ_DIGITS} digits of a comment's number")
    return f"{number:0{SEQ_DIGITS}d}"


def moment(now: float) -> InstantMs:
    """A moment in seconds since 1970 as it is stored, to the millisecond, rounded down."""
    whole_ms = int(now * 1000 + 1e-3)
    stamp = datetime.fromtimestamp(whole_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{stamp}.{whole_ms % 1000:03d}Z"
