"""The comments of the measured room: of one length, each beginning with its own number."""

import msgspec
from msgspec import Raw

from zataku.live.design import seq_of
from zataku.live.limits import CommentId
from zataku.live.messages import CommentPosted, CommentView
from zataku.realtime.messages import Events

_WORDS = "That slide again, please: what does the second line mean"
_SOME_ROOM = "live/456e7890-e89b-42d3-a456-426614174001"
_SOME_ID = CommentId("0c2f1c9e-5a44-4d0b-9d53-2f6f0a4c7a11")
_BEGAN = 1_771_669_800_000

_encode = msgspec.json.Encoder().encode


def content(number: int) -> str:
    """The text of a comment, 64 characters long."""
    return f"{number:07d} {_WORDS}"


def number_of(text: str) -> int:
    """The number that a comment begins with."""
    return int(text[:7])


def join(room: str) -> bytes:
    """The message that joins our room."""
    return _encode({"t": "join", "id": 0, "to": room})


def comment(room: str, number: int) -> bytes:
    """The message that posts a comment in our room."""
    return _encode({"t": "do", "id": number, "to": room, "what": {"k": "comment", "content": content(number)}})


def event_message(number: int) -> bytes:
    """The message that clients of our room get for a single comment. The plain loop is given it as it is."""
    view = CommentView(
        comment_id=_SOME_ID,
        seq=seq_of(1, number),
        content=content(number),
        nickname="Anonymous",
        created_at="2026-02-21T10:30:00.000Z",
    )
    event = Raw(_encode(CommentPosted(comment=view)))
    return _encode(Events(to=_SOME_ROOM, epoch=1, after=_BEGAN + number - 1, seq=_BEGAN + number, events=[event]))
