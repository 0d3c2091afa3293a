"""The transaction that the writer has open: what it finds, changes and notes for the stream."""

from typing import Any, Final

from zataku.table.backend.condition_evaluation import equal
from zataku.table.backend.table_schema import IndexSchema
from zataku.table.backend.values import Item, pack, unpack
from zataku.table.embedded import keys
from zataku.table.embedded.catalog import Catalog, TablePart
from zataku.table.embedded.file.sqlite_types import Connection
from zataku.table.embedded.item_cache import Kept, Place
from zataku.table.embedded.rows import NewRow

INSERT, MODIFY, REMOVE = 0, 1, 2
_KEEPS_OLD: Final = {"OLD_IMAGE", "NEW_AND_OLD_IMAGES"}
_KEEPS_NEW: Final = {"NEW_IMAGE", "NEW_AND_OLD_IMAGES"}


class Found:
    """An item that lies in the file."""

    __slots__ = ("_item", "id", "packed", "size")

    def __init__(self, row_id: int, packed: bytes, size: int) -> None:
        self.id = row_id
        self.packed = packed
        self.size = size
        self._item: Item | None = None

    @property
    def item(self) -> Item:
        """The item itself; not to be changed."""
        if self._item is None:
            self._item = unpack(self.packed)
        return self._item

    def says_the_same_as(self, new: NewRow) -> bool:
        """True when the new item says what lies here, in whatever order its attributes stand."""
        if self.packed == new.packed:
            return True
        # The same content packs to the same length, so most differing items need no closer look.
        return len(self.packed) == len(new.packed) and equal(self.item, new.item)


class Group:
    """Writes that will be committed together. Each sees what those before it did.

    A call first decides everything and only then changes anything, so a call that is refused leaves nothing behind and
    no savepoint is needed.
    """

    def __init__(self, connection: Connection, catalog: Catalog, now: float, sequence: int) -> None:
        self.connection = connection
        self.cursor = connection.cursor()
        self.catalog = catalog
        self.now = now
        self.sequence = sequence
        self.changed = False
        # The new state of every item that changes, None for one that goes.
        self.states: dict[Place, Kept | None] = {}
        self.streams: dict[int, tuple[TablePart, list[tuple[Any, ...]]]] = {}

    def row(self, sql: str, *bindings: Any) -> tuple[Any, ...] | None:
        """The first row of a query, or None."""
        return next(iter(self.cursor.execute(sql, bindings).fetchall()), None)

    def rows(self, sql: str, *bindings: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self.cursor.execute(sql, bindings).fetchall()

    def change(self, sql: str, *bindings: Any) -> None:
        """A change outside the items."""
        self.cursor.execute(sql, bindings)
        self.changed = True

    def look(self, part: TablePart, pk: bytes, sk: bytes) -> Found | None:
        """What lies under a key."""
        rows: list[tuple[Any, ...]] = self.cursor.execute(part.look, (pk, sk)).fetchall()
        return Found(*rows[0]) if rows else None

    def store(self, part: TablePart, old: Found | None, new: NewRow) -> bool:
        """Put an item in the place of what was found there; False when it says the same."""
        execute = self.cursor.execute
        if old is None:
            execute(part.insert, (new.pk, new.sk, new.size, new.expires, new.packed))
            row_id = self.connection.last_insert_rowid()
            for index, key in zip(part.indexes, new.index_keys, strict=True):
                if key is not None:
                    execute(index.insert, (*key, new.pk, new.sk, row_id))
        elif old.says_the_same_as(new):
            return False
        else:
            execute(part.update, (new.size, new.expires, new.packed, old.id))
            self._reindex(part, old, new)
        self.changed = True
        self.states[part.schema.name, new.pk, new.sk] = (new.packed, new.size)
        if part.schema.stream is not None:
            self._note(part, INSERT if old is None else MODIFY, old, new, False)
        return True

    def _reindex(self, part: TablePart, old: Found, new: NewRow) -> None:
        for index, key in zip(part.indexes, new.index_keys, strict=True):
            if index.state.status == "active" and unmoved(index.schema, old.item, new.item):
                continue
            before = keys.of_index_if_fit(index.schema, old.item)
            if before != key:
                if before is not None:
                    self.cursor.execute(index.delete, (*before, new.pk, new.sk))
                if key is not None:
                    self.cursor.execute(index.insert, (*key, new.pk, new.sk, old.id))
            elif key is not None and index.state.status != "active":
                # An index being filled may not have met this item yet; the item stays as it is for the walk.
                self.cursor.execute(index.insert, (*key, new.pk, new.sk, old.id))

    def remove(self, part: TablePart, pk: bytes, sk: bytes, old: Found, expired: bool = False) -> None:
        """Take a found item away."""
        self.cursor.execute(part.delete, (old.id,))
        for index in part.indexes:
            key = keys.of_index_if_fit(index.schema, old.item)
            if key is not None:
                self.cursor.execute(index.delete, (*key, pk, sk))
        self.changed = True
        self.states[part.schema.name, pk, sk] = None
        if part.schema.stream is not None:
            self._note(part, REMOVE, old, None, expired)

    def _note(self, part: TablePart, kind: int, old: Found | None, new: NewRow | None, expired: bool) -> None:
        view = part.schema.stream
        before = old.packed if old is not None and view in _KEEPS_OLD else None
        after = new.packed if new is not None and view in _KEEPS_NEW else None
        own = None
        if before is None and after is None:
            item = new.item if new is not None else old.item if old is not None else {}
            own = pack({key.name: item[key.name] for key in part.schema.keys})
        self.sequence += 1
        record = (self.sequence, self.now, kind, expired, own, before, after)
        stream = self.streams.get(part.number)
        if stream is None:
            self.streams[part.number] = (part, [record])
        else:
            stream[1].append(record)

    def finish(self) -> None:
        """Write what was noted for the streams; the last thing before the commit."""
        for part, records in self.streams.values():
            self.cursor.executemany(part.log_insert, records)


def unmoved(index: IndexSchema, old: Item, new: Item) -> bool:
    """True when the key attributes of an index say the same before and after: most updates touch no index."""
    for key in index.keys:
        before, after = old.get(key.name), new.get(key.name)
        # True equals 1 in Python, but only one of them can be a key.
        if type(before) is not type(after) or before != after:
            return False
    return True
