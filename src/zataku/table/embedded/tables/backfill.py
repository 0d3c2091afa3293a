"""Backfill of a new index, a portion at a time between batches.

From the moment an index is declared every write maintains it; the backfill adds the items that existed before. Its
progress is committed with each portion, so it continues after a restart.
"""

from zataku.table.backend.port import IndexState
from zataku.table.backend.values import unpack
from zataku.table.embedded.catalog import StoredIndex, StoredTable
from zataku.table.embedded.database import Database
from zataku.table.embedded.rows import index_key_if_valid
from zataku.table.embedded.tables.definitions import load_catalog
from zataku.table.embedded.tables.expiry import ExpiryBackfill
from zataku.table.embedded.writer import BackgroundTask, WriteGroup

PORTION_ITEMS = 100


class IndexBackfill:
    """Adds the existing items of a table to one index."""

    def __init__(self, database: Database, table: StoredTable, index: StoredIndex) -> None:
        self._database = database
        self._table = table
        self._index = index
        self._done = index.state.done

    def run_portion(self, group: WriteGroup) -> bool:
        """Add the next items; True when there are no more."""
        table, index = self._table, self._index
        row = group.fetch_one("SELECT walked FROM indexes WHERE number = ?", index.number)
        if row is None or row[0] is None:
            return True
        rows = group.fetch_all(
            f"SELECT id, pk, sk, item FROM {table.items} WHERE id > ? ORDER BY id LIMIT ?", row[0], PORTION_ITEMS
        )
        for row_id, pk, sk, packed in rows:
            key = index_key_if_valid(index.schema, unpack(packed))
            if key is not None:
                group.execute(index.insert, *key, pk, sk, row_id)
        is_done = len(rows) < PORTION_ITEMS
        self._done += len(rows)
        group.execute(
            "UPDATE indexes SET walked = ?, done = ?, total = max(total, ?) WHERE number = ?",
            None if is_done else rows[-1][0],
            self._done,
            self._done,
            index.number,
        )
        return is_done

    def portion_committed(self, is_done: bool) -> None:
        """Publish the progress; a complete index can be read from now on."""
        state = self._index.state
        self._index.state = IndexState(state.table, state.index, "creating", self._done, max(state.total, self._done))
        if is_done:
            self._database.catalog = load_catalog(self._database.connection)


def pending_backfills(database: Database) -> list[BackgroundTask]:
    """A task for every backfill that is not complete."""
    tasks: list[BackgroundTask] = []
    for table in database.catalog.values():
        tasks += [IndexBackfill(database, table, index) for index in table.indexes if index.state.status == "creating"]
        if table.has_expiry_backfill:
            tasks.append(ExpiryBackfill(table))
    return tasks
