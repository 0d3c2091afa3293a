"""Change records of a table for named consumers."""

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from zataku.table.backend.port import RawChange, Row
from zataku.table.backend.values import KeyValue
from zataku.table.schema.entity import Entity

if TYPE_CHECKING:
    from zataku.table.schema.table import Table
    from zataku.table.store.store import Store


class Change(Struct, frozen=True):
    """One change of an item: its key attributes, and its states before and after as far as the stream holds them."""

    kind: Literal["INSERT", "MODIFY", "REMOVE"]
    at: float
    old: Entity | None
    new: Entity | None
    expired: bool
    position: str
    keys: dict[str, KeyValue]


class Stream:
    """The change stream of a table as seen by a named consumer."""

    def __init__(self, store: "Store", table: "Table", consumer: str) -> None:
        self._store = store
        self._table = table
        self._consumer = consumer

    async def read(self, limit: int = 100, wait: float = 0) -> list[Change]:
        """The next unacknowledged changes, waiting up to `wait` seconds for the first.

        Without an acknowledgement the next read returns the same changes; any change may be delivered more than once.
        """
        store = self._store
        schema = store.schema(self._table)
        changes = await store.retry(lambda: store.backend.changes(schema, self._consumer, limit, wait))
        return [self._change(raw) for raw in changes]

    async def acknowledge(self, change: Change) -> None:
        """Mark this change and all before it as processed."""
        store = self._store
        schema = store.schema(self._table)
        await store.retry(lambda: store.backend.acknowledge(schema, self._consumer, change.position), repeatable=True)

    async def forget(self) -> None:
        """Delete the consumer and its checkpoint; the store retains no changes for it."""
        await self._store.backend.forget(self._store.schema(self._table), self._consumer)

    def _change(self, raw: RawChange) -> Change:
        return Change(
            raw.kind, raw.at, self._entity(raw.old), self._entity(raw.new), raw.expired, raw.position, raw.keys
        )

    def _entity(self, row: Row | None) -> Entity | None:
        return None if row is None else self._store.decode_row(self._table, row)
