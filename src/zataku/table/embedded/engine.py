"""A store at work: its file and its threads, and the moments when all of them must stand still."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from threading import Event, Lock

import apsw

from zataku.clock import Clock
from zataku.table.backend.errors import StoreClosed, StoreDamaged
from zataku.table.backend.table_schema import TableSchema
from zataku.table.embedded.database import Database
from zataku.table.embedded.file import restore
from zataku.table.embedded.file.backup import back_up, remove
from zataku.table.embedded.file.lock import holder
from zataku.table.embedded.reads.reader import Reader
from zataku.table.embedded.streams import Listeners, Trim
from zataku.table.embedded.tables import backfill, definitions
from zataku.table.embedded.write_group import Group
from zataku.table.embedded.writer import Writer

_TRIM_EVERY_SECONDS = 60


class Engine:
    """Everything that runs between open and close. The methods block; they are called on threads, not on a loop."""

    def __init__(self, database: Database, clock: Clock, chance: Random) -> None:
        database.open()
        try:
            if not database.read_only:
                remove(restore.beside(database.path, "restoring"))
            self.database = database
            self.listeners = Listeners()
            self._clock = clock
            self._copying = Lock()
            self._stopping = Event()
            self._last_trim = clock.now()
            self._stopped = False
            self._writer = None
            if database.read_only:
                self.look_again()
            else:
                database.catalog = definitions.load(database.connection)
                self._writer = Writer(database, clock)
                self._writer.logged = self.listeners.tell
                self._writer.between = self._trim_now_and_then
            self.reader = Reader(database, "reader", chance)
            self.scanner = Reader(database, "scanner", chance)
        except BaseException as error:
            known = database.judge(error) if isinstance(error, apsw.Error) else error
            database.disconnect()
            database.let_go()
            raise known from error
        for thread in self._threads:
            thread.start()

    @property
    def writer(self) -> Writer:
        """The thread that writes; a store which is only looked at has none and refuses."""
        if self._writer is None:
            raise reading_only(self.database.path)
        return self._writer

    @property
    def _threads(self) -> "tuple[Writer | Reader, ...]":
        readers = (self.reader, self.scanner)
        return readers if self._writer is None else (self._writer, *readers)

    def look_again(self) -> None:
        """Learn the tables anew, where another process may have changed them."""
        connection = self.database.reader()
        try:
            self.database.catalog = definitions.load(connection)
        except apsw.Error as error:
            raise self.database.judge(error) from error
        finally:
            connection.close()

    def stop(self) -> None:
        """Serve everyone who was let in, then let go of the file."""
        self._stopping.set()
        refusal = StoreClosed(f"The store {self.database.path} is closed. Start it before calling it.")
        with self._copying:
            if self._stopped:
                return
            self._stopped = True
            for thread in self._threads:
                thread.line.end(refusal)
            self.listeners.tell_all()
            for thread in self._threads:
                thread.join()
            if self._writer is None:
                return
            try:
                self.database.empty_log()
            except apsw.Error:
                # The log keeps everything for the next start.
                pass
            finally:
                self.database.disconnect()
                self.database.let_go()

    def adapt(self, tables: Sequence[TableSchema]) -> None:
        """Make the file fit the tables. One that is only looked at stays as it is, and must have the same keys."""
        if self._writer is None:
            definitions.refuse_unfit(self.database.catalog, tables)
            return
        self.writer.line.post(partial(self._adapt, tables)).result()

    def _adapt(self, tables: Sequence[TableSchema], _: Group) -> None:
        self.writer.transaction(lambda group: definitions.adapt(group, tables))
        self.database.catalog = definitions.load(self.database.connection)
        self.writer.chores[:] = backfill.walks(self.database)

    def back_up(self, destination: Path, report: Callable[[int, int], None]) -> None:
        """Write a copy while everyone goes on working."""
        with self._copying:
            back_up(self.database, destination, report, self._stopping)

    def restore(self, source: Path, tables: Sequence[TableSchema], report: Callable[[int, int], None]) -> None:
        """Replace everything by a backup. Only the swap makes the others wait."""
        writer = self.writer
        with self._copying:
            ready = restore.made_ready(source, self.database.path, tables, report)
            try:
                writer.line.post(partial(self._replace, ready, tables)).result()
            finally:
                remove(ready)

    def _replace(self, ready: Path, tables: Sequence[TableSchema], group: Group) -> None:
        go_on = Event()
        for reader in (self.reader, self.scanner):
            parked = Event()
            reader.line.post(partial(reader.park, parked, go_on))
            parked.wait()
        try:
            self._swap(ready)
            self._adapt(tables, group)
        finally:
            go_on.set()

    def _swap(self, ready: Path) -> None:
        database = self.database
        database.recent.clear()
        self.writer.pause()
        try:
            database.empty_log()
            database.disconnect()
            restore.number(ready, database.commits)
            restore.swap(ready, database.path)
        finally:
            # Whatever happened, one of the two stores lies there whole.
            database.disconnect()
            try:
                database.reopen()
            except StoreDamaged as error:
                database.damage = error
                raise
            self.writer.go_on()
            database.catalog = definitions.load(database.connection)

    def _trim_now_and_then(self) -> None:
        now = self._clock.now()
        if now - self._last_trim >= _TRIM_EVERY_SECONDS:
            self._last_trim = now
            self.writer.chores += [Trim(part.schema.name) for part in self.database.catalog.parts]


def reading_only(path: Path) -> StoreClosed:
    """What a write is told by a store that is only looked at."""
    process = holder(path)
    held = "" if process is None else f" while process {process} holds it"
    return StoreClosed(
        f"{path} was opened for reading only{held}. Nothing was written. "
        + ("Open it for writing." if process is None else "Let that process do it, or stop it and try again."),
        path=str(path),
        process=process,
    )
