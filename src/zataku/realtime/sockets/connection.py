"""The end of a socket that bytes are written to."""

from typing import Protocol


class Connection(Protocol):
    """A connected socket below its frames. Writing never waits: what the peer does not take piles up and is counted."""

    def write(self, framed: bytes, /) -> None:
        """Send bytes that are frames already. After the end of the connection this does nothing."""
        ...

    def pending(self) -> int:
        """How many bytes have not left yet."""
        ...

    def heard(self) -> bool:
        """True when anything at all has come, answers to pings included, since this was last asked."""
        ...

    def close(self, code: int, reason: str) -> None:
        """End the connection with a code of the WebSocket protocol."""
        ...
