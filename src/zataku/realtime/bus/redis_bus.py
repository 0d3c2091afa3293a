"""The bus between several processes: Redis, which carries messages and keeps none."""

from zataku.clock import Clock
from zataku.errors import Unavailable
from zataku.realtime.bus.port import Hear, Missed
from zataku.realtime.bus.redis_connection import BROKEN, RedisConnector
from zataku.realtime.bus.redis_publisher import RedisPublisher
from zataku.realtime.bus.redis_subscriber import RedisSubscriber

PREFIX = "zataku/"
_MISSED = f"{PREFIX}missed"


class RedisBus:
    """Channels on Redis. One connection publishes and one hears, so that the order of one sender's messages is kept."""

    alone = False

    def __init__(self, url: str, clock: Clock) -> None:
        links = RedisConnector(url)
        self._sender = RedisPublisher(links, clock, _MISSED)
        self._hearer = RedisSubscriber(links, clock, _MISSED)

    async def start(self, hear: Hear, missed: Missed) -> None:
        """Connect. Raises `Unavailable` when Redis is not there."""
        try:
            await self._hearer.start(lambda channel, message: hear(channel.removeprefix(PREFIX), message), missed)
            await self._sender.start()
        except BROKEN as problem:
            await self.stop()
            raise Unavailable(f"Redis does not answer: {problem} Start it, or correct the URL of the bus.") from None

    async def subscribe(self, channel: str) -> None:
        """Hear a channel. Raises `Unavailable` when Redis does not confirm it."""
        await self._hearer.subscribe(PREFIX + channel)

    async def unsubscribe(self, channel: str) -> None:
        """Hear it no more."""
        await self._hearer.unsubscribe(PREFIX + channel)

    def publish(self, channel: str, message: bytes) -> None:
        """Send in a moment. What waits when the connection breaks is lost."""
        self._sender.send(PREFIX + channel, message)

    async def stop(self) -> None:
        """Send what is under way, and end."""
        await self._sender.stop()
        await self._hearer.stop()
