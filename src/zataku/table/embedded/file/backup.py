"""Backup of a store: a complete copy of one snapshot, made while the store is in use."""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event

import apsw

from zataku.table.backend.errors import BadInput, StoreClosed, StoreDamaged, StoreFull
from zataku.table.embedded.database import Database
from zataku.table.embedded.file import layout
from zataku.table.embedded.file.connection import check_format, connect
from zataku.table.embedded.file.schema_check import check_records, check_schema
from zataku.table.embedded.file.sqlite_errors import damaged, is_full, table_error
from zataku.table.embedded.file.sqlite_types import Connection

_PAGES_PER_STEP = 256


def back_up(database: Database, destination: Path, report: Callable[[int, int], None], stop: Event) -> None:
    """Copy the store to a file that gets its name only when it is complete and verified."""
    if destination.exists():
        raise BadInput(f"{destination} exists already. Choose another name.")
    part = destination.with_name(destination.name + ".part")
    remove_files(part)
    try:
        source = database.open_reader()
        try:
            copy_pages(source, part, report, stop)
        finally:
            source.close()
        verify(part)
        sync_to_disk(part)
        part.rename(destination)
        sync_to_disk(destination.parent)
    except apsw.Error as error:
        raise _backup_error(database, destination, error) from error
    except OSError as error:
        raise BadInput(f"The backup could not be written to {destination}: {error}. Check the path.") from error
    finally:
        remove_files(part)


def copy_pages(source: Connection, destination: Path, report: Callable[[int, int], None], stop: Event) -> None:
    """Copy all pages of one snapshot. Writers continue: they do not touch a reader's snapshot."""
    target = connect(destination, writable=True)
    try:
        # The checksum VFS recognises a file with checksums by its first page. The copy may write that page last, so an
        # empty one is written first; without it the pages before would get no checksum.
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
                pages.step(_PAGES_PER_STEP)
                report(pages.page_count - pages.remaining, pages.page_count)
        source.execute("COMMIT")
        # A backup is a single file, without a separate log.
        target.pragma("journal_mode", "delete")
    finally:
        target.close()


def verify(path: Path) -> None:
    """Read every page of a copy; raises when one is damaged."""
    connection = connect(path, writable=False)
    try:
        check_pages(connection, path)
    finally:
        connection.close()


def check_pages(connection: Connection, path: Path) -> None:
    """Refuse a file that is not a sound store. Nothing of it is used before its schema is known to be a store's."""
    check_format(connection, path)
    connection.pragma("cell_size_check", True)
    check_schema(connection, path)
    result: str = connection.execute("PRAGMA quick_check(1)").get
    if result != "ok":
        # The first line names the database.
        raise damaged(path, f"is damaged ({result.splitlines()[-1]})")
    check_records(connection, path)


def sync_to_disk(path: Path) -> None:
    """Wait until a file or directory is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_files(path: Path) -> None:
    """Delete a database file and the files that SQLite may have left next to it."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _backup_error(database: Database, destination: Path, error: apsw.Error) -> BaseException:
    if is_full(error):
        return StoreFull(
            f"The disk is too full for the backup {destination}. The store itself continues. Free some space."
        )
    if isinstance(table_error(error, database.path), StoreDamaged) and not isinstance(error, apsw.CantOpenError):
        return database.translate(error)
    return BadInput(f"The backup could not be written to {destination}: {error}. Check the path.")
