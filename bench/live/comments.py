"""The comments of the measured room: all of one length, each starting with its number."""

import msgspec
from msgspec import Raw

from zataku.live.design import seq_of
from zataku.live.limits import CommentId
from zataku.live.messages import CommentPosted, CommentView
from zataku.realtime.messages import Events

_WORDS = "That slide again, please: what does the second line mean"
_SOME_ROOM = "live/456e7890-e89b-42d3-a456-426614174001"
_SOME_ID = CommentId("0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11")
_FIRST_SEQ = 1_771_669_800_000

_encode = msgspec.json.Encoder().encode


def content(number: int) -> str:
    """The text of a comment, 64 characters long."""
    return f"{number:07d} {_WORDS}"


def number_of(text: str) -> int:
    """The number at the start of a comment."""
    return int(text[:7])


def join(room: str) -> bytes:
    """The message that joins a room."""
    return _encode({"t": "join", "id": 0, "to": room})


def comment(room: str, number: int) -> bytes:
    """The message that posts a comment in a room."""
    return _encode({"t": "do", "id": number, "to": room, "what": {"k": "comment", "content": content(number)}})


def event_message(number: int) -> bytes:
    """The message that clients of a room receive for a single comment; the plain loop broadcasts it unchanged."""
    view = CommentView(
        comment_id=_SOME_ID,
        seq=seq_of(1, number),
        content=content(number),
        nickname="Anonymous",
        created_at="2026-02-21T10:30:00.000Z",
    )
    event = Raw(_encode(CommentPosted(comment=view)))
    return _encode(
        Events(to=_SOME_ROOM, epoch=1, after=_FIRST_SEQ + number - 1, seq=_FIRST_SEQ + number, events=[event])
    )
