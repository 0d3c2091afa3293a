"""What is said in the measured room: messages of one size, so that received bytes say how many have arrived."""

import msgspec

from zataku.realtime import frames
from zataku.realtime.messages import Passing

ROOM = "bench/1"
REQUEST = (
    b"GET /socket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
JOIN = msgspec.json.encode({"t": "join", "id": 1, "to": ROOM})


def said(number: int) -> bytes:
    """What somebody says."""
    return b'{"said":"%08d"}' % number


def passed(number: int) -> bytes:
    """The message that somebody of ours says it with."""
    return b'{"t":"pass","to":"%b","what":%b}' % (ROOM.encode(), said(number))


def told(number: int) -> bytes:
    """The message that everybody gets for it."""
    return msgspec.json.encode(Passing(to=ROOM, events=[msgspec.Raw(said(number))]))


FRAME = len(frames.text(told(0)))


def masked(payload: bytes) -> bytes:
    """A text frame as a browser sends it; a mask of zeros leaves the payload as it is."""
    if len(payload) < 126:
        head = bytes((0x81, 0x80 | len(payload)))
    else:
        head = bytes((0x81, 0x80 | 126)) + len(payload).to_bytes(2)
    return head + b"\0\0\0\0" + payload
