"""What carries messages between the processes of one server."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from zataku.clock import Clock, SystemClock
from zataku.errors import InvalidRequest

Hear: TypeAlias = Callable[[str, bytes], None]
"""Takes a message with the name of its channel. It must not wait."""

Missed: TypeAlias = Callable[[], None]
"""Told that messages may have been lost, since the connection between the processes broke for a while."""


class Bus(Protocol):
    """Channels by name. Messages of one sender arrive in the order they were sent, also over several channels; some may
    be lost, and then `missed` is told. A sender hears its own messages, too.
    """

    @property
    def alone(self) -> bool:
        """True when no other process can be on this bus, so that nothing has to be told to any."""
        ...

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


def open_bus(url: str = "memory", clock: Clock | None = None) -> Bus:
    """The bus of that URL, not started yet: `memory` for a single process, or `redis://HOST:PORT/DB` for several."""
    if url == "memory":
        from zataku.realtime.bus.in_process import InProcessBus

        return InProcessBus()
    scheme, _, rest = url.partition("://")
    if scheme not in ("redis", "rediss") or not rest:
        raise InvalidRequest("The bus is `memory`, or Redis as `redis://HOST:PORT/DB` or `rediss://HOST:PORT/DB`.")
    try:
        from zataku.realtime.bus.redis_bus import RedisBus
    except ModuleNotFoundError:
        raise InvalidRequest(
            "A bus on Redis needs the extra `redis`. Install it with: pip install 'zataku[redis]'"
        ) from None
    return RedisBus(url, clock or SystemClock())
