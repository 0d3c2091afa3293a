"""What a running store knows of its tables: their numbers in the file and the SQL that serves them."""

from collections.abc import Iterable

from zataku.table.backend.errors import BadInput, IndexNotReady
from zataku.table.backend.port import IndexState
from zataku.table.backend.table_schema import IndexSchema, TableSchema
from zataku.table.embedded.file import layout


class IndexPart:
    """One index as it lies in the file. Only the count of a filling index moves; all else is a new part."""

    __slots__ = ("delete", "entries", "held", "insert", "number", "schema", "state")

    def __init__(self, table: TableSchema, schema: IndexSchema, number: int, state: IndexState) -> None:
        self.schema = schema
        # What an entry holds by its projection, None for all; in the file it only points at its item.
        self.held = table.projected(schema)
        self.number = number
        self.state = state
        self.entries = layout.entries(number)
        # A row may be there already: the walk that fills a new index meets items which a write has just put in.
        self.insert = f"INSERT OR REPLACE INTO {self.entries} (ipk, isk, pk, sk, id) VALUES (?, ?, ?, ?, ?)"
        self.delete = f"DELETE FROM {self.entries} WHERE ipk = ? AND isk = ? AND pk = ? AND sk = ?"


class TablePart:
    """One table as it lies in the file."""

    __slots__ = (
        "delete",
        "get",
        "indexes",
        "insert",
        "items",
        "log",
        "log_insert",
        "look",
        "number",
        "schema",
        "ttl_walking",
        "update",
    )

    def __init__(self, schema: TableSchema, number: int, indexes: tuple[IndexPart, ...], ttl_walking: bool) -> None:
        self.schema = schema
        self.number = number
        self.indexes = indexes
        self.ttl_walking = ttl_walking
        self.items = items = layout.items(number)
        self.log = log = layout.log(number)
        self.get = f"SELECT item, size FROM {items} WHERE pk = ? AND sk = ?"
        self.look = f"SELECT id, item, size FROM {items} WHERE pk = ? AND sk = ?"
        self.insert = f"INSERT INTO {items} (pk, sk, size, expires, item) VALUES (?, ?, ?, ?, ?)"
        self.update = f"UPDATE {items} SET size = ?, expires = ?, item = ? WHERE id = ?"
        self.delete = f"DELETE FROM {items} WHERE id = ?"
        self.log_insert = f"INSERT INTO {log} (seq, at, kind, expired, keys, old, new) VALUES (?, ?, ?, ?, ?, ?, ?)"

    def index(self, schema: IndexSchema) -> IndexPart:
        """The part of an index, whatever state it is in."""
        for part in self.indexes:
            if part.schema.name == schema.name:
                return part
        raise BadInput(f"{self.schema.name} has no index {schema.name}. Declare it and start the store again.")

    def ready_index(self, schema: IndexSchema) -> IndexPart:
        """The part of an index that can be read."""
        part = self.index(schema)
        state = part.state
        if state.status != "active":
            raise IndexNotReady(
                f"{schema.name} of {self.schema.name} is being filled: {state.done} of {state.total} items. Try later.",
                index=schema.name,
            )
        return part


class Catalog:
    """All tables of a store at one moment. A change makes a new catalog."""

    __slots__ = ("_parts",)

    def __init__(self, parts: Iterable[TablePart] = ()) -> None:
        self._parts = {part.schema.name: part for part in parts}

    @property
    def parts(self) -> list[TablePart]:
        """Every table."""
        return list(self._parts.values())

    def part(self, name: str) -> TablePart:
        """The table of that name."""
        part = self._parts.get(name)
        if part is None:
            raise BadInput(f"The store has no table {name}. Pass it to start().")
        return part

    def states(self) -> list[IndexState]:
        """How far every index is."""
        return [index.state for part in self._parts.values() for index in part.indexes]
