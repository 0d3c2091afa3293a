"""An open store: its file and its threads, from opening to closing, and the swap of the file in a restore."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from threading import Event, Lock

import apsw

from zataku.clock import Clock
from zataku.table.backend.errors import StoreClosed, StoreDamaged
from zataku.table.backend.table_schema import TableSchema
from zataku.table.embedded.catalog import Catalog
from zataku.table.embedded.database import Database
from zataku.table.embedded.file.backup import back_up, remove_files
from zataku.table.embedded.file.lock import lock_holder
from zataku.table.embedded.file.restore import advance_commits, copy_backup, remove_unfinished_copy, swap_in
from zataku.table.embedded.queue import ChangeListeners
from zataku.table.embedded.reads.reader import Reader
from zataku.table.embedded.streams import StreamTrim
from zataku.table.embedded.tables.backfill import pending_backfills
from zataku.table.embedded.tables.definitions import apply_schemas, check_compatible, load_catalog
from zataku.table.embedded.writer import WriteGroup, Writer


class Engine:
    """Database, writer and readers of an open store. Its methods block; they are called on threads, not on a loop.

    `reader` serves items and pages, `scanner` whole tables. `writer` is None in a store that was opened read-only.
    """

    def __init__(self, database: Database, clock: Clock, random: Random) -> None:
        database.open()
        try:
            self.database = database
            self.item_cache = database.item_cache
            self.listeners = ChangeListeners()
            self.writer: Writer | None = None
            self._copying = Lock()
            self._stopping = Event()
            self._stopped = False
            if database.read_only:
                self.reload_catalog()
            else:
                remove_unfinished_copy(database.path)
                database.catalog = load_catalog(database.connection)
                self.writer = Writer(database, clock, self.listeners.notify, self._schedule_trims)
            self.reader = Reader(database, "reader", random)
            self.scanner = Reader(database, "scanner", random)
            self.read_queue = self.reader.queue
            self.scan_queue = self.scanner.queue
        except BaseException as error:
            translated = database.translate(error) if isinstance(error, apsw.Error) else error
            database.disconnect()
            database.unlock()
            raise translated from error
        for thread in self._threads:
            thread.start()

    @property
    def catalog(self) -> Catalog:
        """The tables as they are now."""
        return self.database.catalog

    @property
    def damage(self) -> StoreDamaged | None:
        """The error that ended all work on the file, if any."""
        return self.database.damage

    def writable(self) -> Writer:
        """The writer; raises for a store that was opened read-only."""
        if self.writer is None:
            raise read_only_error(self.database.path)
        return self.writer

    @property
    def _threads(self) -> "tuple[Writer | Reader, ...]":
        readers = (self.reader, self.scanner)
        return readers if self.writer is None else (self.writer, *readers)

    def reload_catalog(self) -> None:
        """Load the tables again, which another process may have changed."""
        connection = self.database.open_reader()
        try:
            self.database.catalog = load_catalog(connection)
        except apsw.Error as error:
            raise self.database.translate(error) from error
        finally:
            connection.close()

    def stop(self) -> None:
        """Serve every queued call, then close the file."""
        self._stopping.set()
        closed = StoreClosed(f"The store {self.database.path} is closed. Start it before calling it.")
        with self._copying:
            if self._stopped:
                return
            self._stopped = True
            for thread in self._threads:
                thread.queue.close(closed)
            self.listeners.notify_all()
            for thread in self._threads:
                thread.join()
            if self.writer is None:
                return
            try:
                self.database.empty_log()
            except apsw.Error:
                # The log keeps everything for the next start.
                pass
            finally:
                self.database.disconnect()
                self.database.unlock()

    def apply_schemas(self, tables: Sequence[TableSchema]) -> None:
        """Create and change tables. A read-only store changes nothing and only checks that the schemas fit."""
        if self.writer is None:
            check_compatible(self.database.catalog, tables)
            return
        self.writer.queue.run_exclusive(partial(self._apply_schemas, tables)).result()

    def _apply_schemas(self, tables: Sequence[TableSchema], _: WriteGroup) -> None:
        writer = self.writable()
        writer.transaction(lambda group: apply_schemas(group, tables))
        self.database.catalog = load_catalog(self.database.connection)
        writer.tasks[:] = pending_backfills(self.database)

    def back_up(self, destination: Path, report: Callable[[int, int], None]) -> None:
        """Write a copy while the store is in use."""
        with self._copying:
            back_up(self.database, destination, report, self._stopping)

    def restore(self, source: Path, tables: Sequence[TableSchema], report: Callable[[int, int], None]) -> None:
        """Replace everything by a backup. Other calls wait only during the swap."""
        writer = self.writable()
        with self._copying:
            copy = copy_backup(source, self.database.path, tables, report)
            try:
                writer.queue.run_exclusive(partial(self._replace, copy, tables)).result()
            finally:
                remove_files(copy)

    def _replace(self, copy: Path, tables: Sequence[TableSchema], group: WriteGroup) -> None:
        resume = Event()
        for reader in (self.reader, self.scanner):
            paused = Event()
            reader.queue.run_exclusive(partial(reader.pause, paused, resume))
            paused.wait()
        try:
            self._swap_file(copy)
            self._apply_schemas(tables, group)
        finally:
            resume.set()

    def _swap_file(self, copy: Path) -> None:
        database, writer = self.database, self.writable()
        database.item_cache.clear()
        writer.pause()
        try:
            database.empty_log()
            database.disconnect()
            advance_commits(copy, database.commits)
            swap_in(copy, database.path)
        finally:
            # Whether the swap succeeded or not, the path holds a complete store.
            database.disconnect()
            try:
                database.reopen()
            except StoreDamaged as error:
                database.damage = error
                raise
            writer.resume()
            database.catalog = load_catalog(database.connection)

    def _schedule_trims(self) -> None:
        self.writable().tasks += [StreamTrim(name) for name in self.database.catalog]


def read_only_error(path: Path) -> StoreClosed:
    """The error of a write to a store that was opened read-only."""
    process = lock_holder(path)
    held = "" if process is None else f" while process {process} holds it"
    return StoreClosed(
        f"{path} was opened for reading only{held}. Nothing was written. "
        + ("Open it for writing." if process is None else "Let that process do it, or stop it and try again."),
        path=str(path),
        process=process,
    )
