"""Where the messages of the bus are sorted in one process: each channel has one listener."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias
from weakref import WeakValueDictionary

import structlog

from zataku.background_tasks import BackgroundTasks
from zataku.errors import RequestError
from zataku.realtime.bus.port import Bus

Listening: TypeAlias = Callable[[bytes], None]
Gap: TypeAlias = Callable[[], None]

_log = structlog.get_logger(__name__)


class BusClient:
    """The bus as rooms and topics of one process share it."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._listening: dict[str, Listening] = {}
        self._subscribed: set[str] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._gaps: list[Gap] = []
        self._background = BackgroundTasks()

    @property
    def alone(self) -> bool:
        """True when there is no other process to talk to."""
        return self._bus.alone

    def on_gap(self, gap: Gap) -> None:
        """Have a function called whenever messages may have been lost."""
        self._gaps.append(gap)

    async def start(self) -> None:
        """Begin to hear."""
        await self._bus.start(self._heard, self._missed)

    async def stop(self) -> None:
        """Send what is under way, and end."""
        await self._background.stop()
        await self._bus.stop()

    async def hear(self, channel: str, listening: Listening) -> None:
        """Hear a channel, until `leave`. When this returns, everything sent from now on is heard."""
        self._listening[channel] = listening
        if channel not in self._subscribed:
            await self._adjust(channel)

    def leave(self, channel: str) -> None:
        """Hear a channel no more."""
        if self._listening.pop(channel, None) is not None:
            self._background.start(self._adjust(channel))

    def send(self, channel: str, message: bytes) -> None:
        """Send to whoever hears the channel."""
        self._bus.publish(channel, message)

    async def _adjust(self, channel: str) -> None:
        # Whoever leaves and comes back at once meets the bus in this order, and only the last wish is carried out.
        lock = self._locks.setdefault(channel, asyncio.Lock())
        async with lock:
            wanted = channel in self._listening
            if wanted == (channel in self._subscribed):
                return
            if not wanted:
                self._subscribed.discard(channel)
                await self._bus.unsubscribe(channel)
                return
            try:
                await self._bus.subscribe(channel)
            except RequestError:
                self._listening.pop(channel, None)
                raise
            self._subscribed.add(channel)

    def _heard(self, channel: str, message: bytes) -> None:
        listening = self._listening.get(channel)
        if listening is None:
            return
        try:
            listening(message)
        except Exception:  # noqa: BLE001 - one message that cannot be dealt with must not stop all that follow
            _log.exception("A message between processes could not be dealt with.", channel=channel)

    def _missed(self) -> None:
        for gap in self._gaps:
            try:
                gap()
            except Exception:  # noqa: BLE001 - whoever hears the bus for us must not stop over it
                _log.exception("A gap between processes could not be dealt with.")
