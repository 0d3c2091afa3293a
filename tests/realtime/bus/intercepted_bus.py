"""A bus around another, on which a test can watch, drop and wait for messages."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from zataku.realtime.bus.port import Bus, OnGap, OnMessage

Matches: TypeAlias = Callable[[str, bytes], bool]
"""Decides about a message by its channel and its payload."""


class InterceptedBus:
    """The bus of one process. It records its channels and published messages, and drops arriving ones on request."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.channels: set[str] = set()
        self.published: list[tuple[str, bytes]] = []
        self._unsubscriptions: dict[str, asyncio.Future[None]] = {}
        self._expected: list[tuple[Matches, asyncio.Future[None]]] = []
        self._dropped: list[tuple[Matches, list[bytes]]] = []

    @property
    def is_alone(self) -> bool:
        return self._bus.is_alone

    async def start(self, on_message: OnMessage, on_gap: OnGap) -> None:
        self._on_message, self.report_gap = on_message, on_gap
        await self._bus.start(self._receive, on_gap)

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
        self.published.append((channel, message))
        for matches, expected in self._expected:
            if not expected.done() and matches(channel, message):
                expected.set_result(None)

    async def stop(self) -> None:
        await self._bus.stop()

    def expect_message(self, matches: Matches) -> asyncio.Future[None]:
        """A future that is done when the next matching message is published."""
        expected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._expected.append((matches, expected))
        return expected

    def expect_unsubscription(self, channel: str) -> asyncio.Future[None]:
        """A future that is done when the process has unsubscribed from a channel."""
        return self._unsubscriptions.setdefault(channel, asyncio.get_running_loop().create_future())

    @contextmanager
    def drop(self, matches: Matches) -> Iterator[list[bytes]]:
        """Drop matching messages that arrive within the block; they are appended to the list."""
        entry: tuple[Matches, list[bytes]] = (matches, [])
        self._dropped.append(entry)
        try:
            yield entry[1]
        finally:
            self._dropped.remove(entry)

    def _receive(self, channel: str, message: bytes) -> None:
        for matches, dropped in self._dropped:
            if matches(channel, message):
                dropped.append(message)
                return
        self._on_message(channel, message)
