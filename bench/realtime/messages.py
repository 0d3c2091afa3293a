"""The measured messages: all of one size, so that the number of received bytes gives the number of messages."""

import msgspec

from zataku.realtime.messages import TransientBroadcast
from zataku.realtime.sockets.connection import text_frame

ROOM = "bench/1"
JOIN = msgspec.json.encode({"t": "join", "id": 1, "to": ROOM})


def event(number: int) -> bytes:
    """The event with a number."""
    return b'{"said":"%08d"}' % number


def transient_command(number: int) -> bytes:
    """The message with which a client of ours sends an event."""
    return b'{"t":"pass","to":"%b","what":%b}' % (ROOM.encode(), event(number))


def broadcast(number: int) -> bytes:
    """The message in which every client receives an event."""
    return msgspec.json.encode(TransientBroadcast(to=ROOM, events=[msgspec.Raw(event(number))]))


FRAME_BYTES = len(text_frame(broadcast(0)))
