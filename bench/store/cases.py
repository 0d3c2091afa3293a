"""The cases, and the work of one measurement, the same for every store."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

from msgspec import Struct

from bench.store.pinboard import BATCH, Note, Notes

CaseName = Literal["put", "update", "transaction", "get", "query", "index query", "batch write", "batch get"]


class Edit(Struct, frozen=True):
    """A new text for a note, on condition that its status is open."""

    board: str
    number: int
    body: str


class Pair(Struct, frozen=True):
    """A new note, on condition that there is none, together with one more like for another."""

    note: Note
    board: str
    number: int


class Case(Struct, frozen=True):
    """One thing to measure; `make` gives the work of one call."""

    name: CaseName
    title: str
    writes: bool
    make: Callable[[Notes], Any]


def _keys(notes: Notes) -> list[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    while len(found) < BATCH:
        found.add(notes.existing())
    return list(found)


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

# Carries out prepared calls by so many callers until there are none left or the deadline has passed; gives how many
# were answered.
Run = Callable[[int, float], Awaitable[int]]


class BenchmarkedStore(Protocol):
    """A store in the race."""

    name: str

    async def open(self) -> None:
        """Start from nothing; what fails to start leaves nothing running."""
        ...

    async def load(self, notes: list[Note]) -> None:
        """Take the first load."""
        ...

    async def page_of(self, board: str) -> list[str]:
        """The texts of the first 50 notes of a board, to show that every store holds the same."""
        ...

    def prepare(self, case: CaseName, work: list[Any]) -> Run:
        """Make whatever can be made beforehand for these calls, off the clock."""
        ...

    async def close(self) -> None:
        """Stop and let go of everything."""
        ...
