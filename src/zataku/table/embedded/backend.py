"""The embedded store: DynamoDB's operations on one SQLite file, on this machine's disk."""

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
from zataku.table.embedded import facts, streams
from zataku.table.embedded import usage as kept_usage
from zataku.table.embedded.charging import (
    charge_get,
    charge_gets,
    charge_page,
    charge_refused,
    charge_repetition,
    charge_snapshot,
    charge_write,
)
from zataku.table.embedded.database import Database
from zataku.table.embedded.engine import Engine, reading_only
from zataku.table.embedded.file.restore import in_place_of_a_damaged_store
from zataku.table.embedded.queue import Line, again, served
from zataku.table.embedded.reads.lookups import at_one_moment, lookup, lookups, one_by_one
from zataku.table.embedded.reads.pages import Page
from zataku.table.embedded.reads.reader import ReadDesk
from zataku.table.embedded.statistics import sizes
from zataku.table.embedded.tables.expiry import sweep
from zataku.table.embedded.transact import Transaction, refuse_repeats
from zataku.table.embedded.writes import prepared, several, single

_CAPABILITIES: frozenset[Capability] = frozenset({"transactions", "streams", "ttl", "local-indexes", "backups"})
_SYSTEM_CLOCK = SystemClock()
_RECALLED_AT_ONCE = 32


class EmbeddedBackend:
    """Keeps tables in one file. What is acknowledged is on the disk.

    One thread writes, one reads items and pages, one reads whole tables; the event loop never waits for the disk.
    `accept_loss` opens a file that has lost its last commits, after the host has decided to go on without them.
    `chance` decides how far lagging reads lag.

    `read_only` opens a file without taking it, also while another process holds and writes it: everything can be read
    and backed up, every write raises `StoreClosed`, and nothing is made or changed on the disk.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock = _SYSTEM_CLOCK,
        accept_loss: bool = False,
        chance: Random | None = None,
        read_only: bool = False,
    ) -> None:
        self._path = path
        self._clock = clock
        self._accept_loss = accept_loss
        self._read_only = read_only
        self._chance = chance or Random()
        self._tables: dict[str, TableSchema] = {}
        self._switch = Lock()
        self._engine: Engine | None = None
        self._recalled = 0

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Everything that a design may need."""
        return _CAPABILITIES

    async def start(self, tables: Sequence[TableSchema]) -> None:
        """Open the file if it is not open yet, and make its tables fit."""
        await asyncio.to_thread(self._start, tables)

    def _start(self, tables: Sequence[TableSchema]) -> None:
        with self._switch:
            if self._engine is not None:
                self._engine.adapt(tables)
            else:
                self._engine = self._opened(tables)
            self._tables.update({table.name: table for table in tables})

    def _opened(self, tables: Sequence[TableSchema]) -> Engine:
        database = Database(self._path, accept_loss=self._accept_loss, read_only=self._read_only)
        engine = Engine(database, self._clock, self._chance)
        try:
            engine.adapt(tables)
        except BaseException:
            engine.stop()
            raise
        return engine

    async def close(self) -> None:
        """Finish what was accepted and let go of the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._switch:
            engine, self._engine = self._engine, None
            if engine is not None:
                engine.stop()

    def _running(self) -> Engine:
        engine = self._engine
        if engine is None:
            raise StoreClosed(f"The store {self._path} is not open. Start it first.")
        if engine.database.damage is not None:
            raise again(engine.database.damage)
        return engine

    async def get(self, read: GetItem, consumed: ConsumedCapacity | None = None) -> Row | None:
        """One item or None."""
        engine = self._running()
        look = lookup(engine.database.catalog, read)
        found = look.recalled(engine.database.recent)
        if found is None:
            found = await served(engine.reader.line, look)
        else:
            await self._give_way()
        if consumed is not None:
            charge_get(consumed, read, found[1])
        return found[0]

    async def query(self, read: QueryItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a partition."""
        engine = self._running()
        return await _page(engine.reader.line, Page(engine.database.catalog, read), read, consumed)

    async def scan(self, read: ScanItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a table."""
        engine = self._running()
        return await _page(engine.scanner.line, Page(engine.database.catalog, read), read, consumed)

    async def batch_get(
        self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None
    ) -> list[Row | Literal["unprocessed"] | None]:
        """At most 100 items; this store processes them all."""
        engine = self._running()
        every = lookups(engine.database.catalog, reads)
        recalled = [look.recalled(engine.database.recent) for look in every]
        missing = [look for look, row in zip(every, recalled, strict=True) if row is None]
        if missing:
            read = iter(await served(engine.reader.line, partial(one_by_one, missing)))
            found = [next(read) if row is None else row for row in recalled]
        else:
            await self._give_way()
            found = [row for row in recalled if row is not None]
        if consumed is not None:
            charge_gets(consumed, reads, [size for _, size in found])
        return [row for row, _ in found]

    async def _give_way(self) -> None:
        """Let others run now and then: what is found in memory never waits, and a long loop would keep them out."""
        self._recalled += 1
        if self._recalled % _RECALLED_AT_ONCE == 0:
            await asyncio.sleep(0)

    async def snapshot(self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None) -> list[Row | None]:
        """At most 100 items as they were at one moment."""
        engine = self._running()
        every = lookups(engine.database.catalog, reads)
        found = await served(engine.reader.line, partial(at_one_moment, every))
        if consumed is not None:
            charge_snapshot(consumed, reads, [size for _, size in found])
        return [row for row, _ in found]

    async def write(self, write: Write, consumed: ConsumedCapacity | None = None) -> Written:
        """One conditional write, durable when this returns."""
        engine = self._running()
        ready = prepared(engine.database.catalog, write)
        lay: list[int] = []
        try:
            decision = await served(engine.writer.line, partial(single, ready, lay), ready.weight)
        except ConditionFailed:
            if consumed is not None:
                charge_refused(consumed, [write], lay)
            raise
        if consumed is not None:
            charge_write(consumed, decision)
        return decision.written()

    async def batch_write(
        self, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> list[PutItem | DeleteItem]:
        """At most 25 unconditional writes; this store processes them all."""
        engine = self._running()
        if len(writes) > BATCH_WRITES:
            raise TooManyItems(f"The batch has {len(writes)} writes; {BATCH_WRITES} are allowed. Split it.")
        if any(write.condition is not None for write in writes):
            raise BadInput("Writes in a batch have no conditions. Write them singly or in a transaction.")
        every = [prepared(engine.database.catalog, write) for write in writes]
        refuse_repeats(every)
        weight = sum(each.weight for each in every)
        decisions = await served(engine.writer.line, partial(several, every), weight)
        if consumed is not None:
            for decision in decisions:
                charge_write(consumed, decision)
        return []

    async def transact(
        self, writes: Sequence[TransactWrite], token: str | None = None, consumed: ConsumedCapacity | None = None
    ) -> None:
        """All or nothing, durable when this returns."""
        engine = self._running()
        transaction = Transaction(engine.database.catalog, writes, token)
        try:
            decisions = await served(engine.writer.line, transaction, transaction.weight)
        except TransactionCancelled:
            if consumed is not None:
                charge_refused(consumed, writes, transaction.lay, phases=2)
            raise
        if consumed is None:
            return
        if decisions is None:
            charge_repetition(consumed, writes, transaction.lay)
        else:
            for decision in decisions:
                charge_write(consumed, decision, phases=2)

    async def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> list[RawChange]:
        """What the consumer has not acknowledged, the oldest first."""
        engine = self._running()
        streams.refuse_silent(engine.database.catalog.part(table.name))
        if limit < 1 or not consumer:
            raise BadInput("Reading a stream needs a consumer and a limit of at least 1. Give both.")
        # Listening begins before reading, so that a change in between is not missed.
        change = engine.listeners.listen(table.name) if wait > 0 else None
        found = await self._next_changes(table.name, consumer, limit)
        if change is None:
            return found
        if not found:
            await self._first_of(change, wait)
            found = await self._next_changes(table.name, consumer, limit)
        change.cancel()
        return found

    async def _next_changes(self, table: str, consumer: str, limit: int) -> list[RawChange]:
        engine = self._running()
        reading = partial(streams.read, table, consumer, limit)
        found = await served(engine.reader.line, reading)
        if found is None:
            await served(engine.writer.line, partial(streams.register, table, consumer))
            found = await served(engine.reader.line, reading)
        return found or []

    async def _first_of(self, change: "asyncio.Future[None]", seconds: float) -> None:
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        try:
            await asyncio.wait({change, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()

    async def acknowledge(self, table: TableSchema, consumer: str, position: str) -> None:
        """The consumer is done up to this position; durable, and never backwards."""
        engine = self._running()
        work = partial(streams.acknowledge, table.name, consumer, streams.number(position))
        await served(engine.writer.line, work)

    async def forget(self, table: TableSchema, consumer: str) -> None:
        """Drop a consumer and its checkpoint."""
        engine = self._running()
        await served(engine.writer.line, partial(streams.forget, table.name, consumer))

    async def sweep(self, table: TableSchema, now: float, limit: int) -> int:
        """Delete at most so many expired items, in portions between other writes, and trim the stream."""
        line = self._running().writer.line
        deleted = 0
        more = limit > 0
        while more and deleted < limit:
            some, more = await served(line, partial(sweep, table.name, now, limit - deleted))
            deleted += some
        while await served(line, partial(streams.trim, table.name)) == streams.TRIM_PORTION:
            pass
        return deleted

    async def index_states(self) -> list[IndexState]:
        """How far every index is."""
        engine = self._running()
        if self._read_only:
            await asyncio.to_thread(engine.look_again)
        return engine.database.catalog.states()

    async def stored_tables(self) -> list[TableSchema]:
        """The tables as the file has them, whatever was asked for."""
        return [part.schema for part in self._running().database.catalog.parts]

    async def sizes(self) -> list[Size]:
        """Counted in the file, so for large tables it takes a while; others go on meanwhile."""
        engine = self._running()
        return await sizes(engine.scanner.line, engine.database.catalog)

    async def facts(self) -> dict[str, str]:
        """Where the file lies, the room it takes and has, and how far consumers are behind the streams."""
        engine = self._running()
        known = await asyncio.to_thread(facts.of_file, self._path)
        return known | await served(engine.scanner.line, facts.of_streams)

    async def add_usage(self, usage: Sequence[Usage]) -> None:
        """Kept in the file, and in its backups."""
        await served(self._running().writer.line, partial(kept_usage.add, usage))

    async def usage(self) -> list[Usage]:
        """As the file has it."""
        return await served(self._running().reader.line, kept_usage.read)

    async def backup(self, destination: str, progress: Progress | None = None) -> None:
        """Write a complete copy while the store goes on working."""
        await asyncio.to_thread(self._running().back_up, Path(destination), _from_thread(progress))

    async def restore(self, source: str, progress: Progress | None = None) -> None:
        """Replace everything by a backup; the replaced store is kept as `<path>.before-restore`.

        A store that is damaged, or closed, can be restored too; a closed one stays closed.
        """
        await asyncio.to_thread(self._restore, Path(source), _from_thread(progress))

    def _restore(self, source: Path, report: Progress) -> None:
        if self._read_only:
            raise reading_only(self._path)
        with self._switch:
            engine, tables = self._engine, list(self._tables.values())
            if engine is not None and engine.database.damage is None:
                engine.restore(source, tables, report)
                return
            if engine is not None:
                self._engine = None
                engine.stop()
            in_place_of_a_damaged_store(source, self._path, tables, report)
            if engine is not None:
                self._engine = self._opened(tables)

    async def secret(self) -> bytes:
        """32 random bytes made once for this store."""
        return self._running().database.secret


def _from_thread(progress: Progress | None) -> Progress:
    """What a thread calls to tell somebody on this event loop how far it is."""
    loop = asyncio.get_running_loop()

    def report(done: int, total: int) -> None:
        if progress is not None:
            loop.call_soon_threadsafe(progress, done, total)

    return report


async def _page(
    line: Line[ReadDesk], page: Page, read: QueryItems | ScanItems, consumed: ConsumedCapacity | None
) -> Rows:
    found = await served(line, page)
    if consumed is not None:
        charge_page(consumed, read, found)
    return found.rows
