"""A complete copy of the store, made beside the running work from one snapshot."""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event

import apsw

from zataku.table.backend.errors import BadInput, StoreClosed, StoreDamaged, StoreFull
from zataku.table.embedded.database import Database, connect, identify
from zataku.table.embedded.file import layout
from zataku.table.embedded.file.sqlite_errors import damaged, is_full, judged
from zataku.table.embedded.file.sqlite_types import Connection

_PAGES_AT_ONCE = 256


def back_up(database: Database, destination: Path, report: Callable[[int, int], None], stop: Event) -> None:
    """Copy the store to a file that appears under its name only when it is whole and checked."""
    if destination.exists():
        raise BadInput(f"{destination} is there already. Choose another name.")
    part = destination.with_name(destination.name + ".part")
    remove(part)
    try:
        source = database.reader()
        try:
            copy(source, part, report, stop)
        finally:
            source.close()
        check(part)
        make_lasting(part)
        part.rename(destination)
        make_lasting(destination.parent)
    except apsw.Error as error:
        raise _explained(database, destination, error) from error
    except OSError as error:
        raise BadInput(f"The backup could not be written to {destination}: {error}. Check the path.") from error
    finally:
        remove(part)


def copy(source: Connection, destination: Path, report: Callable[[int, int], None], stop: Event) -> None:
    """Copy all pages as they are at this moment. Writers go on meanwhile: they do not touch a reader's snapshot."""
    target = connect(destination, writable=True)
    try:
        # The checksum VFS learns from the first page that this file has checksums. The copy may write that page last,
        # so an empty one is laid down first; without it the pages before would go unsummed.
        target.pragma("page_size", layout.PAGE_SIZE)
        target.reserve_bytes("main", layout.CHECKSUM_BYTES)
        target.pragma("user_version", layout.FORMAT)
        source.execute("BEGIN")
        source.execute("SELECT commits FROM state").fetchall()
        with target.backup("main", source, "main") as pages:
            while not pages.done:
                if stop.is_set():
                    raise StoreClosed(
                        "The store was closed during the backup. Nothing was left behind. Start it and try again."
                    )
                pages.step(_PAGES_AT_ONCE)
                report(pages.page_count - pages.remaining, pages.page_count)
        source.execute("COMMIT")
        # A backup is one file: it has no log beside it.
        target.pragma("journal_mode", "delete")
    finally:
        target.close()


def check(path: Path) -> None:
    """Read every page of a copy; a damaged one is not worth keeping."""
    connection = connect(path, writable=False)
    try:
        identify(connection, path)
        found = connection.pragma("quick_check")
        if found != "ok":
            raise damaged(path, f"is damaged ({found})")
    finally:
        connection.close()


def make_lasting(path: Path) -> None:
    """Wait until a file or directory is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Take away a file and what SQLite may have left beside it."""
    for ending in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _explained(database: Database, destination: Path, error: apsw.Error) -> BaseException:
    if is_full(error):
        return StoreFull(f"There is no room for the backup {destination}. The store itself goes on. Free some space.")
    if isinstance(judged(error, database.path), StoreDamaged) and not isinstance(error, apsw.CantOpenError):
        return database.judge(error)
    return BadInput(f"The backup could not be written to {destination}: {error}. Check the path.")
