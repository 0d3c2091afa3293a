"""Tables, and a client with short calls, for the tests of the embedded backend."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zataku.table.backend import port as port
from zataku.table.backend.table_schema import KEYS_ONLY, IndexSchema, KeyAttribute, TableSchema, include
from zataku.table.backend.values import Item, unpack_row
from zataku.table.embedded import EmbeddedBackend

BY_STATUS = IndexSchema("by_status", KeyAttribute("status"), KeyAttribute("at", "N"))
BY_NAME = IndexSchema("by_name", KeyAttribute("name"), projection=KEYS_ONLY)
BY_SCORE = IndexSchema("by_score", KeyAttribute("PK"), KeyAttribute("score", "N"), include("name"), local=True)
GAMES = TableSchema(
    "Games",
    KeyAttribute("PK"),
    KeyAttribute("SK"),
    (BY_STATUS, BY_NAME, BY_SCORE),
    ttl="expires",
    stream="NEW_AND_OLD_IMAGES",
)
PLAIN = TableSchema("Plain", KeyAttribute("PK"), KeyAttribute("SK"))
NUMBERED = TableSchema("Numbered", KeyAttribute("id", "N"), KeyAttribute("at", "N"))
SINGLE = TableSchema("Single", KeyAttribute("id", "B"))


def game(pk: str, sk: str = "META", **attributes: Any) -> Item:
    return {"PK": pk, "SK": sk, **attributes}


class TableClient:
    """Calls of the backend on one table."""

    def __init__(self, store: EmbeddedBackend, table: TableSchema = PLAIN) -> None:
        self.store = store
        self.table = table

    async def put(self, item: Item, condition: Any = None) -> port.Written:
        return await self.store.write(port.PutItem(self.table, item, condition))

    async def update(self, pk: Any, sk: Any, *actions: Any, condition: Any = None) -> port.Written:
        return await self.store.write(port.UpdateItem(self.table, (pk, sk), actions, condition))

    async def delete(self, pk: Any, sk: Any = "META", condition: Any = None) -> port.Written:
        return await self.store.write(port.DeleteItem(self.table, (pk, sk), condition))

    async def get(self, pk: Any, sk: Any = "META", **options: Any) -> Item | None:
        return unpacked(await self.store.get(port.GetItem(self.table, (pk, sk), **options)))

    async def query(self, pk: Any, **options: Any) -> list[Item]:
        return items(await self.store.query(port.QueryItems(self.table, pk, **options)))

    async def page(self, pk: Any, **options: Any) -> port.Rows:
        return await self.store.query(port.QueryItems(self.table, pk, **options))

    async def scan_all(self, **options: Any) -> list[Item]:
        scanned: list[Item] = []
        start = None
        while True:
            page = await self.store.scan(port.ScanItems(self.table, start=start, **options))
            scanned += items(page)
            start = page.resume
            if start is None:
                return scanned

    async def read_changes(self, consumer: str = "c", limit: int = 1000) -> list[port.RawChange]:
        return await self.store.changes(self.table, consumer, limit)


def unpacked(row: port.Row | None) -> Item | None:
    return unpack_row(row)


def items(page: port.Rows) -> list[Item]:
    return [unpacked(row) or {} for row in page.rows]


async def open_store(
    path: Path, tables: Sequence[TableSchema] = (GAMES, PLAIN, NUMBERED, SINGLE), **options: Any
) -> EmbeddedBackend:
    store = EmbeddedBackend(path, **options)
    await store.start(tables)
    return store


async def wait_for_index(store: EmbeddedBackend, name: str) -> None:
    """Wait until the index is filled. The writer fills the next part between two of its calls."""
    while any(state.index == name and state.status != "active" for state in await store.index_states()):
        await store.sweep(PLAIN, 0, limit=0)
