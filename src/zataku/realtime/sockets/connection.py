"""The port through which frames are written to a WebSocket connection."""

from typing import Protocol


class Connection(Protocol):
    """A WebSocket connection below its frames. Writing never waits: what the peer does not read is buffered."""

    def write(self, framed: bytes, /) -> None:
        """Send bytes that are frames already. After the end of the connection this does nothing."""
        ...

    def pending_bytes(self) -> int:
        """How many bytes are buffered and have not been sent yet."""
        ...

    def was_active(self) -> bool:
        """True when anything has arrived since the last call, pongs included."""
        ...

    def close(self, code: int, reason: str) -> None:
        """End the connection with a close code of the WebSocket protocol."""
        ...
