"""All consumers of a process, and the pulse that keeps their leases alive."""

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
from zataku.table.dynamodb.metadata_table import Book
from zataku.table.dynamodb.streams.consumer import RENEWALS, Consumer
from zataku.table.dynamodb.streams.owner import Owner

# A shard may be read five times a second, by all its readers together.
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 2.0
# Who has not called for so many spans of a lease has stopped reading, and its leases lapse.
_IDLE_SPANS = 15


class Streams:
    """Reads the streams of tables for named consumers, together with any number of other processes.

    Each process holds leases on some of the shards and reads only those. A lease is kept alive while the process
    reads; when it dies, another takes the lease over after `lease_seconds`.
    """

    def __init__(
        self,
        client: Client,
        book: Book,
        clock: Clock,
        random: Random,
        *,
        owner: str | None = None,
        lease_seconds: float = 20,
    ) -> None:
        # The name is not from `random`: two processes with one seed must not take each other for themselves.
        self._owner = Owner(owner or secrets.token_hex(8), client, book, clock, random, lease_seconds)
        self._clock = clock
        self._consumers: dict[tuple[str, str], Consumer] = {}
        self._sleepers: dict[str, set[asyncio.Event]] = {}
        self._pulse: asyncio.Task[None] | None = None
        self._closed = False

    async def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> list[RawChange]:
        """The oldest changes not acknowledged, of the shards that this process reads; waits for the first."""
        if limit < 1:
            raise BadInput("Reading a stream needs a consumer and a limit of at least 1. Give both.")
        follower = self._consumer(table, consumer)
        until = self._clock.now() + wait
        pause = _FIRST_PAUSE
        while True:
            # Listening begins before reading, so that a change in between is not missed.
            with self._listening(table) as awake:
                found = await self._read(follower, limit, patient=self._clock.now() < until)
                left = until - self._clock.now()
                if found or left <= 0:
                    return found
                woken = await self._rest(awake, min(left, pause * self._owner.random.uniform(0.5, 1)))
            if self._closed:
                raise StoreClosed("The store is closed. Open it first.")
            pause = _FIRST_PAUSE if woken else min(pause * 2, _LONGEST_PAUSE)

    async def acknowledge(self, table: TableSchema, consumer: str, position: str) -> None:
        """The consumer is done with this change and all it was given before it; durable, and never backwards.

        Raises `LeaseLost` when another process reads the shard by now: it will be given the changes again.
        """
        await self._consumer(table, consumer).acknowledge(position)
        self._keep_beating()

    async def forget(self, table: TableSchema, consumer: str) -> None:
        """Drop a consumer, its checkpoints and leases."""
        await self._consumer(table, consumer).forget()

    def wake(self, table: TableSchema) -> None:
        """Let those who wait for a change of the table look at once: this process has written to it."""
        self._wake(table.name)

    def _wake(self, name: str) -> None:
        for sleeper in self._sleepers.get(name, ()):
            sleeper.set()

    async def close(self) -> None:
        """Give the leases back; those who wait for changes are told that the store is closed. Safe to call twice."""
        self._closed = True
        for name in self._sleepers:
            self._wake(name)
        if self._pulse is not None:
            self._pulse.cancel()
            await asyncio.wait({self._pulse})
        for follower in self._consumers.values():
            try:
                await follower.release()
            except TableError:
                # The service is away; the leases lapse by themselves.
                pass
        self._consumers.clear()

    def _consumer(self, table: TableSchema, name: str) -> Consumer:
        if self._closed:
            raise StoreClosed("The store is closed. Open it first.")
        if table.stream is None:
            raise BadInput(f"{table.name} has no stream. Declare it with `stream=`.")
        if not name:
            raise BadInput("Reading a stream needs a consumer and a limit of at least 1. Give both.")
        found = self._consumers.get((table.name, name))
        if found is None:
            found = self._consumers[table.name, name] = Consumer(self._owner, table, name)
        return found

    async def _read(self, follower: Consumer, limit: int, *, patient: bool) -> list[RawChange]:
        try:
            found = await follower.read(limit)
        except Throttled:
            # Somebody who waits anyway can wait for this as well.
            if not patient:
                raise
            return []
        self._keep_beating()
        return found

    @contextmanager
    def _listening(self, table: TableSchema) -> Generator[asyncio.Event]:
        awake = asyncio.Event()
        sleepers = self._sleepers.setdefault(table.name, set())
        sleepers.add(awake)
        try:
            yield awake
        finally:
            sleepers.discard(awake)

    async def _rest(self, awake: asyncio.Event, seconds: float) -> bool:
        """A pause that ends early when this process writes to the table; says whether it did."""
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        bell = asyncio.ensure_future(awake.wait())
        try:
            await asyncio.wait({timer, bell}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            bell.cancel()
        return awake.is_set()

    def _keep_beating(self) -> None:
        if self._pulse is None or self._pulse.done():
            self._pulse = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        """Renew leases while somebody reads: the work on a batch may take longer than a lease lasts."""
        while True:
            await self._clock.sleep(self._owner.lease_seconds / RENEWALS)
            idle = self._clock.now() - self._owner.lease_seconds * _IDLE_SPANS
            busy = [it for it in self._consumers.values() if it.used >= idle]
            if not busy:
                return
            for follower in busy:
                try:
                    await follower.beat()
                except TableError:
                    # What could not be renewed now may be renewed next time, before the lease has lapsed.
                    continue
