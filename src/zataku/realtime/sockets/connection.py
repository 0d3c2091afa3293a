"""The port through which frames are written to a WebSocket connection, and those frames.

A server's frames are not masked, so that a frame is made once and its bytes are valid for every receiver.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

FrameCounter: TypeAlias = Callable[[bool], None]
"""Counts a frame that is not a message: True for a control frame, False for a fragment."""

_TEXT, _BINARY, _PING = 0x81, 0x82, 0x89  # the first bit says that the frame is a whole message
_SHORT, _MEDIUM = 126, 1 << 16


class Connection(Protocol):
    """A WebSocket connection below its frames. Writing never waits: what the peer does not read is buffered."""

    def write(self, framed: bytes, /) -> None:
        """Send bytes that are frames already. After the end of the connection this does nothing."""
        ...

    @property
    def has_backlog(self) -> bool:
        """True while bytes are buffered that have not been sent yet."""
        ...

    def pending_bytes(self) -> int:
        """How many bytes are buffered and have not been sent yet."""
        ...

    def was_active(self) -> bool:
        """True when anything has arrived since the last call, pongs included."""
        ...

    def set_frame_counter(self, count: FrameCounter) -> None:
        """Set what is called for each control frame and fragment that arrives. It may pause or close the connection."""
        ...

    def charge_command(self) -> None:
        """Count the work of a command: less of other connections is read in the next turns of the loop."""
        ...

    def pause(self, seconds: float) -> None:
        """Read nothing more for some seconds; several pauses follow each other."""
        ...

    def close(self, code: int, reason: str) -> None:
        """End the connection with a close code of the WebSocket protocol."""
        ...


def text_frame(payload: bytes) -> bytes:
    """The frame of a text message, from UTF-8."""
    return _header(_TEXT, len(payload)) + payload


def binary_frame(channel: int, payload: bytes) -> bytes:
    """The frame of a binary message of a topic: the number of its channel, then the payload."""
    return _header(_BINARY, len(payload) + 2) + channel.to_bytes(2) + payload


def ping_frame() -> bytes:
    """The frame of a ping, which every browser answers by itself."""
    return _header(_PING, 0)


def _header(first: int, length: int) -> bytes:
    if length < _SHORT:
        return bytes((first, length))
    if length < _MEDIUM:
        return bytes((first, _SHORT)) + length.to_bytes(2)
    return bytes((first, _SHORT + 1)) + length.to_bytes(8)
