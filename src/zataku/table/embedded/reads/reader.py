"""A reading thread: all calls of a batch share one read transaction, begun after the last of them was queued."""

from random import Random
from threading import Event, Thread
from time import monotonic

import apsw

from zataku.table.backend.errors import StoreClosed
from zataku.table.embedded.catalog import Catalog
from zataku.table.embedded.database import CachedItem, Database
from zataku.table.embedded.file.sqlite_types import Connection, Cursor
from zataku.table.embedded.queue import CallQueue, QueuedCall, execute, fail, resolve

_MAX_LAG_SECONDS = 1.0
_MAX_LAG_COMMITS = 50
_RENEWAL_PROBABILITY = 0.1
# Every call of a batch waits for the last of it.
_MAX_BATCH_CALLS = 64


class ReadSession:
    """What a read works with: a cursor inside the batch's read transaction, and one in a transaction that lags."""

    def __init__(self, database: Database, random: Random) -> None:
        self._database = database
        self._random = random
        self.connection = database.open_reader()
        self.cursor = self.connection.cursor()
        self._lagging: Connection | None = None
        self._lagging_since = 0.0
        self._lagging_commits = 0
        self._lagging_catalog: Catalog | None = None
        self._cache_generation: int | None = None

    @property
    def catalog(self) -> Catalog:
        """The tables as they are now."""
        return self._database.catalog

    def begin(self) -> None:
        """Begin the read transaction of a batch."""
        self._cache_generation = self._database.item_cache.generation
        self.connection.execute("BEGIN")

    def cache_item(self, table: str, pk: bytes, sk: bytes, item: CachedItem) -> None:
        """Put an item that was just read into the item cache."""
        self._database.item_cache.add((table, pk, sk), item, self._cache_generation)

    def new_cursor(self, lagging: bool) -> Cursor:
        """A cursor that the read may close."""
        return self.lagging_cursor() if lagging else self.connection.cursor()

    def lagging_cursor(self) -> Cursor:
        """A cursor that sees an earlier state of the store, at most a second or some commits old."""
        connection = self._lagging
        if connection is None:
            connection = self._lagging = self._database.open_reader()
        if not connection.in_transaction or self._is_stale() or self._random.random() < _RENEWAL_PROBABILITY:
            self._release_snapshot()
            connection.execute("BEGIN")
            # The snapshot is taken by the first read, not by BEGIN.
            connection.execute("SELECT commits FROM state").fetchall()
            self._lagging_since, self._lagging_commits = monotonic(), self._database.commits
            self._lagging_catalog = self._database.catalog
        return connection.cursor()

    def _is_stale(self) -> bool:
        return (
            monotonic() - self._lagging_since > _MAX_LAG_SECONDS
            or self._database.commits - self._lagging_commits > _MAX_LAG_COMMITS
            or self._lagging_catalog is not self._database.catalog
        )

    def _release_snapshot(self) -> None:
        # An open snapshot keeps the write-ahead log from being emptied.
        if self._lagging is not None and self._lagging.in_transaction:
            self._lagging.execute("COMMIT")

    @property
    def idle_timeout(self) -> float | None:
        """Seconds that the reader may wait for calls, so that it releases an open lagging snapshot in time."""
        return None if self._lagging is None or not self._lagging.in_transaction else _MAX_LAG_SECONDS

    def release_stale_snapshot(self) -> None:
        """End the lagging transaction when it has become too old."""
        if self._lagging is not None and self._is_stale():
            self._release_snapshot()

    def close(self) -> None:
        """Close the connections."""
        if self._lagging is not None:
            self._lagging.close()
        self.connection.close()


class Reader:
    """The thread that owns a reading connection and serves a read queue."""

    def __init__(self, database: Database, name: str, random: Random) -> None:
        self.queue: CallQueue[ReadSession] = CallQueue(_MAX_BATCH_CALLS)
        self._database = database
        self._random = random
        self._session = ReadSession(database, random)
        self._thread = Thread(target=self._run, name=f"zataku-{name}", daemon=True)

    def start(self) -> None:
        """Start serving the queue."""
        self._thread.start()

    def join(self) -> None:
        """Wait until the closed queue is empty."""
        self._thread.join()

    def pause(self, paused: Event, resume: Event, _: ReadSession) -> None:
        """Close the file while it is replaced; queued calls wait. Runs as exclusive work on this thread."""
        self._session.close()
        paused.set()
        resume.wait()
        if self._database.damage is None:
            self._session = ReadSession(self._database, self._random)

    def _run(self) -> None:
        while True:
            calls = self.queue.next_batch(self._session.idle_timeout)
            if calls is None:
                self._session.close()
                return
            try:
                self._session.release_stale_snapshot()
                if calls:
                    self._serve(calls)
            except BaseException as error:
                stopped = StoreClosed(f"A reader of the store stopped: {error!r}. Close the store and start it again.")
                fail(calls, stopped)
                resolve(calls)
                self.queue.fail_all(stopped)
                raise
            resolve(calls)

    def _serve(self, calls: list[QueuedCall[ReadSession]]) -> None:
        damage = self._database.damage
        if damage is not None:
            fail(calls, damage)
        elif calls[0].exclusive:
            self._execute(calls[0])
        else:
            try:
                self._execute_batch(calls)
            except apsw.Error as error:
                fail(calls, self._database.translate(error))

    def _execute_batch(self, calls: list[QueuedCall[ReadSession]]) -> None:
        connection = self._session.connection
        self._session.begin()
        for call in calls:
            self._execute(call)
        if connection.in_transaction:
            connection.execute("COMMIT")

    def _execute(self, call: QueuedCall[ReadSession]) -> None:
        try:
            execute(call, self._session)
        except apsw.Error as error:
            call.error = self._database.translate(error)
