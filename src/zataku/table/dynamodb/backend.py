"""The store in DynamoDB: its operations, each as one call of the service."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Literal

from zataku.clock import Clock, SystemClock
from zataku.table.backend.cost import ConsumedCapacity, Usage
from zataku.table.backend.errors import BadInput, SchemaRefused
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
from zataku.table.dynamodb import reads as reading
from zataku.table.dynamodb import writes as writing
from zataku.table.dynamodb.backups import Backups
from zataku.table.dynamodb.call_lock import Gate
from zataku.table.dynamodb.capabilities import EVERYTHING, found_out
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.metadata_table import Book
from zataku.table.dynamodb.streams import Streams
from zataku.table.dynamodb.tables.description import Stored, description, look, stored
from zataku.table.dynamodb.tables.management import Tables
from zataku.table.dynamodb.transact import Transactions
from zataku.table.store.retry import Retry, RetryPolicy

_SYSTEM_CLOCK = SystemClock()
# For a transaction whose reply was lost; the store above has patience of its own for everything else.
_LOST = RetryPolicy(max_attempts=5, first_delay=0.02, max_delay=1.0)


class DynamoBackend:
    """Keeps tables in DynamoDB, or in anything that speaks its protocol.

    `book` is the table in which the store keeps its own things: the secret of its cursors, the checkpoints of streams,
    what access patterns have used. With `manage` off, no table is made or changed.
    """

    def __init__(
        self,
        client: Client,
        *,
        clock: Clock = _SYSTEM_CLOCK,
        random: Random | None = None,
        book: str = "ZatakuStore",
        manage: bool = True,
    ) -> None:
        chance = random or Random()
        self._client = client
        self._manage = manage
        self._capabilities = EVERYTHING
        self._gate = Gate()
        self._schemas: dict[str, TableSchema] = {}
        self._book = Book(client, book, clock)
        self._tables = Tables(client, clock, manage=manage)
        self._transactions = Transactions(client, Retry(chance, _LOST, clock.sleep), book)
        self._streams = Streams(client, self._book, clock, chance)
        self._backups = Backups(client, clock)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What `probe` found; everything before it was asked."""
        return self._capabilities

    async def probe(self) -> None:
        """Ask the service what it can do. Changes nothing there."""
        async with self._gate:
            self._capabilities = await found_out(self._client)

    async def start(self, tables: Sequence[TableSchema]) -> None:
        """Make the tables fit; new global indexes fill in the background."""
        async with self._gate:
            await self._tables.fit(tables)
            if not self._manage and await description(self._client, self._book.name) is None:
                raise SchemaRefused(
                    f"{self._book.name}, the store's own table, is missing, and this store may not make it. "
                    "Deploy the design's template, or open the store with manage=True once."
                )
            await self._book.start()
            self._schemas.update({table.name: table for table in tables})

    async def close(self) -> None:
        """Finish what was accepted and let go of all connections."""
        try:
            await self._gate.close()
            await self._tables.close()
            await self._streams.close()
        finally:
            await self._client.close()

    def _known(self, table: TableSchema) -> TableSchema:
        """The table as it was started."""
        known = self._schemas.get(table.name)
        if known is None:
            raise BadInput(f"The store has no table {table.name}. Pass it to start().")
        return known

    # Reading

    async def get(self, read: GetItem, consumed: ConsumedCapacity | None = None) -> Row | None:
        """One item or None."""
        async with self._gate:
            self._known(read.table)
            return await reading.get(self._client, read, consumed)

    async def query(self, read: QueryItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a partition."""
        async with self._gate:
            self._refuse_unknown_index(read)
            return await reading.query(self._client, read, consumed)

    async def scan(self, read: ScanItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a table."""
        async with self._gate:
            self._refuse_unknown_index(read)
            return await reading.scan(self._client, read, consumed)

    def _refuse_unknown_index(self, read: QueryItems | ScanItems) -> None:
        table, index = self._known(read.table), read.index
        if index is not None and index.name not in {each.name for each in table.indexes}:
            raise BadInput(f"{table.name} has no index {index.name}. Declare it and start the store again.")

    async def batch_get(
        self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None
    ) -> list[Row | Literal["unprocessed"] | None]:
        """At most 100 items, each by itself."""
        async with self._gate:
            for read in reads:
                self._known(read.table)
            return await reading.batch_get(self._client, reads, consumed)

    async def snapshot(self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None) -> list[Row | None]:
        """At most 100 items as they were at one moment."""
        async with self._gate:
            for read in reads:
                self._known(read.table)
            return await reading.snapshot(self._client, reads, consumed)

    # Writing

    async def write(self, write: Write, consumed: ConsumedCapacity | None = None) -> Written:
        """One conditional write; tells the old state of a delete and the new one of a put or update."""
        async with self._gate:
            self._known(write.table)
            written = await writing.write(self._client, write, consumed)
        self._streams.wake(write.table)
        return written

    async def batch_write(
        self, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> list[PutItem | DeleteItem]:
        """At most 25 unconditional writes, each by itself."""
        async with self._gate:
            for write in writes:
                self._known(write.table)
            left = await writing.batch_write(self._client, writes, consumed)
        self._wake(writes)
        return left

    async def transact(
        self, writes: Sequence[TransactWrite], token: str | None = None, consumed: ConsumedCapacity | None = None
    ) -> None:
        """All or nothing; a lost reply is asked for again, so that the outcome is known."""
        async with self._gate:
            for write in writes:
                self._known(write.table)
            await self._transactions(writes, token, consumed)
        self._wake(writes)

    def _wake(self, writes: Sequence[TransactWrite]) -> None:
        """Readers of this process that wait for a change need not wait for their next look."""
        for table in {write.table.name: write.table for write in writes}.values():
            self._streams.wake(table)

    # Changes

    async def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> list[RawChange]:
        """What the consumer has not acknowledged. A reader that waits does not keep the store from closing."""
        async with self._gate:
            if self._known(table).stream is None:
                raise BadInput(f"{table.name} has no stream. Declare it with `stream=`.")
            if limit < 1 or not consumer:
                raise BadInput("Reading a stream needs a consumer and a limit of at least 1. Give both.")
        return await self._streams.changes(table, consumer, limit, wait)

    async def acknowledge(self, table: TableSchema, consumer: str, position: str) -> None:
        """The consumer is done up to this position."""
        async with self._gate:
            await self._streams.acknowledge(self._known(table), consumer, position)

    async def forget(self, table: TableSchema, consumer: str) -> None:
        """Drop a consumer and its checkpoint."""
        async with self._gate:
            await self._streams.forget(self._known(table), consumer)

    async def sweep(self, table: TableSchema, now: float, limit: int) -> int:  # noqa: ARG002 - the service decides
        """Nothing to do: the service deletes what has expired, within some days."""
        async with self._gate:
            self._known(table)
        return 0

    # About the store

    async def _described(self) -> dict[str, Stored | None]:
        names = list(self._schemas)
        found = await asyncio.gather(*(description(self._client, name) for name in names))
        return {name: stored(told, None, None) if told else None for name, told in zip(names, found, strict=True)}

    async def index_states(self) -> list[IndexState]:
        """How far every index is."""
        async with self._gate:
            found = await self._described()
            return [
                state for name, told in found.items() if told is not None for state in told.states(self._schemas[name])
            ]

    async def sizes(self) -> list[Size]:
        """As the service counted some hours ago."""
        async with self._gate:
            found = await self._described()
            return [size for told in found.values() if told is not None for size in told.sizes]

    async def facts(self) -> dict[str, str]:
        """Where the tables are and how they are protected."""
        async with self._gate:
            found = await asyncio.gather(*(look(self._client, name) for name in self._schemas))
            facts = {
                "endpoint": self._client.endpoint or "Amazon DynamoDB",
                "region": self._client.region or "",
                "book": self._book.name,
            }
            for name, told in zip(self._schemas, found, strict=True):
                facts[name] = "missing" if told is None else _facts(told)
            facts |= {
                f"{name}, not as designed": " ".join(said) for name, said in self._tables.problems.items() if said
            }
            return facts

    async def add_usage(self, usage: Sequence[Usage]) -> None:
        """Kept in the book."""
        async with self._gate:
            await self._book.add_usage(usage)

    async def usage(self) -> list[Usage]:
        """As the book has it."""
        async with self._gate:
            return await self._book.usage()

    async def backup(self, destination: str, progress: Progress | None = None) -> None:
        """A backup of that name of every table, kept by the service."""
        async with self._gate:
            await self._backups.take(list(self._schemas.values()), destination, progress)

    async def restore(self, source: str, progress: Progress | None = None) -> None:
        """Replace every table by its backup of that name; calls that arrive meanwhile wait."""
        async with self._gate.alone():
            await self._backups.restore(list(self._schemas.values()), source, progress)

    async def secret(self) -> bytes:
        """32 random bytes made once for this store."""
        async with self._gate:
            return await self._book.secret()


def _facts(told: Stored) -> str:
    if not told.recovery_offered:
        recovery = "no point-in-time recovery offered"
    else:
        recovery = f"point-in-time recovery {'on' if told.schema.recovery else 'off'}"
    protection = "protected" if told.schema.protected else "not protected"
    return f"{told.status.lower()}, {recovery}, {protection} against deletion"
