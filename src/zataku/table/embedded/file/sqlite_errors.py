"""SQLite's errors as errors of a store that say what to do."""

import errno
from pathlib import Path

import apsw

from zataku.table.backend.errors import StoreDamaged, StoreFull, TableError, Throttled


def is_full(error: BaseException) -> bool:
    """True when the disk was full."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    # Growing the shared-memory file of the log fails with a code of its own.
    return isinstance(error, apsw.FullError) or _extended_code(error) == apsw.SQLITE_IOERR_SHMSIZE


def is_failed_write(error: BaseException) -> bool:
    """True when the system refused a write."""
    return _extended_code(error) == apsw.SQLITE_IOERR_WRITE


def table_error(error: apsw.Error, path: Path) -> TableError | None:
    """The error that callers get, or None when it does not concern the file or disk."""
    if is_full(error):
        return full(path)
    if isinstance(error, apsw.CorruptError | apsw.NotADBError) or _is_checksum_error(error) or _is_foreign(error):
        return damaged(path, f"is damaged ({_message(error)})")
    if isinstance(error, apsw.IOError | apsw.CantOpenError | apsw.ReadOnlyError):
        return damaged(path, f"cannot be read or written ({_message(error)})")
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return Throttled(f"Another program has locked {path}. Close it (a sqlite3 shell?) and try again.")
    return None


def full(path: Path) -> StoreFull:
    """The error of a full disk, after which the store continues."""
    return StoreFull(
        f"The disk that holds {path} is full. Nothing of this call was written and all that was acknowledged is "
        "safe. Free some space and try again.",
        path=str(path),
    )


def damaged(path: Path, problem: str) -> StoreDamaged:
    """The error of a damaged file, which the store stops using."""
    return StoreDamaged(
        f"{path} {problem}. Nothing more is read or written. Check the disk, then restore a backup.",
        path=str(path),
        problem=problem,
    )


def _is_checksum_error(error: apsw.Error) -> bool:
    return _extended_code(error) == apsw.SQLITE_IOERR_DATA


def _is_foreign(error: apsw.Error) -> bool:
    # The only error of a header that has no code of its own.
    return isinstance(error, apsw.SQLError) and str(error) == "unsupported file format"


def _extended_code(error: BaseException) -> int:
    # apsw sets the attribute only on errors that come from SQLite itself.
    return getattr(error, "extendedresult", 0)


def _message(error: apsw.Error) -> str:
    if _is_checksum_error(error):
        return "a page does not match its checksum"
    return str(error) or type(error).__name__
