"""The bus between several processes on Redis, which carries messages and stores none."""

from zataku.clock import Clock
from zataku.errors import Unavailable
from zataku.realtime.bus.port import OnGap, OnMessage
from zataku.realtime.bus.redis_connection import CONNECTION_ERRORS, RedisConnector
from zataku.realtime.bus.redis_publisher import RedisPublisher
from zataku.realtime.bus.redis_subscriber import RedisSubscriber

PREFIX = "zataku/"
_GAP_CHANNEL = f"{PREFIX}missed"


class RedisBus:
    """Channels on Redis. One connection publishes and one subscribes, which keeps each sender's messages in order."""

    is_alone = False

    def __init__(self, url: str, clock: Clock) -> None:
        connector = RedisConnector(url)
        self._publisher = RedisPublisher(connector, clock, _GAP_CHANNEL)
        self._subscriber = RedisSubscriber(connector, clock, _GAP_CHANNEL)

    async def start(self, on_message: OnMessage, on_gap: OnGap) -> None:
        """Connect. Raises `Unavailable` when Redis does not answer."""
        try:
            await self._subscriber.start(
                lambda channel, message: on_message(channel.removeprefix(PREFIX), message), on_gap
            )
            await self._publisher.start()
        except CONNECTION_ERRORS as error:
            await self.stop()
            raise Unavailable(f"Redis does not answer: {error} Start it, or correct the URL of the bus.") from None

    async def subscribe(self, channel: str) -> None:
        """Subscribe to a channel. Raises `Unavailable` when Redis does not confirm it."""
        await self._subscriber.subscribe(PREFIX + channel)

    async def unsubscribe(self, channel: str) -> None:
        """Unsubscribe from a channel."""
        await self._subscriber.unsubscribe(PREFIX + channel)

    def publish(self, channel: str, message: bytes) -> None:
        """Queue a message for sending. What is queued when the connection breaks is lost."""
        self._publisher.send(PREFIX + channel, message)

    async def stop(self) -> None:
        """Send what is queued, and disconnect."""
        await self._publisher.stop()
        await self._subscriber.stop()
