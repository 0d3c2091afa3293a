"""Parser for the bytes of a socket: the comments in order, and every other message."""

import msgspec

from bench.live.comments import number_of
from zataku.errors import Problem, Unavailable
from zataku.live import messages as live

_TEXT, _PING = 0x81, 0x89
_MAX_CACHED = 1000

_REPLIES = frozenset({"joined", "done"})
_BUSY = Unavailable.default_code
_IGNORED = frozenset({"welcome", "beat", "presence", "passing"})


class UnexpectedMessage(Exception):
    """The server sent something that the measurement does not expect."""


class _Message(msgspec.Struct):
    """The fields of `zataku.realtime.messages` that are read here."""

    t: str
    id: int = 0
    events: list[live.Event] = []
    error: Problem | None = None


_decode = msgspec.json.Decoder(_Message).decode


class ParsedFrames(msgspec.Struct):
    """The frames of a chunk: the numbers of its comments, and the incomplete rest for the next chunk.

    `refused` are the numbers of comments that the server refused as overloaded. `has_others` says that there is more
    than comments. `start` is the position of the first comment in the order of the room, once that is known.
    """

    numbers: tuple[int, ...]
    refused: tuple[int, ...]
    replies: int
    pings: int
    rest: bytes
    has_others: bool
    start: int = -1


class FrameReader:
    """Parser with a cache of chunks: most clients receive the same bytes, so every socket can be read in full."""

    def __init__(self) -> None:
        self._cache: dict[bytes, ParsedFrames] = {}

    def read(self, chunk: bytes) -> ParsedFrames:
        """The frames of a chunk that begins with a frame."""
        parsed = self._cache.get(chunk)
        if parsed is None:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            parsed = self._cache[chunk] = read(chunk)
        return parsed


def read(chunk: bytes) -> ParsedFrames:
    """Parse frames up to the last complete one."""
    numbers: list[int] = []
    refused: list[int] = []
    replies = pings = at = 0
    while (frame := _frame(chunk, at)) is not None:
        kind, payload, at = frame
        if kind == _PING:
            pings += 1
            continue
        if kind != _TEXT:
            raise UnexpectedMessage(f"The server sent a frame of kind {kind:#x}: {payload!r}")
        message = _decode(payload)
        if message.t == "events":
            numbers += [_number(event) for event in message.events]
        elif message.t in _REPLIES:
            replies += 1
        elif message.error is not None and message.error.code == _BUSY and message.id:
            refused.append(message.id)
        elif message.t not in _IGNORED:
            raise UnexpectedMessage(f"The server sent: {payload.decode()}")
    rest = chunk[at:]
    has_others = bool(refused or replies or pings or rest)
    return ParsedFrames(tuple(numbers), tuple(refused), replies, pings, rest, has_others)


def _frame(chunk: bytes, at: int) -> tuple[int, bytes, int] | None:
    """Kind, payload and end of the frame at an offset; None when it is incomplete."""
    if len(chunk) < at + 2:
        return None
    kind, size, begin = chunk[at], chunk[at + 1], at + 2
    if size >= 126:
        begin += 2 if size == 126 else 8
        if len(chunk) < begin:
            return None
        size = int.from_bytes(chunk[at + 2 : begin])
    end = begin + size
    return (kind, chunk[begin:end], end) if len(chunk) >= end else None


def _number(event: live.Event) -> int:
    if not isinstance(event, live.CommentPosted):
        raise UnexpectedMessage(f"The room sent an event that is not a comment: {event}")
    return number_of(event.comment.content)
