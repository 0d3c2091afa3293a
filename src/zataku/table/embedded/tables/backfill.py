"""Long changes to what lies in the file, a few items at a time between the groups: filling an index, moving a TTL.

From the moment an index is declared every write keeps it; the walk adds the items that were there before. How far it
came is committed with each portion, so it goes on after a restart.
"""

from zataku.table.backend.port import IndexState
from zataku.table.backend.values import unpack
from zataku.table.embedded import keys
from zataku.table.embedded.catalog import IndexPart, TablePart
from zataku.table.embedded.database import Database
from zataku.table.embedded.rows import expiry
from zataku.table.embedded.tables import definitions
from zataku.table.embedded.write_group import Group
from zataku.table.embedded.writer import Chore

PORTION = 100


class IndexWalk:
    """Fills one index."""

    def __init__(self, database: Database, part: TablePart, index: IndexPart) -> None:
        self._database = database
        self._part = part
        self._index = index
        self._done = index.state.done

    def portion(self, group: Group) -> bool:
        """Take in the next items; True when there are no more."""
        part, index = self._part, self._index
        row = group.row("SELECT walked FROM indexes WHERE number = ?", index.number)
        if row is None or row[0] is None:
            return True
        found = group.rows(
            f"SELECT id, pk, sk, item FROM {part.items} WHERE id > ? ORDER BY id LIMIT ?", row[0], PORTION
        )
        for row_id, pk, sk, packed in found:
            key = keys.of_index_if_fit(index.schema, unpack(packed))
            if key is not None:
                group.change(index.insert, *key, pk, sk, row_id)
        ended = len(found) < PORTION
        self._done += len(found)
        group.change(
            "UPDATE indexes SET walked = ?, done = ?, total = max(total, ?) WHERE number = ?",
            None if ended else found[-1][0],
            self._done,
            self._done,
            index.number,
        )
        return ended

    def committed(self, ended: bool) -> None:
        """Show how far it is; an index that is full can be read from now on."""
        state = self._index.state
        self._index.state = IndexState(state.table, state.index, "creating", self._done, max(state.total, self._done))
        if ended:
            self._database.catalog = definitions.load(self._database.connection)


class TtlWalk:
    """Reads the expiry of every item anew after the TTL attribute of its table has changed."""

    def __init__(self, database: Database, part: TablePart) -> None:
        self._database = database
        self._part = part

    def portion(self, group: Group) -> bool:
        """Look at the next items; True when there are no more."""
        part = self._part
        row = group.row("SELECT ttl_walked FROM tables WHERE number = ?", part.number)
        if row is None or row[0] is None:
            return True
        sql = f"SELECT id, expires, item FROM {part.items} WHERE id > ? ORDER BY id LIMIT ?"
        found = group.rows(sql, row[0], PORTION)
        for row_id, before, packed in found:
            now = expiry(part.schema.ttl, unpack(packed))
            if now != before:
                group.change(f"UPDATE {part.items} SET expires = ? WHERE id = ?", now, row_id)
        ended = len(found) < PORTION
        group.change("UPDATE tables SET ttl_walked = ? WHERE number = ?", None if ended else found[-1][0], part.number)
        return ended

    def committed(self, ended: bool) -> None:
        """Nothing is shown of it."""


def walks(database: Database) -> list[Chore]:
    """Everything that is not finished yet."""
    chores: list[Chore] = []
    for part in database.catalog.parts:
        chores += [IndexWalk(database, part, index) for index in part.indexes if index.state.status == "creating"]
        if part.ttl_walking:
            chores.append(TtlWalk(database, part))
    return chores
