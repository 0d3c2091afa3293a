"""Putting a backup in the place of the store. At every moment the path holds the old store or the new one, whole.

The copy is made and checked beside the store while it still works. The swap itself is one rename; the store that was
replaced stays as `<path>.before-restore` until the next restore.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import apsw

from zataku.table.backend.errors import BadInput, StoreDamaged, StoreFull
from zataku.table.backend.table_schema import TableSchema
from zataku.table.embedded.database import connect, identify, register_checksums
from zataku.table.embedded.file import backup
from zataku.table.embedded.file.commit_mark import Watermark
from zataku.table.embedded.file.lock import FileLock
from zataku.table.embedded.file.sqlite_errors import damaged, is_full, judged
from zataku.table.embedded.file.sqlite_types import Connection
from zataku.table.embedded.tables import definitions


def beside(path: Path, ending: str) -> Path:
    """A file next to the store."""
    return path.with_name(f"{path.name}.{ending}")


def made_ready(source: Path, path: Path, tables: Sequence[TableSchema], report: Callable[[int, int], None]) -> Path:
    """A checked copy of the backup next to the store; nothing else is touched, and a bad backup is refused."""
    if not source.is_file():
        raise BadInput(f"There is no backup {source}. Check the path.")
    if source.resolve() == path.resolve():
        raise BadInput("A store cannot be restored from itself. Name a backup.")
    ready = beside(path, "restoring")
    backup.remove(ready)
    try:
        connection = connect(source, writable=False)
        try:
            _refuse_unfit(connection, source, tables)
            backup.copy(connection, ready, report, Event())
        finally:
            connection.close()
        backup.check(ready)
    except apsw.Error as error:
        backup.remove(ready)
        raise _explained(source, ready, error) from error
    except BaseException:
        backup.remove(ready)
        raise
    return ready


def _refuse_unfit(connection: Connection, source: Path, tables: Sequence[TableSchema]) -> None:
    identify(connection, source)
    found = connection.pragma("quick_check")
    if found != "ok":
        raise damaged(source, f"is damaged ({found})")
    stored = {part.schema.name: part.schema for part in definitions.load(connection).parts}
    for table in tables:
        if table.name in stored:
            definitions.check_table_change(stored[table.name], table)


def _explained(source: Path, ready: Path, error: apsw.Error) -> BaseException:
    if is_full(error):
        return StoreFull(f"There is no room for {ready}. The store was not touched. Free some space.")
    known = judged(error, source)
    if isinstance(known, StoreDamaged):
        return StoreDamaged(f"The backup {source} is damaged ({error}). The store was not touched. Take another one.")
    return error if known is None else known


def number(ready: Path, commits: int) -> None:
    """Count the restore as a commit after all that were acknowledged, so that no mark calls it an old copy."""
    connection = connect(ready, writable=True)
    try:
        connection.pragma("synchronous", "full")
        connection.execute("UPDATE state SET commits = max(commits, ?) + 1", (commits,))
    finally:
        connection.close()
    backup.make_lasting(ready)


def swap(ready: Path, path: Path) -> None:
    """Put the copy in the store's place. The store is closed, and its log is empty unless the store was damaged."""
    kept = beside(path, "before-restore")
    backup.remove(kept)
    for ending in ("", "-wal"):
        _keep(path.with_name(path.name + ending), kept.with_name(kept.name + ending))
    # An old log beside the new file would be taken for its own.
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    ready.rename(path)
    backup.make_lasting(path.parent)


def _keep(file: Path, name: Path) -> None:
    if not file.exists() or not file.stat().st_size:
        return
    try:
        os.link(file, name)
    except OSError:
        # Not every file system has links.
        shutil.copyfile(file, name)
        backup.make_lasting(name)


def in_place_of_a_damaged_store(
    source: Path, path: Path, tables: Sequence[TableSchema], report: Callable[[int, int], None]
) -> None:
    """Put a backup in the place of a store that is not running, whatever state its file is in."""
    lock = FileLock(path)
    lock.take()
    try:
        register_checksums()
        mark = Watermark(path)
        acknowledged = mark.read()
        mark.close()
        ready = made_ready(source, path, tables, report)
        number(ready, acknowledged)
        swap(ready, path)
    finally:
        lock.release()
