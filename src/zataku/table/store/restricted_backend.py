"""A backend that refuses what its caller has no right to, before anything reaches the store behind it.

It asks for the same rights as AWS does: a snapshot is a GetItem of each item, a transaction the single action of each
of its writes, a query of an index a Query of that index. Work on the store as a whole is for its owner.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NoReturn

from zataku.table.backend.cost import ConsumedCapacity, Usage
from zataku.table.backend.errors import NotGranted, StoreClosed
from zataku.table.backend.port import (
    Backend,
    Capability,
    CheckItem,
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
    UpdateItem,
    Write,
    Written,
)
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.store.permissions import STREAM, Action, Grant

_WRITES: dict[type[TransactWrite], Action] = {
    PutItem: "PutItem",
    UpdateItem: "UpdateItem",
    DeleteItem: "DeleteItem",
    CheckItem: "ConditionCheckItem",
}


class RestrictedBackend:
    """Another backend, seen by one function; `grants` are by the full names of the tables.

    Closing it closes this view only.
    """

    def __init__(self, inner: Backend, function: str, grants: Mapping[str, Grant]) -> None:
        self._inner = inner
        self._function = function
        self._grants = dict(grants)
        self._closed = False

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the store can do, for those who may."""
        return self._inner.capabilities

    async def close(self) -> None:
        """Let go of the view; its owner goes on with the store."""
        self._closed = True

    # What a grant can allow

    async def get(self, read: GetItem, consumed: ConsumedCapacity | None = None) -> Row | None:
        """One item, by the right to GetItem."""
        self._demand("GetItem", read.table)
        return await self._inner.get(read, consumed)

    async def query(self, read: QueryItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a partition, by the right to Query that table or index."""
        self._demand("Query", read.table, read.index)
        return await self._inner.query(read, consumed)

    async def scan(self, read: ScanItems, consumed: ConsumedCapacity | None = None) -> Rows:
        """One page of a table, by the right to Scan that table or index."""
        self._demand("Scan", read.table, read.index)
        return await self._inner.scan(read, consumed)

    async def batch_get(
        self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None
    ) -> list[Row | Literal["unprocessed"] | None]:
        """Many items, by the right to BatchGetItem on each table."""
        for read in reads:
            self._demand("BatchGetItem", read.table)
        return await self._inner.batch_get(reads, consumed)

    async def snapshot(self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None) -> list[Row | None]:
        """Items of one moment, by the right to GetItem on each table."""
        for read in reads:
            self._demand("GetItem", read.table)
        return await self._inner.snapshot(reads, consumed)

    async def write(self, write: Write, consumed: ConsumedCapacity | None = None) -> Written:
        """One write, by the right to its action."""
        self._demand(_WRITES[type(write)], write.table)
        return await self._inner.write(write, consumed)

    async def batch_write(
        self, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> list[PutItem | DeleteItem]:
        """Many writes, by the right to BatchWriteItem on each table."""
        for write in writes:
            self._demand("BatchWriteItem", write.table)
        return await self._inner.batch_write(writes, consumed)

    async def transact(
        self, writes: Sequence[TransactWrite], token: str | None = None, consumed: ConsumedCapacity | None = None
    ) -> None:
        """A transaction, by the right to the action of each of its writes."""
        for write in writes:
            self._demand(_WRITES[type(write)], write.table)
        await self._inner.transact(writes, token, consumed)

    async def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> list[RawChange]:
        """Changes of a table, by the right to its stream."""
        self._demand_stream(table)
        return await self._inner.changes(table, consumer, limit, wait)

    async def acknowledge(self, table: TableSchema, consumer: str, position: str) -> None:
        """A checkpoint, by the right to the stream."""
        self._demand_stream(table)
        await self._inner.acknowledge(table, consumer, position)

    async def forget(self, table: TableSchema, consumer: str) -> None:
        """The end of a consumer, by the right to the stream."""
        self._demand_stream(table)
        await self._inner.forget(table, consumer)

    # What is the owner's

    async def start(self, tables: Sequence[TableSchema]) -> None:
        """Refused: tables are made by the owner."""
        self._refuse("CreateTable", tables[0].name if tables else None)

    async def sweep(self, table: TableSchema, now: float, limit: int) -> int:  # noqa: ARG002 - refused unseen
        """Refused: expiry is the owner's work."""
        self._refuse("sweep", table.name)

    async def index_states(self) -> list[IndexState]:
        """Refused: the state of the store is the owner's to see."""
        self._refuse("DescribeTable")

    async def sizes(self) -> list[Size]:
        """Refused: the state of the store is the owner's to see."""
        self._refuse("DescribeTable")

    async def facts(self) -> dict[str, str]:
        """Refused: the state of the store is the owner's to see."""
        self._refuse("DescribeTable")

    async def add_usage(self, usage: Sequence[Usage]) -> None:  # noqa: ARG002 - refused unseen
        """Refused: the owner keeps the sums."""
        self._refuse("add_usage")

    async def usage(self) -> list[Usage]:
        """Refused: the owner keeps the sums."""
        self._refuse("usage")

    async def backup(self, destination: str, progress: Progress | None = None) -> None:  # noqa: ARG002 - refused unseen
        """Refused: backups are the owner's."""
        self._refuse("CreateBackup")

    async def restore(self, source: str, progress: Progress | None = None) -> None:  # noqa: ARG002 - refused unseen
        """Refused: backups are the owner's."""
        self._refuse("RestoreTableFromBackup")

    async def secret(self) -> bytes:
        """Refused: the secret would let its holder make cursors of any query."""
        self._refuse("secret")

    def _demand(self, action: Action, table: TableSchema, index: IndexSchema | None = None) -> None:
        if self._closed:
            raise StoreClosed(f"The handle of {self._function} is closed. Take a new one from the store.")
        grant = self._grants.get(table.name)
        if grant is None or not grant.allows(action, index):
            self._refuse(action, table.name, index)

    def _demand_stream(self, table: TableSchema) -> None:
        for action in sorted(STREAM):
            self._demand(action, table)

    def _refuse(self, action: str, table: str | None = None, index: IndexSchema | None = None) -> NoReturn:
        where = "the store" if table is None else table if index is None else f"{table}/index/{index.name}"
        raise NotGranted(
            f"{self._function} has no right to {action} on {where}. Nothing was done. "
            "Grant it in the permission matrix, or do it where the right is.",
            function=self._function,
            action=action,
            table=table,
            index=None if index is None else index.name,
        )
