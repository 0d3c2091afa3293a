"""The part of apsw that the store uses, as types.

apsw's own stubs name a type that Python 3.11 lacks, which leaves most of its signatures unknown to a checker.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol


class Cursor(Protocol):
    """Runs statements and returns their rows."""

    def execute(self, statements: str, bindings: Sequence[Any] | None = None) -> "Cursor":
        """Run statements."""
        ...

    def executemany(self, statements: str, sequenceofbindings: Iterable[Sequence[Any]]) -> "Cursor":
        """Run a statement once for each of the bindings."""
        ...

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All remaining rows."""
        ...

    def close(self, force: bool = False) -> None:
        """Close the cursor, even before its last row."""
        ...

    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...

    @property
    def get(self) -> Any:
        """The only value of the only row."""
        ...


class DatabaseCopy(Protocol):
    """A copy of a database in progress."""

    @property
    def done(self) -> bool:
        """True when all pages are copied."""
        ...

    @property
    def page_count(self) -> int:
        """Number of pages."""
        ...

    @property
    def remaining(self) -> int:
        """Pages that are not copied yet."""
        ...

    def step(self, npages: int = -1) -> bool:
        """Copy some pages."""
        ...

    def __enter__(self) -> "DatabaseCopy": ...

    def __exit__(
        self, etype: type[BaseException] | None, evalue: BaseException | None, etraceback: TracebackType | None, /
    ) -> bool | None: ...


class Connection(Protocol):
    """An open database."""

    @property
    def in_transaction(self) -> bool:
        """True between BEGIN and its end."""
        ...

    @property
    def system_errno(self) -> int:
        """What the system said of the last failed read or write."""
        ...

    def cursor(self) -> Cursor:
        """A new cursor."""
        ...

    def execute(self, statements: str, bindings: Sequence[Any] | None = None) -> Cursor:
        """Run statements on a cursor of their own."""
        ...

    def pragma(self, name: str, value: Any = None) -> Any:
        """Read or set a pragma."""
        ...

    def last_insert_rowid(self) -> int:
        """The id of the row inserted last."""
        ...

    def reserve_bytes(self, schema: str | None = None, reserve: int = -1) -> int:
        """Read or set how many bytes at the end of a page are left alone."""
        ...

    def config(self, op: int, *args: int) -> int:
        """Change a setting of the connection."""
        ...

    def set_busy_timeout(self, milliseconds: int) -> None:
        """How long to wait for a lock."""
        ...

    def set_wal_hook(self, callable: Callable[[Any, str, int], int] | None) -> None:  # noqa: A002 - apsw's name
        """Register a callback that gets the log's length after each commit."""
        ...

    def wal_checkpoint(self, dbname: str | None = None, mode: int = 0) -> tuple[int, int]:
        """Move the write-ahead log into the file."""
        ...

    def backup(self, databasename: str, sourceconnection: Any, sourcedatabasename: str) -> DatabaseCopy:
        """Start a copy from another database into this one."""
        ...

    def close(self, force: bool = False) -> None:
        """Close the database."""
        ...

    def __enter__(self) -> "Connection": ...

    def __exit__(
        self, etype: type[BaseException] | None, evalue: BaseException | None, etraceback: TracebackType | None, /
    ) -> bool | None: ...
