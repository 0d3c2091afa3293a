"""Tables and indexes of an open store: their schemas, numbers in the file, and the SQL of reads and writes."""

from collections.abc import Iterable

from zataku.table.backend.errors import BadInput, IndexNotReady
from zataku.table.backend.port import IndexState
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.embedded.file import layout


class StoredIndex:
    """One index in the file. Only the progress of a backfill changes; any other change makes a new object."""

    __slots__ = ("delete", "entries", "insert", "number", "projected", "schema", "state")

    def __init__(self, table: TableSchema, schema: IndexSchema, number: int, state: IndexState) -> None:
        self.schema = schema
        # Attributes that the index returns, None for all. In the file an entry holds keys only and points at its item.
        self.projected = table.projected(schema)
        self.number = number
        self.state = state
        self.entries = layout.entries(number)
        # The row may exist: a backfill also reads items that a write has just put into the index.
        self.insert = f"INSERT OR REPLACE INTO {self.entries} (ipk, isk, pk, sk, id) VALUES (?, ?, ?, ?, ?)"
        self.delete = f"DELETE FROM {self.entries} WHERE ipk = ? AND isk = ? AND pk = ? AND sk = ?"


class StoredTable:
    """One table in the file."""

    __slots__ = (
        "delete",
        "has_expiry_backfill",
        "indexes",
        "insert",
        "insert_record",
        "items",
        "log",
        "number",
        "schema",
        "select_item",
        "select_row",
        "update",
    )

    def __init__(
        self, schema: TableSchema, number: int, indexes: tuple[StoredIndex, ...], has_expiry_backfill: bool
    ) -> None:
        self.schema = schema
        self.number = number
        self.indexes = indexes
        self.has_expiry_backfill = has_expiry_backfill
        self.items = items = layout.items(number)
        self.log = log = layout.log(number)
        self.select_item = f"SELECT item, size FROM {items} WHERE pk = ? AND sk = ?"
        self.select_row = f"SELECT id, item, size FROM {items} WHERE pk = ? AND sk = ?"
        self.insert = f"INSERT INTO {items} (pk, sk, size, expires, item) VALUES (?, ?, ?, ?, ?)"
        self.update = f"UPDATE {items} SET size = ?, expires = ?, item = ? WHERE id = ?"
        self.delete = f"DELETE FROM {items} WHERE id = ?"
        self.insert_record = f"INSERT INTO {log} (seq, at, kind, expired, keys, old, new) VALUES (?, ?, ?, ?, ?, ?, ?)"

    def ready_index(self, schema: IndexSchema) -> StoredIndex:
        """The index of that name; raises while it is being filled."""
        index = next((stored for stored in self.indexes if stored.schema.name == schema.name), None)
        if index is None:
            raise BadInput(f"{self.schema.name} has no index {schema.name}. Declare it and start the store again.")
        state = index.state
        if state.status != "active":
            raise IndexNotReady(
                f"{schema.name} of {self.schema.name} is being filled: {state.done} of {state.total} items. Try later.",
                index=schema.name,
            )
        return index


class Catalog(dict[str, StoredTable]):
    """All tables of a store by name. A schema change makes a new catalog."""

    __slots__ = ()

    def __init__(self, tables: Iterable[StoredTable] = ()) -> None:
        super().__init__({table.schema.name: table for table in tables})

    def __missing__(self, name: str) -> StoredTable:
        raise BadInput(f"The store has no table {name}. Pass it to start().")

    def index_states(self) -> list[IndexState]:
        """The backfill progress of every index."""
        return [index.state for table in self.values() for index in table.indexes]
