"""What this process hears over Redis: all its channels over one connection, so that their order is kept."""

import asyncio
from typing import cast

import structlog

from zataku.clock import Clock
from zataku.errors import Unavailable
from zataku.realtime.bus.port import Hear, Missed
from zataku.realtime.bus.redis_connection import ANSWER_WITHIN, BROKEN, RedisConnection, RedisConnector, pause_after

PING_EVERY = 2.0
SILENCE = 6.0

_log = structlog.get_logger(__name__)


class RedisSubscriber:
    """A connection for hearing. When it breaks it is made anew, with all channels, and then `missed` is told."""

    def __init__(self, links: RedisConnector, clock: Clock, missed_channel: str) -> None:
        self._links = links
        self._clock = clock
        self._missed_channel = missed_channel
        self._link: RedisConnection | None = None
        self._channels: dict[str, asyncio.Future[None]] = {}
        self._heard_at = clock.now()
        self._hear: Hear | None = None
        self._missed: Missed | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, hear: Hear, missed: Missed) -> None:
        """Connect. Raises what the connection raises."""
        self._hear, self._missed = hear, missed
        await self._connect()
        self._tasks = [asyncio.create_task(self._run()), asyncio.create_task(self._watch())]
        await self.subscribe(self._missed_channel)

    async def subscribe(self, channel: str) -> None:
        """Hear a channel, once Redis has confirmed it."""
        heard = self._channels.get(channel)
        if heard is None or heard.cancelled():
            heard = self._channels[channel] = asyncio.get_running_loop().create_future()
            await self._send(("SUBSCRIBE", channel))
        await asyncio.wait([heard], timeout=ANSWER_WITHIN)
        if not heard.done():
            raise Unavailable("The processes of this server cannot reach each other. Try again in a moment.")

    async def unsubscribe(self, channel: str) -> None:
        """Hear it no more."""
        if self._channels.pop(channel, None) is not None:
            await self._send(("UNSUBSCRIBE", channel))

    async def stop(self) -> None:
        """End."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._link is not None:
            await self._link.close()

    async def _run(self) -> None:
        failures = 0
        while True:
            try:
                if self._link is None:
                    await self._connect()
                    await self._hear_again()
                while self._link is not None:
                    self._take(await self._link.next())
                    failures = 0
            except BROKEN as problem:
                _log.warning("Redis is not heard.", problem=str(problem))
                await self._break()
                failures += 1
                await self._clock.sleep(pause_after(failures))

    async def _hear_again(self) -> None:
        """Subscribe to everything as before, and tell that something may have been lost."""
        for channel, heard in self._channels.items():
            if heard.done():
                self._channels[channel] = asyncio.get_running_loop().create_future()
        again = list(self._channels)
        await self._send(*(("SUBSCRIBE", channel) for channel in again))
        while self._link is not None and not all(self._channels[one].done() for one in again if one in self._channels):
            self._take(await self._link.answer())
        if self._missed is not None:
            self._missed()

    async def _watch(self) -> None:
        """A connection that died without a word is noticed by its silence."""
        while True:
            await self._clock.sleep(PING_EVERY)
            if self._link is None:
                continue
            if self._clock.now() - self._heard_at > SILENCE:
                await self._link.close()
            else:
                await self._send(("PING",))

    def _take(self, answer: object) -> None:
        self._heard_at = self._clock.now()
        if isinstance(answer, Exception):
            raise answer
        kind, channel, message = (*cast("list[bytes]", answer), b"", b"")[:3]
        name = channel.decode()
        if kind == b"message":
            if name == self._missed_channel and self._missed is not None:
                self._missed()
            elif self._hear is not None:
                self._hear(name, message)
        elif kind == b"subscribe":
            heard = self._channels.get(name)
            if heard is not None and not heard.done():
                heard.set_result(None)

    async def _send(self, *commands: tuple[str, ...]) -> None:
        if self._link is None:
            # They are sent with all others when the connection is there again.
            return
        try:
            await self._link.send(commands)
        except BROKEN:
            # Whoever reads from the connection notices, too, and makes it anew.
            pass

    async def _connect(self) -> None:
        link = self._links.open()
        await link.connect()
        self._link, self._heard_at = link, self._clock.now()

    async def _break(self) -> None:
        if self._link is not None:
            await self._link.close()
            self._link = None
