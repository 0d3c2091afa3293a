"""What SQLite's errors mean for a store, in words that say what to do."""

from pathlib import Path

import apsw

from zataku.table.backend.errors import StoreDamaged, StoreFull, TableError, Throttled

# Growing the shared-memory file of the log fails with its own code when the disk is full.
_FULL = {apsw.SQLITE_IOERR_SHMSIZE}


def is_full(error: BaseException) -> bool:
    """True when there was no room on the disk."""
    return isinstance(error, apsw.FullError) or getattr(error, "extendedresult", 0) in _FULL


def judged(error: apsw.Error, path: Path) -> TableError | None:
    """The error that callers see, or None when it says nothing of the file or disk."""
    if is_full(error):
        return StoreFull(
            f"The disk that holds {path} is full. Nothing of this call was written and all that was acknowledged is "
            "safe. Free some space and try again.",
            path=str(path),
        )
    if isinstance(error, apsw.CorruptError | apsw.NotADBError) or _extended(error) == apsw.SQLITE_IOERR_DATA:
        return damaged(path, f"is damaged ({_words(error)})")
    if isinstance(error, apsw.IOError | apsw.CantOpenError | apsw.ReadOnlyError):
        return damaged(path, f"cannot be read or written ({_words(error)})")
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return Throttled(f"Another program has locked {path}. Close it (a sqlite3 shell?) and try again.")
    return None


def damaged(path: Path, what: str) -> StoreDamaged:
    """The store refuses to go on with this file."""
    return StoreDamaged(
        f"{path} {what}. Nothing more is read or written. Check the disk, then restore a backup.", path=str(path)
    )


def _extended(error: apsw.Error) -> int:
    return getattr(error, "extendedresult", 0)


def _words(error: apsw.Error) -> str:
    if _extended(error) == apsw.SQLITE_IOERR_DATA:
        return "a page does not match its checksum"
    return str(error) or type(error).__name__
