"""The bus as the rooms and topics of one process share it: one handler for each channel."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias
from weakref import WeakValueDictionary

import structlog

from zataku.background_tasks import BackgroundTasks
from zataku.errors import RequestError
from zataku.realtime.bus.port import Bus, OnGap

ChannelHandler: TypeAlias = Callable[[bytes], None]

log = structlog.get_logger(__name__)


class BusClient:
    """Dispatches the messages of a bus to the handlers of their channels."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._handlers: dict[str, ChannelHandler] = {}
        self._subscribed: set[str] = set()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._gap_handlers: list[OnGap] = []
        self._background = BackgroundTasks()

    @property
    def is_alone(self) -> bool:
        """True when there is no other process on the bus."""
        return self._bus.is_alone

    def on_gap(self, handler: OnGap) -> None:
        """Call a function whenever messages may have been lost."""
        self._gap_handlers.append(handler)

    async def start(self) -> None:
        """Connect to the bus."""
        await self._bus.start(self._dispatch, self._dispatch_gap)

    async def stop(self) -> None:
        """Send what is queued, and disconnect."""
        await self._background.stop()
        await self._bus.stop()

    async def subscribe(self, channel: str, handler: ChannelHandler) -> None:
        """Subscribe to a channel until `unsubscribe`. When this returns, everything published from now on arrives."""
        self._handlers[channel] = handler
        try:
            await self._reconcile(channel)
        except RequestError:
            # Another subscriber may have set its own handler since, and will try again.
            if self._handlers.get(channel) is handler:
                del self._handlers[channel]
            raise

    def unsubscribe(self, channel: str) -> None:
        """Unsubscribe from a channel."""
        if self._handlers.pop(channel, None) is not None:
            self._background.start(self._reconcile(channel))

    def publish(self, channel: str, message: bytes) -> None:
        """Send to all subscribers of a channel."""
        self._bus.publish(channel, message)

    async def _reconcile(self, channel: str) -> None:
        # Quick changes reach the bus in their order, and only the last one takes effect.
        lock = self._locks.setdefault(channel, asyncio.Lock())
        async with lock:
            is_wanted = channel in self._handlers
            if is_wanted == (channel in self._subscribed):
                return
            if not is_wanted:
                self._subscribed.discard(channel)
                await self._bus.unsubscribe(channel)
                return
            await self._bus.subscribe(channel)
            self._subscribed.add(channel)

    def _dispatch(self, channel: str, message: bytes) -> None:
        handler = self._handlers.get(channel)
        if handler is None:
            return
        try:
            handler(message)
        except Exception:  # one bad message must not stop all that follow
            log.exception("bus_message_failed", channel=channel)

    def _dispatch_gap(self) -> None:
        for handler in self._gap_handlers:
            try:
                handler()
            except Exception:  # the bus must keep receiving
                log.exception("bus_gap_handler_failed")
