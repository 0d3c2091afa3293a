"""What this process sends over Redis: in order, many messages in one go, and never more than it can hold."""

import asyncio
from collections import deque

import structlog

from zataku.clock import Clock
from zataku.realtime.bus.redis_connection import BROKEN, RedisConnection, RedisConnector, pause_after

MOST_WAITING = 20_000
MOST_BYTES = 32 << 20
AT_ONCE = 500
FLUSH_WITHIN = 2.0

_log = structlog.get_logger(__name__)


class RedisPublisher:
    """A connection for publishing. When it breaks, what waited is lost, and everybody is told on `missed_channel`."""

    def __init__(self, links: RedisConnector, clock: Clock, missed_channel: str) -> None:
        self._links = links
        self._clock = clock
        self._lost_notice = (missed_channel, b"")
        self._link: RedisConnection | None = None
        self._waiting: deque[tuple[str, bytes]] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()
        self._sent = asyncio.Event()
        self._sent.set()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Connect. Raises what the connection raises."""
        self._link = await self._connected()
        self._task = asyncio.create_task(self._run())

    def send(self, channel: str, message: bytes) -> None:
        """Send in a moment."""
        if len(self._waiting) >= MOST_WAITING or self._bytes + len(message) > MOST_BYTES:
            self._lose()
        self._waiting.append((channel, message))
        self._bytes += len(message)
        self._sent.clear()
        self._wake.set()

    async def stop(self) -> None:
        """Send what waits, if that is quick, and end."""
        if self._task is None:
            return
        try:
            await asyncio.wait_for(self._sent.wait(), FLUSH_WITHIN)
        except TimeoutError:
            pass
        self._task.cancel()
        await asyncio.wait([self._task])
        if self._link is not None:
            await self._link.close()

    async def _run(self) -> None:
        failures = 0
        while True:
            await self._wake.wait()
            try:
                self._link = self._link or await self._connected()
                await self._send_waiting(self._link)
            except BROKEN as problem:
                _log.warning("Redis takes no messages.", problem=str(problem))
                if self._link is not None:
                    await self._link.close()
                    self._link = None
                self._lose()
                failures += 1
                await self._clock.sleep(pause_after(failures))
            else:
                failures = 0

    async def _send_waiting(self, link: RedisConnection) -> None:
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
            self._bytes -= sum(len(message) for _, message in batch)
            await link.send([("PUBLISH", channel, message) for channel, message in batch])
            for _ in batch:
                await link.answer()
        self._wake.clear()
        self._sent.set()

    async def _connected(self) -> RedisConnection:
        link = self._links.open()
        await link.connect()
        return link

    def _lose(self) -> None:
        self._waiting.clear()
        self._waiting.append(self._lost_notice)
        self._bytes = 0
