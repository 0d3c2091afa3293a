"""Subscriptions over Redis: all channels of this process over one connection, which keeps their order."""

import asyncio
from typing import cast

import structlog

from zataku.clock import Clock
from zataku.errors import Unavailable
from zataku.realtime.bus.port import OnGap, OnMessage
from zataku.realtime.bus.redis_connection import (
    CONNECTION_ERRORS,
    REPLY_TIMEOUT_SECONDS,
    RedisConnection,
    RedisConnector,
    retry_delay,
)

PING_SECONDS = 2.0
SILENCE_SECONDS = 6.0

log = structlog.get_logger(__name__)


class RedisSubscriber:
    """A connection for subscriptions. When it breaks it is opened again, with all channels, and reported as a gap."""

    def __init__(self, connector: RedisConnector, clock: Clock, gap_channel: str) -> None:
        self._connector = connector
        self._clock = clock
        self._gap_channel = gap_channel
        self._connection: RedisConnection | None = None
        self._confirmations: dict[str, asyncio.Future[None]] = {}
        self._received_at = clock.now()
        self._on_message: OnMessage | None = None
        self._on_gap: OnGap | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, on_message: OnMessage, on_gap: OnGap) -> None:
        """Connect. Raises `CONNECTION_ERRORS`."""
        self._on_message, self._on_gap = on_message, on_gap
        await self._connect()
        self._tasks = [asyncio.create_task(self._run()), asyncio.create_task(self._ping_forever())]
        await self.subscribe(self._gap_channel)

    async def subscribe(self, channel: str) -> None:
        """Subscribe to a channel. Raises `Unavailable` when Redis does not confirm it in time."""
        confirmation = self._confirmations.get(channel)
        if confirmation is None or confirmation.cancelled():
            confirmation = self._confirmations[channel] = asyncio.get_running_loop().create_future()
            await self._send(("SUBSCRIBE", channel))
        await asyncio.wait([confirmation], timeout=REPLY_TIMEOUT_SECONDS)
        if not confirmation.done():
            raise Unavailable("The processes of this server cannot reach each other. Try again in a moment.")

    async def unsubscribe(self, channel: str) -> None:
        """Unsubscribe from a channel."""
        if self._confirmations.pop(channel, None) is not None:
            await self._send(("UNSUBSCRIBE", channel))

    async def stop(self) -> None:
        """Disconnect."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._connection is not None:
            await self._connection.close()

    async def _run(self) -> None:
        failures = 0
        while True:
            try:
                if self._connection is None:
                    await self._connect()
                    await self._resubscribe()
                while self._connection is not None:
                    self._handle(await self._connection.read_message())
                    failures = 0
            except CONNECTION_ERRORS as error:
                log.warning("redis_subscription_failed", problem=str(error))
                await self._disconnect()
                failures += 1
                await self._clock.sleep(retry_delay(failures))

    async def _resubscribe(self) -> None:
        """Subscribe to all channels again, and report a gap."""
        for channel, confirmation in self._confirmations.items():
            if confirmation.done():
                self._confirmations[channel] = asyncio.get_running_loop().create_future()
        channels = list(self._confirmations)
        await self._send(*(("SUBSCRIBE", channel) for channel in channels))
        while self._connection is not None and not self._are_confirmed(channels):
            self._handle(await self._connection.read_reply())
        if self._on_gap is not None:
            self._on_gap()

    def _are_confirmed(self, channels: list[str]) -> bool:
        return all(self._confirmations[channel].done() for channel in channels if channel in self._confirmations)

    async def _ping_forever(self) -> None:
        """Close a connection that has died silently."""
        while True:
            await self._clock.sleep(PING_SECONDS)
            if self._connection is None:
                continue
            if self._clock.now() - self._received_at > SILENCE_SECONDS:
                await self._connection.close()
            else:
                await self._send(("PING",))

    def _handle(self, reply: object) -> None:
        self._received_at = self._clock.now()
        if isinstance(reply, Exception):
            raise reply
        kind, channel, message = (*cast("list[bytes]", reply), b"", b"")[:3]
        name = channel.decode()
        if kind == b"message":
            if name == self._gap_channel and self._on_gap is not None:
                self._on_gap()
            elif self._on_message is not None:
                self._on_message(name, message)
        elif kind == b"subscribe":
            confirmation = self._confirmations.get(name)
            if confirmation is not None and not confirmation.done():
                confirmation.set_result(None)

    async def _send(self, *commands: tuple[str, ...]) -> None:
        if self._connection is None:
            # All subscriptions are sent when the connection is open again.
            return
        try:
            await self._connection.send(commands)
        except CONNECTION_ERRORS:
            # The reading task notices it, too, and connects again.
            pass

    async def _connect(self) -> None:
        connection = await self._connector.connect()
        self._connection, self._received_at = connection, self._clock.now()

    async def _disconnect(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None
