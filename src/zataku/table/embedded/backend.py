"""The embedded backend: each of DynamoDB's operations as a call of the writer or a reader of one SQLite file."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from threading import Lock
from typing import Literal

from zataku.clock import Clock, SystemClock
from zataku.table.backend.cost import ConsumedCapacity, Usage
from zataku.table.backend.errors import BadInput, ConditionFailed, StoreClosed, TooManyItems, TransactionCancelled
from zataku.table.backend.limits import BATCH_WRITES
from zataku.table.backend.port import (
    Capability,
    DeleteItem,
    GetItem,
    IndexState,
    Progress,
    PutItem,
    QueryItems,
    RawChange,
    Row,
    Rows,
    ScanItems,
    Size,
    TransactWrite,
    Write,
    Written,
)
from zataku.table.backend.table_schema import TableSchema
from zataku.table.embedded import statistics, streams
from zataku.table.embedded.database import Database
from zataku.table.embedded.engine import Engine, read_only_error
from zataku.table.embedded.file.restore import restore_closed_store
from zataku.table.embedded.queue import CallQueue, copy_of
from zataku.table.embedded.reads.lookups import (
    charge_batch_get,
    charge_get,
    charge_snapshot,
    prepare_lookup,
    prepare_lookups,
    read_each,
    read_snapshot,
)
from zataku.table.embedded.reads.pages import PageRead, charge_page
from zataku.table.embedded.reads.reader import ReadSession
from zataku.table.embedded.tables.expiry import delete_expired
from zataku.table.embedded.writer import Writer
from zataku.table.embedded.writes import (
    Transaction,
    charge_refused,
    charge_repetition,
    charge_write,
    prepare,
    prepare_batch,
    write_each,
    write_one,
)

_CAPABILITIES: frozenset[Capability] = frozenset({"transactions", "streams", "ttl", "local-indexes", "backups"})
_SYSTEM_CLOCK = SystemClock()
# After this many cache hits a caller yields to the event loop: hits never wait, and a long loop would block it.
_MAX_HITS_WITHOUT_YIELD = 32


class EmbeddedBackend:
    """Tables in one SQLite file. An acknowledged write is on the disk.

    One thread writes, one reads items and pages, one reads whole tables; the event loop never waits for the disk.
    `accept_loss` opens a file that has lost its last commits, after the host has decided to continue without them.
    `random` decides how far lagging reads lag.

    `read_only` opens a file without locking it, also while another process writes it: everything can be read and backed
    up, every write raises `StoreClosed`, and nothing is created or changed on the disk.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock = _SYSTEM_CLOCK,
        accept_loss: bool = False,
        random: Random | None = None,
        read_only: bool = False,
    ) -> None:
        self._path = path
        self._clock = clock
        self._accept_loss = accept_loss
        self._read_only = read_only
        self._random = random or Random()
        self._tables: dict[str, TableSchema] = {}
        self._opening = Lock()
        self._engine: Engine | None = None
        self._cache_hits = 0

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Everything that a design may need."""
        return _CAPABILITIES

    async def start(self, tables: Sequence[TableSchema]) -> None:
        """Open the file if it is not open yet, and create or change its tables."""
        await asyncio.to_thread(self._start, tables)

    def _start(self, tables: Sequence[TableSchema]) -> None:
        with self._opening:
            if self._engine is not None:
                self._engine.apply_schemas(tables)
            else:
                self._engine = self._open_engine(tables)
            self._tables.update({table.name: table for table in tables})

    def _open_engine(self, tables: Sequence[TableSchema]) -> Engine:
        database = Database(self._path, accept_loss=self._accept_loss, read_only=self._read_only)
        engine = Engine(database, self._clock, self._random)
        try:
            engine.apply_schemas(tables)
        except BaseException:
            engine.stop()
            raise
        return engine

    async def close(self) -> None:
        """Finish the accepted calls and close the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._opening:
            engine, self._engine = self._engine, None
            if engine is not None:
                engine.stop()

    def _running(self) -> Engine:
        engine = self._engine
        if engine is None:
            raise StoreClosed(f"The store {self._path} is not open. Start it first.")
        if engine.damage is not None:
            raise copy_of(engine.damage)
        return engine

    def _writer(self) -> Writer:
        writer = self._running().writer
        if writer is None:
            raise read_only_error(self._path)
        return writer

    async def get(self, read: GetItem, consumed: ConsumedCapacity | None = None) -> Row | None:
        """One item or None."""
        engine = self._running()
        lookup = prepare_lookup(engine.catalog, read)
        sized_row = lookup.from_cache(engine.item_cache)
        if sized_row is None:
            sized_row = await engine.read_queue.run(lookup)
        else:
            await self._yield_after_hits()
        if consumed is not None:
            charge_get(consumed, read, sized_row[1])
        return sized_row[0]

    async def query(self, read: QueryItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a partition."""
        engine = self._running()
        return await _read_page(engine.read_queue, PageRead(engine.catalog, read), read, consumed)

    async def scan(self, read: ScanItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a table."""
        engine = self._running()
        return await _read_page(engine.scan_queue, PageRead(engine.catalog, read), read, consumed)

    async def batch_get(
        self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None
    ) -> list[Row | Literal["unprocessed"] | None]:
        """At most 100 items; this store processes them all."""
        engine = self._running()
        lookups = prepare_lookups(engine.catalog, reads)
        cached = [lookup.from_cache(engine.item_cache) for lookup in lookups]
        missing = [lookup for lookup, row in zip(lookups, cached, strict=True) if row is None]
        if missing:
            read = iter(await engine.read_queue.run(partial(read_each, missing)))
            sized_rows = [next(read) if row is None else row for row in cached]
        else:
            await self._yield_after_hits()
            sized_rows = [row for row in cached if row is not None]
        if consumed is not None:
            charge_batch_get(consumed, reads, [size for _, size in sized_rows])
        return [row for row, _ in sized_rows]

    async def _yield_after_hits(self) -> None:
        self._cache_hits += 1
        if self._cache_hits % _MAX_HITS_WITHOUT_YIELD == 0:
            await asyncio.sleep(0)

    async def snapshot(self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None) -> list[Row | None]:
        """At most 100 items as they were at one moment."""
        engine = self._running()
        lookups = prepare_lookups(engine.catalog, reads)
        sized_rows = await engine.read_queue.run(partial(read_snapshot, lookups))
        if consumed is not None:
            charge_snapshot(consumed, reads, [size for _, size in sized_rows])
        return [row for row, _ in sized_rows]

    async def write(self, write: Write, consumed: ConsumedCapacity | None = None) -> Written:
        """One conditional write, durable when this returns."""
        writer = self._writer()
        prepared = prepare(writer.catalog, write)
        old_sizes: list[int] = []
        try:
            effect = await writer.queue.run(partial(write_one, prepared, old_sizes), prepared.size)
        except ConditionFailed:
            if consumed is not None:
                charge_refused(consumed, [write], old_sizes)
            raise
        if consumed is not None:
            charge_write(consumed, effect)
        return effect.written()

    async def batch_write(
        self, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> list[PutItem | DeleteItem]:
        """At most 25 unconditional writes; this store processes them all."""
        writer = self._writer()
        if len(writes) > BATCH_WRITES:
            raise TooManyItems(f"The batch has {len(writes)} writes; {BATCH_WRITES} are allowed. Split it.")
        if any(write.condition is not None for write in writes):
            raise BadInput("Writes in a batch have no conditions. Write them singly or in a transaction.")
        prepared = prepare_batch(writer.catalog, writes)
        effects = await writer.queue.run(partial(write_each, prepared), sum(write.size for write in prepared))
        if consumed is not None:
            for effect in effects:
                charge_write(consumed, effect)
        return []

    async def transact(
        self, writes: Sequence[TransactWrite], token: str | None = None, consumed: ConsumedCapacity | None = None
    ) -> None:
        """All or nothing, durable when this returns."""
        writer = self._writer()
        transaction = Transaction(writer.catalog, writes, token)
        try:
            effects = await writer.queue.run(transaction, transaction.size)
        except TransactionCancelled:
            if consumed is not None:
                charge_refused(consumed, writes, transaction.old_sizes, phases=2)
            raise
        if consumed is None:
            return
        if effects is None:
            charge_repetition(consumed, writes, transaction.old_sizes)
        else:
            for effect in effects:
                charge_write(consumed, effect, phases=2)

    async def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> list[RawChange]:
        """The oldest changes that the consumer has not acknowledged."""
        engine = self._running()
        streams.check_stream(engine.catalog[table.name])
        if limit < 1 or not consumer:
            raise BadInput("Reading a stream needs a consumer and a limit of at least 1. Give both.")
        # Listening begins before reading, so that a change in between is not missed.
        change = engine.listeners.next_change(table.name) if wait > 0 else None
        changes = await self._read_changes(table.name, consumer, limit)
        if change is None:
            return changes
        if not changes:
            await self._wait_for(change, wait)
            changes = await self._read_changes(table.name, consumer, limit)
        change.cancel()
        return changes

    async def _read_changes(self, table: str, consumer: str, limit: int) -> list[RawChange]:
        queue = self._running().read_queue
        read = partial(streams.read_changes, table, consumer, limit)
        changes = await queue.run(read)
        if changes is None:
            await self._writer().queue.run(partial(streams.register_consumer, table, consumer))
            changes = await queue.run(read)
        return changes or []

    async def _wait_for(self, change: "asyncio.Future[None]", seconds: float) -> None:
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait({change, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()

    async def acknowledge(self, table: TableSchema, consumer: str, position: str) -> None:
        """Move the consumer's checkpoint to this position; durable, and never backwards."""
        queue = self._writer().queue
        await queue.run(partial(streams.acknowledge, table.name, consumer, streams.parse_position(position)))

    async def forget(self, table: TableSchema, consumer: str) -> None:
        """Delete a consumer and its checkpoint."""
        await self._writer().queue.run(partial(streams.remove_consumer, table.name, consumer))

    async def sweep(self, table: TableSchema, now: float, limit: int) -> int:
        """Delete at most `limit` expired items, in portions between other writes, and trim the stream."""
        queue = self._writer().queue
        deleted = 0
        has_more = limit > 0
        while has_more and deleted < limit:
            count, has_more = await queue.run(partial(delete_expired, table.name, now, limit - deleted))
            deleted += count
        while await queue.run(partial(streams.trim, table.name)) == streams.TRIM_PORTION_RECORDS:
            pass
        return deleted

    async def index_states(self) -> list[IndexState]:
        """The state of every index."""
        engine = self._running()
        if self._read_only:
            await asyncio.to_thread(engine.reload_catalog)
        return engine.catalog.index_states()

    async def stored_tables(self) -> list[TableSchema]:
        """The tables in the file, whether the store was started with them or not."""
        return [table.schema for table in self._running().catalog.values()]

    async def sizes(self) -> list[Size]:
        """Sizes counted in the file, which takes a while for large tables; other calls are served in between."""
        engine = self._running()
        return await statistics.table_sizes(engine.scan_queue, engine.catalog)

    async def facts(self) -> dict[str, str]:
        """Path and size of the file, free space, and how far consumers are behind the streams."""
        engine = self._running()
        facts = await asyncio.to_thread(statistics.file_facts, self._path)
        return facts | await engine.scan_queue.run(statistics.stream_facts)

    async def add_usage(self, usage: Sequence[Usage]) -> None:
        """Add to the sums per access pattern, which are part of the file and its backups."""
        await self._writer().queue.run(partial(statistics.add_usage, usage))

    async def usage(self) -> list[Usage]:
        """The sums per access pattern in the file."""
        return await self._running().read_queue.run(statistics.read_usage)

    async def backup(self, destination: str, progress: Progress | None = None) -> None:
        """Write a complete copy while the store is in use."""
        await asyncio.to_thread(self._running().back_up, Path(destination), _on_this_loop(progress))

    async def restore(self, source: str, progress: Progress | None = None) -> None:
        """Replace everything by a backup; the replaced store is kept as `<path>.before-restore`.

        A damaged or closed store can be restored too; a closed one stays closed.
        """
        await asyncio.to_thread(self._restore, Path(source), _on_this_loop(progress))

    def _restore(self, source: Path, report: Progress) -> None:
        if self._read_only:
            raise read_only_error(self._path)
        with self._opening:
            engine, tables = self._engine, list(self._tables.values())
            if engine is not None and engine.damage is None:
                engine.restore(source, tables, report)
                return
            if engine is not None:
                self._engine = None
                engine.stop()
            restore_closed_store(source, self._path, tables, report)
            if engine is not None:
                self._engine = self._open_engine(tables)

    async def secret(self) -> bytes:
        """32 random bytes made once for this store."""
        return self._running().database.secret


def _on_this_loop(progress: Progress | None) -> Progress:
    """A callback for a thread that reports progress on this event loop."""
    loop = asyncio.get_running_loop()

    def report(done: int, total: int) -> None:
        if progress is not None:
            loop.call_soon_threadsafe(progress, done, total)

    return report


async def _read_page(
    queue: CallQueue[ReadSession], page: PageRead, read: QueryItems | ScanItems, consumed: ConsumedCapacity | None
) -> Rows:
    result = await queue.run(page)
    if consumed is not None:
        charge_page(consumed, read, result)
    return result.rows
