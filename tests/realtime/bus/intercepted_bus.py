"""A bus that records how its process uses it."""

import asyncio
from collections.abc import Callable

from zataku.realtime.bus.port import Bus, OnGap, OnMessage


class InterceptedBus:
    """A bus that records its channels, and on which tests can wait for a published message or an unsubscription."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.channels: set[str] = set()
        self._unsubscriptions: dict[str, asyncio.Future[None]] = {}
        self._expected: list[tuple[Callable[[str, bytes], bool], asyncio.Future[None]]] = []

    @property
    def is_alone(self) -> bool:
        return self._bus.is_alone

    async def start(self, on_message: OnMessage, on_gap: OnGap) -> None:
        await self._bus.start(on_message, on_gap)

    async def subscribe(self, channel: str) -> None:
        await self._bus.subscribe(channel)
        self.channels.add(channel)

    async def unsubscribe(self, channel: str) -> None:
        await self._bus.unsubscribe(channel)
        self.channels.discard(channel)
        if (expected := self._unsubscriptions.pop(channel, None)) is not None:
            expected.set_result(None)

    def publish(self, channel: str, message: bytes) -> None:
        self._bus.publish(channel, message)
        for matches, expected in self._expected:
            if not expected.done() and matches(channel, message):
                expected.set_result(None)

    async def stop(self) -> None:
        await self._bus.stop()

    def expect_message(self, matches: Callable[[str, bytes], bool]) -> asyncio.Future[None]:
        """A future that is done when the next matching message is published."""
        expected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._expected.append((matches, expected))
        return expected

    def expect_unsubscription(self, channel: str) -> asyncio.Future[None]:
        """A future that is done when the process has unsubscribed from a channel."""
        return self._unsubscriptions.setdefault(channel, asyncio.get_running_loop().create_future())
