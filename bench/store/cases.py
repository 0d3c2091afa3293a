"""Cases of the comparison, and the interface of the stores that it measures."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

from msgspec import Struct

from bench.store.pinboard import BATCH, Note, Notes

CaseName = Literal["put", "update", "transaction", "get", "query", "index query", "batch write", "batch get"]


class Edit(Struct, frozen=True):
    """An update: a new text for a note, on condition that its status is open."""

    board: str
    number: int
    body: str


class Pair(Struct, frozen=True):
    """A transaction: a new note, on condition that it does not exist, and one more like for another."""

    note: Note
    board: str
    number: int


class Case(Struct, frozen=True):
    """A measured operation; `make` returns the input of one call."""

    name: CaseName
    title: str
    writes: bool
    make: Callable[[Notes], Any]


def _keys(notes: Notes) -> list[tuple[str, int]]:
    keys: set[tuple[str, int]] = set()
    while len(keys) < BATCH:
        keys.add(notes.existing())
    return list(keys)


CASES = (
    Case("put", "put", True, Notes.fresh),
    Case("update", "update with condition", True, lambda notes: Edit(*notes.existing(), notes.body())),
    Case("transaction", "2-item transaction", True, lambda notes: Pair(notes.fresh(), *notes.existing())),
    Case("batch write", "25-item batch write", True, lambda notes: [notes.fresh() for _ in range(BATCH)]),
    Case("get", "get", False, Notes.existing),
    Case("query", "50-item query, table", False, Notes.some_board),
    Case("index query", "50-item query, GSI", False, Notes.some_author),
    Case("batch get", "25-item batch get", False, _keys),
)

# Makes the prepared calls with a number of callers until none are left or the deadline has passed; returns the number
# of completed calls.
Run = Callable[[int, float], Awaitable[int]]


class BenchmarkedStore(Protocol):
    """A store that is measured."""

    name: str

    async def open(self) -> None:
        """Open an empty store; a failed start leaves nothing running."""
        ...

    async def load(self, notes: list[Note]) -> None:
        """Write the initial notes."""
        ...

    async def page_of(self, board: str) -> list[str]:
        """The texts of the first 50 notes of a board, to check that every store holds the same."""
        ...

    def prepare(self, case: CaseName, work: list[Any]) -> Run:
        """Prepare the calls before the measurement starts."""
        ...

    async def close(self) -> None:
        """Close the store."""
        ...
