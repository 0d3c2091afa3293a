"""What carries messages between the processes of one server."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

Hear: TypeAlias = Callable[[str, bytes], None]
"""Takes a message with the name of its channel. It must not wait."""

Missed: TypeAlias = Callable[[], None]
"""Told that messages may have been lost, since the connection between the processes broke for a while."""


class Bus(Protocol):
    """Channels by name. Messages of one sender arrive in the order they were sent; some may be lost, and then `missed`
    is told. A sender hears its own messages, too.
    """

    async def start(self, hear: Hear, missed: Missed) -> None:
        """Begin. One process hears all its channels through one function, in order."""
        ...

    async def subscribe(self, channel: str) -> None:
        """Hear a channel. When this returns, everything sent from now on is heard."""
        ...

    async def unsubscribe(self, channel: str) -> None:
        """Hear it no more."""
        ...

    def publish(self, channel: str, message: bytes) -> None:
        """Send to whoever hears the channel. It does not wait; what cannot be sent is lost, and told as missed."""
        ...

    async def stop(self) -> None:
        """Send what is under way, and end."""
        ...


OpenBus: TypeAlias = Callable[[], Awaitable[Bus]]
