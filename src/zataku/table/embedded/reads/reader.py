"""A thread that reads: everyone who waits shares one read transaction, begun after they all had joined the line."""

from random import Random
from threading import Event, Thread
from time import monotonic

import apsw

from zataku.table.backend.errors import StoreClosed
from zataku.table.embedded.catalog import Catalog
from zataku.table.embedded.database import Database
from zataku.table.embedded.file.sqlite_types import Connection, Cursor
from zataku.table.embedded.item_cache import Kept
from zataku.table.embedded.queue import Call, Line, answer, run

_STALE_SECONDS = 1.0
_STALE_COMMITS = 50
_RENEWED = 0.1
# Everyone in a batch waits for the last of it.
_MOST_TOGETHER = 64


class ReadDesk:
    """What a read works with: a cursor inside a read transaction, and another in one that lags behind."""

    def __init__(self, database: Database, chance: Random) -> None:
        self._database = database
        self._chance = chance
        self.connection = database.reader()
        self.cursor = self.connection.cursor()
        self._late: Connection | None = None
        self._since = 0.0
        self._commits = 0
        self._as_of: Catalog | None = None
        # When the read transaction was begun, as the recent items count.
        self.moment: int | None = None

    @property
    def catalog(self) -> Catalog:
        """The tables as they are now."""
        return self._database.catalog

    def keep(self, table: str, pk: bytes, sk: bytes, found: Kept) -> None:
        """Remember an item that was just read."""
        self._database.recent.fill((table, pk, sk), found, self.moment)

    def own_cursor(self, lagging: bool) -> Cursor:
        """A cursor that the read may close."""
        return self.late_cursor() if lagging else self.connection.cursor()

    def late_cursor(self) -> Cursor:
        """A cursor that sees the store as it was a little while ago, by at most a second or some commits."""
        late = self._late
        if late is None:
            late = self._late = self._database.reader()
        if not late.in_transaction or self._too_old() or self._chance.random() < _RENEWED:
            self.catch_up()
            late.execute("BEGIN")
            # The snapshot is taken by the first read, not by BEGIN.
            late.execute("SELECT commits FROM state").fetchall()
            self._since, self._commits = monotonic(), self._database.commits
            self._as_of = self._database.catalog
        return late.cursor()

    def _too_old(self) -> bool:
        return (
            monotonic() - self._since > _STALE_SECONDS
            or self._database.commits - self._commits > _STALE_COMMITS
            or self._as_of is not self._database.catalog
        )

    @property
    def patience(self) -> float | None:
        """How long the reader may wait for calls: an open old snapshot must not be forgotten."""
        return None if self._late is None or not self._late.in_transaction else _STALE_SECONDS

    def catch_up(self) -> None:
        """Let go of the old snapshot, which would keep the write-ahead log from being emptied."""
        if self._late is not None and self._late.in_transaction:
            self._late.execute("COMMIT")

    def catch_up_in_time(self) -> None:
        """Let go of the old snapshot when it has become too old."""
        if self._late is not None and self._too_old():
            self.catch_up()

    def close(self) -> None:
        """Close the connections."""
        if self._late is not None:
            self._late.close()
        self.connection.close()


class Reader:
    """Owns a reading connection. Callers join its line."""

    def __init__(self, database: Database, name: str, chance: Random) -> None:
        self.line: Line[ReadDesk] = Line(_MOST_TOGETHER)
        self._database = database
        self._chance = chance
        self._desk = ReadDesk(database, chance)
        self._thread = Thread(target=self._run, name=f"zataku-{name}", daemon=True)

    def start(self) -> None:
        """Begin to serve the line."""
        self._thread.start()

    def join(self) -> None:
        """Wait until the line has been served to its end."""
        self._thread.join()

    def park(self, parked: Event, go_on: Event, _: ReadDesk) -> None:
        """Close the file while it is replaced; those in the line wait. Runs alone on this thread."""
        self._desk.close()
        parked.set()
        go_on.wait()
        if self._database.damage is None:
            self._desk = ReadDesk(self._database, self._chance)

    def _run(self) -> None:
        while True:
            calls = self.line.take(self._desk.patience)
            if calls is None:
                self._desk.close()
                return
            try:
                self._desk.catch_up_in_time()
                if calls:
                    self._serve(calls)
            except BaseException as error:
                self._collapse(calls, error)
                raise
            answer(calls)

    def _collapse(self, calls: list[Call[ReadDesk]], error: BaseException) -> None:
        known = StoreClosed(f"A reader of the store stopped: {error!r}. Close the store and start it again.")
        _fail(calls, known)
        answer(calls)
        self.line.abandon(known)

    def _serve(self, calls: list[Call[ReadDesk]]) -> None:
        damage = self._database.damage
        if damage is not None:
            _fail(calls, damage)
        elif calls[0].alone:
            self._attempt(calls[0])
        else:
            try:
                self._within_transaction(calls)
            except apsw.Error as error:
                _fail(calls, self._database.judge(error))

    def _within_transaction(self, calls: list[Call[ReadDesk]]) -> None:
        connection = self._desk.connection
        self._desk.moment = self._database.recent.moment
        connection.execute("BEGIN")
        for call in calls:
            self._attempt(call)
        if connection.in_transaction:
            connection.execute("COMMIT")

    def _attempt(self, call: Call[ReadDesk]) -> None:
        try:
            run(call, self._desk)
        except apsw.Error as error:
            call.error = self._database.judge(error)


def _fail(calls: list[Call[ReadDesk]], error: BaseException) -> None:
    for call in calls:
        call.error = error
