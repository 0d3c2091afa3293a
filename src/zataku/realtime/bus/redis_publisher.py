"""Publishing over Redis: in order, many messages in one write, with a bounded queue."""

import asyncio
from collections import deque

import structlog

from zataku.clock import Clock
from zataku.realtime.bus.redis_connection import CONNECTION_ERRORS, RedisConnection, RedisConnector, retry_delay

MAX_QUEUED_MESSAGES = 20_000
MAX_QUEUED_BYTES = 32 << 20
MAX_BATCH_MESSAGES = 500
STOP_TIMEOUT_SECONDS = 2.0

log = structlog.get_logger(__name__)


class RedisPublisher:
    """A connection for publishing. When it breaks, the queue is lost, and a notice follows on `gap_channel`."""

    def __init__(self, connector: RedisConnector, clock: Clock, gap_channel: str) -> None:
        self._connector = connector
        self._clock = clock
        self._gap_notice = (gap_channel, b"")
        self._connection: RedisConnection | None = None
        self._queue: deque[tuple[str, bytes]] = deque()
        self._queued_bytes = 0
        self._wake = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Connect. Raises `CONNECTION_ERRORS`."""
        self._connection = await self._connector.connect()
        self._task = asyncio.create_task(self._run())

    def send(self, channel: str, message: bytes) -> None:
        """Queue a message."""
        if len(self._queue) >= MAX_QUEUED_MESSAGES or self._queued_bytes + len(message) > MAX_QUEUED_BYTES:
            self._drop_queue()
        self._queue.append((channel, message))
        self._queued_bytes += len(message)
        self._drained.clear()
        self._wake.set()

    async def stop(self) -> None:
        """Send the queue, if that is quick, and disconnect."""
        if self._task is None:
            return
        try:
            await asyncio.wait_for(self._drained.wait(), STOP_TIMEOUT_SECONDS)
        except TimeoutError:
            pass
        self._task.cancel()
        await asyncio.wait([self._task])
        if self._connection is not None:
            await self._connection.close()

    async def _run(self) -> None:
        failures = 0
        while True:
            await self._wake.wait()
            try:
                self._connection = self._connection or await self._connector.connect()
                await self._send_queue(self._connection)
            except CONNECTION_ERRORS as error:
                log.warning("redis_publish_failed", problem=str(error))
                if self._connection is not None:
                    await self._connection.close()
                    self._connection = None
                self._drop_queue()
                failures += 1
                await self._clock.sleep(retry_delay(failures))
            else:
                failures = 0

    async def _send_queue(self, connection: RedisConnection) -> None:
        while self._queue:
            batch = [self._queue.popleft() for _ in range(min(MAX_BATCH_MESSAGES, len(self._queue)))]
            self._queued_bytes -= sum(len(message) for _, message in batch)
            await connection.send([("PUBLISH", channel, message) for channel, message in batch])
            for _ in batch:
                await connection.read_reply()
        self._wake.clear()
        self._drained.set()

    def _drop_queue(self) -> None:
        self._queue.clear()
        self._queue.append(self._gap_notice)
        self._queued_bytes = 0
