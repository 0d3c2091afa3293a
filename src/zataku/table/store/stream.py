"""Change records of a table for named consumers."""

from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from zataku.table.backend.errors import UnreadableItem
from zataku.table.backend.port import RawChange, Row
from zataku.table.backend.values import Item, KeyValue, unpack_row
from zataku.table.schema.entity import Entity
from zataku.table.store.row_readers import item_or_problem

if TYPE_CHECKING:
    from zataku.table.schema.table import Table
    from zataku.table.store.store import Store


class Change(Struct, frozen=True):
    """One change of an item: its key attributes, and its states before and after as far as the stream holds them.

    Where a state does not fit its entity, `problem` says why. That state is None, and `raw_old` and `raw_new` are the
    states as they are stored.
    """

    kind: Literal["INSERT", "MODIFY", "REMOVE"]
    at: float
    old: Entity | None
    new: Entity | None
    expired: bool
    position: str
    keys: dict[str, KeyValue]
    problem: str | None = None
    raw_old: Item | None = None
    raw_new: Item | None = None


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
        (old, old_problem), (new, new_problem) = self._entity(raw.old), self._entity(raw.new)
        change = Change(raw.kind, raw.at, old, new, raw.expired, raw.position, raw.keys)
        problem = new_problem or old_problem
        if problem is None:
            return change
        images = [None if row is None else unpack_row(row) for row in (raw.old, raw.new)]
        return replace(change, problem=problem, raw_old=images[0], raw_new=images[1])

    def _entity(self, row: Row | None) -> tuple[Entity | None, str | None]:
        """The entity of a row and the problem with it, of which one is None."""
        current = item_or_problem(self._table, row)
        return (None, current.reason) if isinstance(current, UnreadableItem) else (current, None)
