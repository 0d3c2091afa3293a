"""The one thread that writes: everyone who waits shares a transaction, a commit and a sync of the disk."""

from collections.abc import Callable
from threading import Thread
from typing import NoReturn, Protocol, TypeVar

import apsw

from zataku.clock import Clock
from zataku.table.backend.errors import ResultUnknown, StoreClosed
from zataku.table.embedded.database import Database
from zataku.table.embedded.file.checkpointer import Checkpointer
from zataku.table.embedded.file.sqlite_errors import damaged, is_full
from zataku.table.embedded.file.sqlite_types import Connection
from zataku.table.embedded.queue import Call, Line, answer, run
from zataku.table.embedded.write_group import Group

Result = TypeVar("Result")

CHECKPOINT_PAGES = 4_000
_REST_SECONDS = 0.2


class Chore(Protocol):
    """Work that is done in portions between the groups."""

    def portion(self, group: Group) -> bool:
        """Do a little; True when nothing is left."""
        ...

    def committed(self, ended: bool) -> None:
        """Called after each portion has been committed."""
        ...


class Writer:
    """Owns the writing connection. Callers join its line."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.line: Line[Group] = Line()
        self.chores: list[Chore] = []
        self.between: Callable[[], None] = lambda: None
        self.logged: Callable[[set[str]], None] = lambda _: None
        self._database = database
        self._clock = clock
        self._log_pages = 0
        self._checkpointer = Checkpointer(database)
        self._resting = False
        self._watch()
        self._thread = Thread(target=self._run, name="zataku-writer", daemon=True)

    def start(self) -> None:
        """Begin to serve the line."""
        self._checkpointer.start()
        self._thread.start()

    def join(self) -> None:
        """Wait until the line has been served to its end."""
        self._thread.join()
        self._checkpointer.stop()

    def pause(self) -> None:
        """Have nobody but the writer touch the file; only from work that runs alone."""
        self._checkpointer.stop()

    def _watch(self) -> None:
        """Follow how long the write-ahead log grows."""

        def committed(_: Connection, __: str, pages: int) -> int:
            self._log_pages = pages
            return apsw.SQLITE_OK

        self._log_pages = 0
        self._database.connection.set_wal_hook(committed)

    def go_on(self) -> None:
        """Take up work again on the file that lies there now."""
        self._watch()
        self._checkpointer = Checkpointer(self._database)
        self._checkpointer.start()

    def _run(self) -> None:
        calls: list[Call[Group]] | None = []
        try:
            while True:
                calls = self.line.take(self._patience())
                if calls is None:
                    return
                if calls:
                    self._serve(calls)
                    calls = []
                self._tidy()
        except BaseException as error:
            self._collapse(calls or [], error)
            raise

    def _patience(self) -> float | None:
        """How long to wait for calls: for ever, unless a chore is to be done."""
        if not self.chores:
            return None
        return _REST_SECONDS if self._resting else 0

    def _collapse(self, calls: list[Call[Group]], error: BaseException) -> None:
        known = StoreClosed(f"The store's writer stopped: {error!r}. Close the store and start it again.")
        for call in calls:
            call.error = call.error or known
        answer(calls)
        self.line.abandon(known)

    def _serve(self, calls: list[Call[Group]]) -> None:
        if self._database.damage is not None:
            _fail(calls, self._database.damage)
        elif calls[0].alone:
            try:
                run(calls[0], self._group())
            except apsw.Error as error:
                calls[0].error = self._database.judge(error)
        else:
            self._serve_group(calls)
        answer(calls)

    def _serve_group(self, calls: list[Call[Group]]) -> None:
        try:
            group = self._begin()
            for call in calls:
                run(call, group)
            self._commit(group)
        except (apsw.Error, ResultUnknown) as error:
            self._roll_back()
            _fail(calls, self._database.judge(error) if isinstance(error, apsw.Error) else error)

    def transaction(self, work: Callable[[Group], Result]) -> Result:
        """Work of the store's own, in a transaction of its own; only on the writer's thread."""
        group = self._begin()
        try:
            result = work(group)
            self._commit(group)
        except BaseException:
            self._roll_back()
            raise
        return result

    def _group(self) -> Group:
        return Group(self._database.connection, self._database.catalog, self._clock.now(), self._database.sequence)

    def _begin(self) -> Group:
        self._database.connection.execute("BEGIN IMMEDIATE")
        return self._group()

    def _commit(self, group: Group) -> None:
        database = self._database
        if not group.changed:
            self._database.connection.execute("ROLLBACK")
            return
        group.finish()
        commits = database.commits + 1
        group.cursor.execute("UPDATE state SET commits = ?, sequence = ?", (commits, group.sequence))
        database.recent.changing(group.states)
        try:
            self._make_lasting(group, commits)
        except BaseException:
            database.recent.changed()
            raise
        database.recent.changed(group.states.items())
        if group.streams:
            self.logged({part.schema.name for part, _ in group.streams.values()})

    def _make_lasting(self, group: Group, commits: int) -> None:
        database = self._database
        try:
            database.connection.execute("COMMIT")
        except apsw.IOError as error:
            if is_full(error):
                raise
            self._lose_faith(error)
        database.commits = commits
        database.sequence = group.sequence
        # Before anyone is told: what the mark says was acknowledged must never be less than what was.
        try:
            database.mark.write(commits)
        except OSError as error:
            self._lose_faith(error)

    def _lose_faith(self, error: Exception) -> NoReturn:
        """The disk refused to confirm a commit. What it holds is unknown, and asking it again proves nothing."""
        path = self._database.path
        self._database.damage = damaged(path, f"could not be written safely ({error})")
        raise ResultUnknown(
            f"The disk that holds {path} did not confirm the write: it may or may not have happened. The store takes "
            "no more calls; check the disk, start the store again and read before going on.",
            path=str(path),
        ) from error

    def _roll_back(self) -> None:
        try:
            if self._database.connection.in_transaction:
                self._database.connection.execute("ROLLBACK")
        except apsw.Error as error:
            self._database.judge(error)

    def _tidy(self) -> None:
        """What is done between the groups, after everyone has been answered."""
        if self._database.damage is not None:
            self.chores.clear()
            return
        try:
            self._empty_log()
            self.between()
            if self.chores:
                self._chore(self.chores[0])
            self._resting = False
        except apsw.Error as error:
            # A full disk only delays a chore; damage is remembered for the next call.
            self._database.judge(error)
            self._resting = True
        except ResultUnknown:
            pass

    def _empty_log(self) -> None:
        """Have the log moved into the file beside the writing; the little that came meanwhile is moved here.

        Only a log that has been moved to its end is begun anew, and only the writer knows that nothing is added.
        """
        if self._checkpointer.passed():
            self._database.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            self._log_pages = 0
        elif self._log_pages >= CHECKPOINT_PAGES:
            self._checkpointer.request()

    def _chore(self, chore: Chore) -> None:
        ended = self.transaction(chore.portion)
        chore.committed(ended)
        if ended:
            self.chores.remove(chore)


def _fail(calls: list[Call[Group]], error: BaseException) -> None:
    for call in calls:
        call.error = error
