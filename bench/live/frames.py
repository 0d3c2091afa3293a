"""What comes down a socket, read to the last byte: which comments, in which order, and whatever else there is."""

import msgspec

from bench.live.comments import number_of
from zataku.errors import Problem, Unavailable
from zataku.live import messages as live

_TEXT, _PING = 0x81, 0x89
_MOST_KNOWN = 1000

_ANSWERS = frozenset({"joined", "done"})
_BUSY = Unavailable.default_code
_ASIDE = frozenset({"welcome", "beat", "presence", "passing"})


class Unfit(Exception):
    """The server did something that this measurement has no place for."""


class _Message(msgspec.Struct):
    """As much of any message of `zataku.realtime.messages` as is looked at."""

    t: str
    id: int = 0
    events: list[live.Event] = []
    error: Problem | None = None


_decode = msgspec.json.Decoder(_Message).decode


class Heard(msgspec.Struct):
    """What a piece of a stream says: the numbers of its comments, and what is left over for the next piece.

    `refused` are the numbers of comments that a server had no room for and said so. `odd` says that there is
    more to it than comments. `start` is the place of the first comment in the order of the room, once that is known.
    """

    numbers: tuple[int, ...]
    refused: tuple[int, ...]
    answers: int
    pings: int
    rest: bytes
    odd: bool
    start: int = -1


class Ear:
    """Reads pieces. Most readers get the very same bytes, which are read once; so every socket can be read whole."""

    def __init__(self) -> None:
        self._known: dict[bytes, Heard] = {}

    def read(self, piece: bytes) -> Heard:
        """What a piece says that begins with a frame."""
        heard = self._known.get(piece)
        if heard is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            heard = self._known[piece] = read(piece)
        return heard


def read(piece: bytes) -> Heard:
    """Read frames one after the other, to the last that is complete."""
    numbers: list[int] = []
    refused: list[int] = []
    answers = pings = at = 0
    while (found := _frame(piece, at)) is not None:
        kind, payload, at = found
        if kind == _PING:
            pings += 1
            continue
        if kind != _TEXT:
            raise Unfit(f"A frame of kind {kind:#x} came: {payload!r}")
        message = _decode(payload)
        if message.t == "events":
            numbers += [_number(event) for event in message.events]
        elif message.t in _ANSWERS:
            answers += 1
        elif message.error is not None and message.error.code == _BUSY and message.id:
            refused.append(message.id)
        elif message.t not in _ASIDE:
            raise Unfit(f"The server said: {payload.decode()}")
    rest = piece[at:]
    odd = bool(refused or answers or pings or rest)
    return Heard(tuple(numbers), tuple(refused), answers, pings, rest, odd)


def _frame(piece: bytes, at: int) -> tuple[int, bytes, int] | None:
    """Kind, payload and end of the frame that begins at a place; None when it is not complete."""
    if len(piece) < at + 2:
        return None
    kind, size, begin = piece[at], piece[at + 1], at + 2
    if size >= 126:
        begin += 2 if size == 126 else 8
        if len(piece) < begin:
            return None
        size = int.from_bytes(piece[at + 2 : begin])
    end = begin + size
    return (kind, piece[begin:end], end) if len(piece) >= end else None


def _number(event: live.Event) -> int:
    if not isinstance(event, live.CommentPosted):
        raise Unfit(f"Something else than a comment happened in the room: {event}")
    return number_of(event.comment.content)
