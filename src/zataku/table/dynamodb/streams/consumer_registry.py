"""Stream consumers of this process, and the heartbeat that keeps their leases alive."""

import asyncio
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from random import Random

from zataku.clock import Clock
from zataku.table.backend.errors import BadInput, StoreClosed, TableError, Throttled
from zataku.table.backend.port import RawChange
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.metadata_table import MetadataTable
from zataku.table.dynamodb.streams.consumer import RENEWALS_PER_LEASE, Consumer
from zataku.table.dynamodb.streams.leases import StreamWorker

# A shard may be read five times a second, by all its readers together.
_MIN_PAUSE_SECONDS = 0.2
_MAX_PAUSE_SECONDS = 2.0
# A consumer that has not called for this many lease periods has stopped reading, and its leases expire.
_MAX_IDLE_LEASES = 15


class ConsumerRegistry:
    """Reads the streams of tables for named consumers, together with any number of other processes.

    Each process holds leases on some of the shards and reads only those. A lease is kept alive while the process
    reads; when it dies, another takes the lease over after `lease_seconds`.
    """

    def __init__(
        self,
        client: Client,
        metadata: MetadataTable,
        clock: Clock,
        random: Random,
        *,
        worker_name: str | None = None,
        lease_seconds: float = 20,
    ) -> None:
        # The name is not from `random`: two processes with the same seed must not get the same name.
        self._worker = StreamWorker(worker_name or secrets.token_hex(8), client, metadata, clock, random, lease_seconds)
        self._clock = clock
        self._consumers: dict[tuple[str, str], Consumer] = {}
        # Events of readers that wait for a change, by table name.
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._heartbeat: asyncio.Task[None] | None = None
        self._closed = False

    async def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> list[RawChange]:
        """The oldest unacknowledged changes of the shards that this process reads; waits for the first."""
        if limit < 1:
            raise BadInput("Reading a stream needs a consumer and a limit of at least 1. Give both.")
        reader = self._consumer(table, consumer)
        until = self._clock.now() + wait
        pause = _MIN_PAUSE_SECONDS
        while True:
            # Listening begins before reading, so that a change in between is not missed.
            with self._listen(table) as written:
                changes = await self._read(reader, limit, ignore_throttling=self._clock.now() < until)
                seconds_left = until - self._clock.now()
                if changes or seconds_left <= 0:
                    return changes
                was_written = await self._pause(written, min(seconds_left, pause * self._worker.random.uniform(0.5, 1)))
            if self._closed:
                raise StoreClosed("The store is closed. Open it first.")
            pause = _MIN_PAUSE_SECONDS if was_written else min(pause * 2, _MAX_PAUSE_SECONDS)

    async def acknowledge(self, table: TableSchema, consumer: str, position: str) -> None:
        """Acknowledge this change and all that were delivered before it; durable, and never backwards.

        Raises `LeaseLost` when another process reads the shard by now: it will receive the changes again.
        """
        await self._consumer(table, consumer).acknowledge(position)
        self._ensure_heartbeat()

    async def forget(self, table: TableSchema, consumer: str) -> None:
        """Delete a consumer, its checkpoints and leases."""
        await self._consumer(table, consumer).forget()

    def notify(self, table: TableSchema) -> None:
        """Have readers that wait for a change of the table read at once: this process has written to it."""
        self._notify(table.name)

    def _notify(self, name: str) -> None:
        for written in self._waiting.get(name, ()):
            written.set()

    async def close(self) -> None:
        """Give the leases back; calls that wait for changes raise `StoreClosed`. Safe to call twice."""
        self._closed = True
        for name in self._waiting:
            self._notify(name)
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            await asyncio.wait({self._heartbeat})
        for consumer in self._consumers.values():
            try:
                await consumer.release()
            except TableError:
                # The service is unreachable; the leases expire by themselves.
                pass
        self._consumers.clear()

    def _consumer(self, table: TableSchema, name: str) -> Consumer:
        if self._closed:
            raise StoreClosed("The store is closed. Open it first.")
        if table.stream is None:
            raise BadInput(f"{table.name} has no stream. Declare it with `stream=`.")
        if not name:
            raise BadInput("Reading a stream needs a consumer and a limit of at least 1. Give both.")
        consumer = self._consumers.get((table.name, name))
        if consumer is None:
            consumer = self._consumers[table.name, name] = Consumer(self._worker, table, name)
        return consumer

    async def _read(self, consumer: Consumer, limit: int, *, ignore_throttling: bool) -> list[RawChange]:
        try:
            changes = await consumer.read(limit)
        except Throttled:
            # A caller that waits for changes anyway reads again after the next pause.
            if not ignore_throttling:
                raise
            return []
        self._ensure_heartbeat()
        return changes

    @contextmanager
    def _listen(self, table: TableSchema) -> Generator[asyncio.Event]:
        written = asyncio.Event()
        waiting = self._waiting.setdefault(table.name, set())
        waiting.add(written)
        try:
            yield written
        finally:
            waiting.discard(written)

    async def _pause(self, written: asyncio.Event, seconds: float) -> bool:
        """Wait until this process writes to the table, at most `seconds`; returns whether it did."""
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        write = asyncio.ensure_future(written.wait())
        try:
            await asyncio.wait({timer, write}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            write.cancel()
        return written.is_set()

    def _ensure_heartbeat(self) -> None:
        if self._heartbeat is None or self._heartbeat.done():
            self._heartbeat = asyncio.create_task(self._run_heartbeat())

    async def _run_heartbeat(self) -> None:
        """Renew leases while consumers are in use: the work on a batch may take longer than a lease."""
        while True:
            await self._clock.sleep(self._worker.lease_seconds / RENEWALS_PER_LEASE)
            oldest = self._clock.now() - self._worker.lease_seconds * _MAX_IDLE_LEASES
            active = [consumer for consumer in self._consumers.values() if consumer.last_used_at >= oldest]
            if not active:
                return
            for consumer in active:
                try:
                    await consumer.renew_leases()
                except TableError:
                    # The next renewal still comes before the lease expires.
                    continue
