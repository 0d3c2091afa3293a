"""WebSocket frames of a server, made once and written to any number of sockets.

A server's frames are not masked, so the same bytes are valid for every receiver.
"""

_TEXT, _BINARY, _PING = 0x81, 0x82, 0x89  # the first bit says that the frame is a whole message
_SHORT, _MEDIUM = 126, 1 << 16


def text(payload: bytes) -> bytes:
    """A text message, from UTF-8."""
    return _header(_TEXT, len(payload)) + payload


def binary(channel: int, payload: bytes) -> bytes:
    """A binary message of a topic: the number of its channel, then the payload."""
    return _header(_BINARY, len(payload) + 2) + channel.to_bytes(2) + payload


def ping() -> bytes:
    """A ping, which every browser answers by itself."""
    return _header(_PING, 0)


def _header(first: int, length: int) -> bytes:
    if length < _SHORT:
        return bytes((first, length))
    if length < _MEDIUM:
        return bytes((first, _SHORT)) + length.to_bytes(2)
    return bytes((first, _SHORT + 1)) + length.to_bytes(8)
