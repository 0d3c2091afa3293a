"""A backend that checks the grants of one function before it passes a call on.

It requires the permissions that AWS requires: a snapshot is a GetItem of each item, a transaction the single action of
each of its writes, a query of an index a Query of that index. Operations on the store as a whole are never granted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, TypeVar

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

if TYPE_CHECKING:
    from types import CoroutineType

    T = TypeVar("T")
    # A call of the inner backend, which is checked before it is made and awaited by the caller.
    Call: TypeAlias = CoroutineType[Any, Any, T]

_WRITE_ACTIONS: dict[type[TransactWrite], Action] = {
    PutItem: "PutItem",
    UpdateItem: "UpdateItem",
    DeleteItem: "DeleteItem",
    CheckItem: "ConditionCheckItem",
}


class RestrictedBackend:
    """A backend restricted to the grants of one function, by full table name.

    Closing it leaves the inner backend open.
    """

    def __init__(self, inner: Backend, function: str, grants: Mapping[str, Grant]) -> None:
        self._inner = inner
        self._function = function
        self._grants = dict(grants)
        self._closed = False

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities of the inner backend."""
        return self._inner.capabilities

    async def close(self) -> None:
        """End this handle; the inner backend stays open."""
        self._closed = True

    # Calls that a grant can permit

    def get(self, read: GetItem, consumed: ConsumedCapacity | None = None) -> Call[Row | None]:
        """Requires GetItem."""
        self._require("GetItem", read.table)
        return self._inner.get(read, consumed)

    def query(self, read: QueryItems, consumed: ConsumedCapacity | None = None) -> Call[Rows]:
        """Requires Query on the table or index."""
        self._require("Query", read.table, read.index)
        return self._inner.query(read, consumed)

    def scan(self, read: ScanItems, consumed: ConsumedCapacity | None = None) -> Call[Rows]:
        """Requires Scan on the table or index."""
        self._require("Scan", read.table, read.index)
        return self._inner.scan(read, consumed)

    def batch_get(
        self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None
    ) -> Call[list[Row | Literal["unprocessed"] | None]]:
        """Requires BatchGetItem on each table."""
        for read in reads:
            self._require("BatchGetItem", read.table)
        return self._inner.batch_get(reads, consumed)

    def snapshot(self, reads: Sequence[GetItem], consumed: ConsumedCapacity | None = None) -> Call[list[Row | None]]:
        """Requires GetItem on each table."""
        for read in reads:
            self._require("GetItem", read.table)
        return self._inner.snapshot(reads, consumed)

    def write(self, write: Write, consumed: ConsumedCapacity | None = None) -> Call[Written]:
        """Requires the action of the write."""
        self._require(_WRITE_ACTIONS[type(write)], write.table)
        return self._inner.write(write, consumed)

    def batch_write(
        self, writes: Sequence[PutItem | DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> Call[list[PutItem | DeleteItem]]:
        """Requires BatchWriteItem on each table."""
        for write in writes:
            self._require("BatchWriteItem", write.table)
        return self._inner.batch_write(writes, consumed)

    def transact(
        self, writes: Sequence[TransactWrite], token: str | None = None, consumed: ConsumedCapacity | None = None
    ) -> Call[None]:
        """Requires the action of each write."""
        for write in writes:
            self._require(_WRITE_ACTIONS[type(write)], write.table)
        return self._inner.transact(writes, token, consumed)

    def changes(self, table: TableSchema, consumer: str, limit: int, wait: float = 0) -> Call[list[RawChange]]:
        """Requires the stream actions."""
        self._require_stream(table)
        return self._inner.changes(table, consumer, limit, wait)

    def acknowledge(self, table: TableSchema, consumer: str, position: str) -> Call[None]:
        """Requires the stream actions."""
        self._require_stream(table)
        return self._inner.acknowledge(table, consumer, position)

    def forget(self, table: TableSchema, consumer: str) -> Call[None]:
        """Requires the stream actions."""
        self._require_stream(table)
        return self._inner.forget(table, consumer)

    # Operations on the whole store, which no grant permits

    async def start(self, tables: Sequence[TableSchema]) -> None:
        """Always raises `NotGranted`."""
        self._refuse("CreateTable", tables[0].name if tables else None)

    async def sweep(self, table: TableSchema, now: float, limit: int) -> int:  # noqa: ARG002 - always refused
        """Always raises `NotGranted`."""
        self._refuse("sweep", table.name)

    async def index_states(self) -> list[IndexState]:
        """Always raises `NotGranted`."""
        self._refuse("DescribeTable")

    async def sizes(self) -> list[Size]:
        """Always raises `NotGranted`."""
        self._refuse("DescribeTable")

    async def facts(self) -> dict[str, str]:
        """Always raises `NotGranted`."""
        self._refuse("DescribeTable")

    async def add_usage(self, usage: Sequence[Usage]) -> None:  # noqa: ARG002 - always refused
        """Always raises `NotGranted`."""
        self._refuse("add_usage")

    async def usage(self) -> list[Usage]:
        """Always raises `NotGranted`."""
        self._refuse("usage")

    async def backup(self, destination: str, progress: Progress | None = None) -> None:  # noqa: ARG002 - always refused
        """Always raises `NotGranted`."""
        self._refuse("CreateBackup")

    async def restore(self, source: str, progress: Progress | None = None) -> None:  # noqa: ARG002 - always refused
        """Always raises `NotGranted`."""
        self._refuse("RestoreTableFromBackup")

    async def secret(self) -> bytes:
        """Always raises `NotGranted`."""
        self._refuse("secret")

    def _require(self, action: Action, table: TableSchema, index: IndexSchema | None = None) -> None:
        if self._closed:
            raise StoreClosed(f"The handle of {self._function} is closed. Take a new one from the store.")
        grant = self._grants.get(table.name)
        if grant is None or not grant.allows(action, index):
            self._refuse(action, table.name, index)

    def _require_stream(self, table: TableSchema) -> None:
        for action in sorted(STREAM):
            self._require(action, table)

    def _refuse(self, action: str, table: str | None = None, index: IndexSchema | None = None) -> NoReturn:
        resource = "the store" if table is None else table if index is None else f"{table}/index/{index.name}"
        raise NotGranted(
            f"{self._function} has no right to {action} on {resource}. Nothing was done. "
            "Grant it in the permission matrix, or call a store that has the right.",
            function=self._function,
            action=action,
            table=table,
            index=None if index is None else index.name,
        )
