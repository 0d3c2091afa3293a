"""The DynamoDB backend: each operation as one call of the service."""

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
from zataku.table.backend.schema_diff import PlannedChange
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb import reads as read_calls
from zataku.table.dynamodb import writes as write_calls
from zataku.table.dynamodb.backups import Backups
from zataku.table.dynamodb.call_lock import CallLock
from zataku.table.dynamodb.client import ALL_CAPABILITIES, Client, probe_capabilities
from zataku.table.dynamodb.metadata_table import MetadataTable
from zataku.table.dynamodb.streams import ConsumerRegistry
from zataku.table.dynamodb.tables.description import (
    TableDescription,
    describe_settings,
    describe_table,
    parse_description,
)
from zataku.table.dynamodb.tables.management import Tables
from zataku.table.store.retry import Retry, RetryPolicy

_SYSTEM_CLOCK = SystemClock()
# For a transaction whose reply was lost; the store above retries everything else.
_LOST_REPLY_RETRIES = RetryPolicy(max_attempts=5, first_delay=0.02, max_delay=1.0)


class DynamoBackend:
    """Tables in DynamoDB, or in another service with its protocol.

    `metadata_table` names the store's own table: the secret of its cursors, the checkpoints of streams, the usage of
    access patterns. With `manage` off, no table is created or changed; only with `removals` is anything stored deleted
    to match the design, which errors advise to do by `apply_command`.
    """

    def __init__(
        self,
        client: Client,
        *,
        clock: Clock = _SYSTEM_CLOCK,
        random: Random | None = None,
        metadata_table: str = "ZatakuStore",
        manage: bool = True,
        removals: bool = False,
        apply_command: str = "zataku store apply",
    ) -> None:
        random = random or Random()
        self._client = client
        self._manage = manage
        self._capabilities = ALL_CAPABILITIES
        self._call_lock = CallLock()
        self._schemas: dict[str, TableSchema] = {}
        self._metadata = MetadataTable(client, metadata_table, clock)
        self._tables = Tables(client, clock, manage=manage, removals=removals, apply_command=apply_command)
        self._transactions = write_calls.Transactions(
            client, Retry(random, _LOST_REPLY_RETRIES, clock.sleep), metadata_table
        )
        self._consumers = ConsumerRegistry(client, self._metadata, clock, random)
        self._backups = Backups(client, clock)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities that `probe` found; all of them before it was called."""
        return self._capabilities

    async def probe(self) -> None:
        """Find out which capabilities the service has. Changes nothing there."""
        async with self._call_lock:
            self._capabilities = await probe_capabilities(self._client)

    async def start(self, tables: Sequence[TableSchema]) -> None:
        """Create or change the tables; new global indexes are filled in the background."""
        async with self._call_lock:
            await self._tables.apply(tables)
            if not self._manage and await describe_table(self._client, self._metadata.name) is None:
                raise SchemaRefused(
                    f"{self._metadata.name}, the store's own table, is missing, and this store may not create it. "
                    "Deploy the design's template, or open the store with manage=True once."
                )
            await self._metadata.start()
            self._schemas.update({table.name: table for table in tables})

    async def plan(self, tables: Sequence[TableSchema]) -> list[PlannedChange]:
        """The changes that would make the stored tables match the design. Changes nothing."""
        async with self._call_lock:
            return await self._tables.plan(tables)

    async def wait_for_indexes(self) -> None:
        """Wait until the changes that `start` began are complete, index by index."""
        await self._tables.wait_until_complete()

    async def close(self) -> None:
        """Finish the accepted calls and close all connections."""
        try:
            await self._call_lock.close()
            await self._tables.close()
            await self._consumers.close()
        finally:
            await self._client.close()

    def _started_table(self, table: TableSchema) -> TableSchema:
        """The table as passed to `start`; raises for one that was not."""
        schema = self._schemas.get(table.name)
        if schema is None:
            raise BadInput(f"The store has no table {table.name}. Pass it to start().")
        return schema

    async def get(self, read: GetItem, consumed: ConsumedCapacity | None = None) -> Row | None:
        """One item or None."""
        async with self._call_lock:
            self._started_table(read.table)
            return await read_calls.get(self._client, read, consumed)

    async def query(self, read: QueryItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a partition."""
        async with self._call_lock:
            self._check_index(read)
            return await read_calls.query(self._client, read, consumed)

    async def scan(self, read: ScanItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a table."""
        async with self._call_lock:
            self._check_index(read)
            return await read_calls.scan(self._client, read, consumed)

    def _check_index(self, read: QueryItems | ScanItems) -> None:
        table, index = self._started_table(read.table), read.index
        if index is not None and index.name not in {declared.name for declared in table.indexes}:
            raise BadInput(f"{table.name} has no index {index.name}. Declare it and start the store again.")

    async def batch_get(
        self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None
    ) -> list[Row | Literal["unprocessed"] | None]:
        """At most 100 items, read independently."""
        async with self._call_lock:
            for read in reads:
                self._started_table(read.table)
            return await read_calls.batch_get(self._client, reads, consumed)

    async def snapshot(self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None) -> list[Row | None]:
        """At most 100 items as they were at one moment."""
        async with self._call_lock:
            for read in reads:
                self._started_table(read.table)
            return await read_calls.snapshot(self._client, reads, consumed)

    async def write(self, write: Write, consumed: ConsumedCapacity | None = None) -> Written:
        """One conditional write; returns the old state of a delete and the new one of a put or update."""
        async with self._call_lock:
            self._started_table(write.table)
            written = await write_calls.write(self._client, write, consumed)
        self._consumers.notify(write.table)
        return written

    async def batch_write(
        self, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> list[PutItem | DeleteItem]:
        """At most 25 unconditional writes, each independent of the others."""
        async with self._call_lock:
            for write in writes:
                self._started_table(write.table)
            unprocessed = await write_calls.batch_write(self._client, writes, consumed)
        self._notify(writes)
        return unprocessed

    async def transact(
        self, writes: Sequence[TransactWrite], token: str | None = None, consumed: ConsumedCapacity | None = None
    ) -> None:
        """All or nothing; after a lost reply the call is repeated, so that the outcome is known."""
        async with self._call_lock:
            for write in writes:
                self._started_table(write.table)
            await self._transactions(writes, token, consumed)
        self._notify(writes)

    def _notify(self, writes: Sequence[TransactWrite]) -> None:
        """Have readers of this process that wait for a change read at once."""
        for table in {write.table.name: write.table for write in writes}.values():
            self._consumers.notify(table)

    async def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> list[RawChange]:
        """The oldest unacknowledged changes. A waiting call does not keep the store from closing."""
        async with self._call_lock:
            if self._started_table(table).stream is None:
                raise BadInput(f"{table.name} has no stream. Declare it with `stream=`.")
            if limit < 1 or not consumer:
                raise BadInput("Reading a stream needs a consumer and a limit of at least 1. Give both.")
        return await self._consumers.changes(table, consumer, limit, wait)

    async def acknowledge(self, table: TableSchema, consumer: str, position: str) -> None:
        """Move the consumer's checkpoint to this position."""
        async with self._call_lock:
            await self._consumers.acknowledge(self._started_table(table), consumer, position)

    async def forget(self, table: TableSchema, consumer: str) -> None:
        """Delete a consumer and its checkpoint."""
        async with self._call_lock:
            await self._consumers.forget(self._started_table(table), consumer)

    async def sweep(self, table: TableSchema, now: float, limit: int) -> int:  # noqa: ARG002 - the service decides
        """Nothing to do: the service deletes expired items within some days."""
        async with self._call_lock:
            self._started_table(table)
        return 0

    async def _descriptions(self) -> dict[str, TableDescription]:
        names = list(self._schemas)
        responses = await asyncio.gather(*(describe_table(self._client, name) for name in names))
        return {
            name: parse_description(response, None, None)
            for name, response in zip(names, responses, strict=True)
            if response is not None
        }

    async def index_states(self) -> list[IndexState]:
        """The state of every index."""
        async with self._call_lock:
            descriptions = await self._descriptions()
            return [state for name, table in descriptions.items() for state in table.index_states(self._schemas[name])]

    async def sizes(self) -> list[Size]:
        """Sizes as the service counted them some hours ago."""
        async with self._call_lock:
            descriptions = await self._descriptions()
            return [size for table in descriptions.values() for size in table.sizes]

    async def facts(self) -> dict[str, str]:
        """Endpoint and region, and how each table is protected."""
        async with self._call_lock:
            descriptions = await asyncio.gather(*(describe_settings(self._client, name) for name in self._schemas))
            facts = {
                "endpoint": self._client.endpoint or "Amazon DynamoDB",
                "region": self._client.region or "",
                "metadata table": self._metadata.name,
            }
            for name, table in zip(self._schemas, descriptions, strict=True):
                facts[name] = "missing" if table is None else _protection(table)
            facts |= {
                f"{name}, not as designed": " ".join(problems)
                for name, problems in self._tables.problems.items()
                if problems
            }
            return facts

    async def add_usage(self, usage: Sequence[Usage]) -> None:
        """Add to the sums per access pattern in the metadata table."""
        async with self._call_lock:
            await self._metadata.add_usage(usage)

    async def usage(self) -> list[Usage]:
        """The sums per access pattern in the metadata table."""
        async with self._call_lock:
            return await self._metadata.usage()

    async def backup(self, destination: str, progress: Progress | None = None) -> None:
        """Have the service make a backup of that name of every table."""
        async with self._call_lock:
            await self._backups.create(list(self._schemas.values()), destination, progress)

    async def restore(self, source: str, progress: Progress | None = None) -> None:
        """Replace every table by its backup of that name; calls that arrive during the restore wait."""
        async with self._call_lock.exclusive():
            await self._backups.restore(list(self._schemas.values()), source, progress)

    async def secret(self) -> bytes:
        """32 random bytes made once for this store."""
        async with self._call_lock:
            return await self._metadata.secret()


def _protection(table: TableDescription) -> str:
    if not table.recovery_offered:
        recovery = "no point-in-time recovery offered"
    else:
        recovery = f"point-in-time recovery {'on' if table.schema.recovery else 'off'}"
    protection = "protected" if table.schema.protected else "not protected"
    return f"{table.status.lower()}, {recovery}, {protection} against deletion"
