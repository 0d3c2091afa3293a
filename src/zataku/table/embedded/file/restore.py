"""Restore of a store from a backup. At every moment the path holds either the old store or the new one, complete.

The copy is made and verified next to the store while it is in use. The swap itself is one rename; the replaced store
stays as `<path>.before-restore` until the next restore.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import apsw

from zataku.table.backend.errors import BadInput, StoreDamaged, StoreFull
from zataku.table.backend.table_schema import TableSchema
from zataku.table.embedded.database import CommitMark
from zataku.table.embedded.file.backup import check_pages, copy_pages, remove_files, sync_to_disk, verify
from zataku.table.embedded.file.connection import connect, register_checksums
from zataku.table.embedded.file.lock import FileLock
from zataku.table.embedded.file.sqlite_errors import is_full, table_error
from zataku.table.embedded.tables.definitions import check_compatible, load_catalog


def replaced_path(path: Path) -> Path:
    """Where the store that a restore replaced is kept."""
    return path.with_name(f"{path.name}.before-restore")


def _copy_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.restoring")


def remove_unfinished_copy(path: Path) -> None:
    """Delete the copy of a restore that stopped before the swap."""
    remove_files(_copy_path(path))


def copy_backup(source: Path, path: Path, tables: Sequence[TableSchema], report: Callable[[int, int], None]) -> Path:
    """A verified copy of the backup next to the store; a damaged or incompatible backup is refused."""
    if not source.is_file():
        raise BadInput(f"There is no backup {source}. Check the path.")
    if source.resolve() == path.resolve():
        raise BadInput("A store cannot be restored from itself. Name a backup.")
    copy = _copy_path(path)
    remove_files(copy)
    try:
        connection = connect(source, writable=False)
        try:
            check_pages(connection, source)
            check_compatible(load_catalog(connection), tables)
            copy_pages(connection, copy, report, Event())
        finally:
            connection.close()
        verify(copy)
    except apsw.Error as error:
        remove_files(copy)
        raise _copy_error(source, copy, error) from error
    except StoreDamaged as error:
        remove_files(copy)
        raise _damaged_backup(source, str(error.details["problem"])) from error
    except BaseException:
        remove_files(copy)
        raise
    return copy


def _copy_error(source: Path, copy: Path, error: apsw.Error) -> BaseException:
    if is_full(error):
        return StoreFull(f"The disk is too full for {copy}. The store was not touched. Free some space.")
    translated = table_error(error, source)
    if isinstance(translated, StoreDamaged):
        return _damaged_backup(source, f"is damaged ({error})")
    return error if translated is None else translated


def _damaged_backup(source: Path, problem: str) -> StoreDamaged:
    return StoreDamaged(f"The backup {source} {problem}. The store was not touched. Take another one.")


def advance_commits(copy: Path, commits: int) -> None:
    """Count the restore as a commit after all acknowledged ones, so that the commit mark does not call it outdated."""
    connection = connect(copy, writable=True)
    try:
        connection.pragma("synchronous", "full")
        connection.execute("UPDATE state SET commits = max(commits, ?) + 1", (commits,))
    finally:
        connection.close()
    sync_to_disk(copy)


def swap_in(copy: Path, path: Path) -> None:
    """Put the copy in the place of the closed store, whose log is empty unless it was damaged."""
    replaced = replaced_path(path)
    remove_files(replaced)
    for suffix in ("", "-wal"):
        _link(path.with_name(path.name + suffix), replaced.with_name(replaced.name + suffix))
    # SQLite would replay an old log into the new file.
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    copy.rename(path)
    sync_to_disk(path.parent)


def _link(file: Path, name: Path) -> None:
    if not file.exists() or not file.stat().st_size:
        return
    try:
        os.link(file, name)
    except OSError:
        # Not every file system has links.
        shutil.copyfile(file, name)
        sync_to_disk(name)


def restore_closed_store(
    source: Path, path: Path, tables: Sequence[TableSchema], report: Callable[[int, int], None]
) -> None:
    """Restore a store that is not open, in any state of its file."""
    lock = FileLock(path)
    lock.acquire()
    try:
        register_checksums()
        mark = CommitMark(path)
        acknowledged = mark.read()
        mark.close()
        copy = copy_backup(source, path, tables, report)
        advance_commits(copy, acknowledged)
        swap_in(copy, path)
    finally:
        lock.release()
