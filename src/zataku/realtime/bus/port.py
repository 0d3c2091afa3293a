"""The port of the message bus between the processes of one server."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from zataku.clock import Clock, SystemClock
from zataku.errors import InvalidRequest

OnMessage: TypeAlias = Callable[[str, bytes], None]
"""Takes the channel and the payload of a message. It must not block."""

OnGap: TypeAlias = Callable[[], None]
"""Called when messages may have been lost, because the connection between the processes broke for a while."""


class Bus(Protocol):
    """Named channels. Messages of one sender arrive in the order of their sending, also over several channels; some may
    be lost, and then `on_gap` is called. A sender receives its own messages, too.
    """

    @property
    def is_alone(self) -> bool:
        """True when no other process can be on this bus, so that nothing has to be published for any."""
        ...

    async def start(self, on_message: OnMessage, on_gap: OnGap) -> None:
        """Connect. One function takes the messages of all channels of this process, in order."""
        ...

    async def subscribe(self, channel: str) -> None:
        """Subscribe to a channel. When this returns, everything published from now on arrives."""
        ...

    async def unsubscribe(self, channel: str) -> None:
        """Unsubscribe from a channel."""
        ...

    def publish(self, channel: str, message: bytes) -> None:
        """Send to all subscribers of a channel, without waiting; what cannot be sent is lost and reported as a gap."""
        ...

    async def stop(self) -> None:
        """Send what is queued, and disconnect."""
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
