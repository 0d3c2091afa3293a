"""What is said in the measured room: messages of one size, so that received bytes say how many have arrived."""

import msgspec

from zataku.realtime.messages import Passing
from zataku.realtime.sockets import frames

ROOM = "bench/1"
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
