"""The writer thread and the SQLite transaction it has open: all calls of a batch share one commit and one disk sync."""

import errno
from collections.abc import Callable
from threading import Thread
from typing import Any, Final, NoReturn, Protocol, TypeVar

import apsw

from zataku.clock import Clock
from zataku.table.backend.errors import ResultUnknown, StoreClosed
from zataku.table.backend.values import pack
from zataku.table.embedded.catalog import Catalog, StoredTable
from zataku.table.embedded.database import CachedItem, CacheKey, Database
from zataku.table.embedded.file.checkpointer import Checkpointer
from zataku.table.embedded.file.sqlite_errors import damaged, is_failed_write, is_full
from zataku.table.embedded.file.sqlite_types import Connection
from zataku.table.embedded.queue import CallQueue, QueuedCall, execute, fail, resolve
from zataku.table.embedded.rows import NewRow, StoredRow, has_same_index_key, index_key_if_valid

Result = TypeVar("Result")

CHECKPOINT_PAGES = 4_000
_RETRY_SECONDS = 0.2
_MAINTENANCE_SECONDS = 60
INSERT, MODIFY, REMOVE = 0, 1, 2
_OLD_IMAGE_VIEWS: Final = {"OLD_IMAGE", "NEW_AND_OLD_IMAGES"}
_NEW_IMAGE_VIEWS: Final = {"NEW_IMAGE", "NEW_AND_OLD_IMAGES"}


class WriteGroup:
    """Writes that are committed together, each seeing those before it.

    A call decides everything before it changes anything, so a refused call changes nothing and needs no savepoint.
    """

    def __init__(self, database: Database, now: float) -> None:
        self.connection = database.connection
        self.cursor = self.connection.cursor()
        self.catalog = database.catalog
        self.now = now
        self.sequence = database.sequence
        self.has_changes = False
        # The new state of every changed item, None for a deleted one.
        self.new_states: dict[CacheKey, CachedItem | None] = {}
        self.stream_records: dict[int, tuple[StoredTable, list[tuple[Any, ...]]]] = {}

    def fetch_one(self, sql: str, *bindings: Any) -> tuple[Any, ...] | None:
        """The first row of a query, or None."""
        return next(iter(self.cursor.execute(sql, bindings).fetchall()), None)

    def fetch_all(self, sql: str, *bindings: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self.cursor.execute(sql, bindings).fetchall()

    def execute(self, sql: str, *bindings: Any) -> None:
        """Run a statement that changes something other than items."""
        self.cursor.execute(sql, bindings)
        self.has_changes = True

    def find(self, table: StoredTable, pk: bytes, sk: bytes) -> StoredRow | None:
        """The row of a key."""
        rows: list[tuple[Any, ...]] = self.cursor.execute(table.select_row, (pk, sk)).fetchall()
        return StoredRow(*rows[0]) if rows else None

    def put(self, table: StoredTable, old: StoredRow | None, new: NewRow) -> bool:
        """Write a row over the stored one, if any; False when both hold the same item."""
        run = self.cursor.execute
        if old is None:
            run(table.insert, (new.pk, new.sk, new.size, new.expires, new.packed))
            row_id = self.connection.last_insert_rowid()
            for index, key in zip(table.indexes, new.index_keys, strict=True):
                if key is not None:
                    run(index.insert, (*key, new.pk, new.sk, row_id))
        elif old.has_same_item(new):
            return False
        else:
            run(table.update, (new.size, new.expires, new.packed, old.row_id))
            self._update_indexes(table, old, new)
        self.has_changes = True
        self.new_states[table.schema.name, new.pk, new.sk] = (new.packed, new.size)
        if table.schema.stream is not None:
            self._add_stream_record(table, INSERT if old is None else MODIFY, old, new, False)
        return True

    def _update_indexes(self, table: StoredTable, old: StoredRow, new: NewRow) -> None:
        for index, key in zip(table.indexes, new.index_keys, strict=True):
            if index.state.status == "active" and has_same_index_key(index.schema, old.item, new.item):
                continue
            old_key = index_key_if_valid(index.schema, old.item)
            if old_key != key:
                if old_key is not None:
                    self.cursor.execute(index.delete, (*old_key, new.pk, new.sk))
                if key is not None:
                    self.cursor.execute(index.insert, (*key, new.pk, new.sk, old.row_id))
            elif key is not None and index.state.status != "active":
                # A backfill may not have reached this item yet.
                self.cursor.execute(index.insert, (*key, new.pk, new.sk, old.row_id))

    def delete(self, table: StoredTable, pk: bytes, sk: bytes, old: StoredRow, expired: bool = False) -> None:
        """Delete a stored row."""
        self.cursor.execute(table.delete, (old.row_id,))
        for index in table.indexes:
            key = index_key_if_valid(index.schema, old.item)
            if key is not None:
                self.cursor.execute(index.delete, (*key, pk, sk))
        self.has_changes = True
        self.new_states[table.schema.name, pk, sk] = None
        if table.schema.stream is not None:
            self._add_stream_record(table, REMOVE, old, None, expired)

    def _add_stream_record(
        self, table: StoredTable, kind: int, old: StoredRow | None, new: NewRow | None, expired: bool
    ) -> None:
        view = table.schema.stream
        old_image = old.packed if old is not None and view in _OLD_IMAGE_VIEWS else None
        new_image = new.packed if new is not None and view in _NEW_IMAGE_VIEWS else None
        keys = None
        if old_image is None and new_image is None:
            item = new.item if new is not None else old.item if old is not None else {}
            keys = pack({key.name: item[key.name] for key in table.schema.keys})
        self.sequence += 1
        record = (self.sequence, self.now, kind, expired, keys, old_image, new_image)
        earlier = self.stream_records.get(table.number)
        if earlier is None:
            self.stream_records[table.number] = (table, [record])
        else:
            earlier[1].append(record)

    def write_stream_records(self) -> None:
        """Write the collected stream records; the last step before the commit."""
        for table, records in self.stream_records.values():
            self.cursor.executemany(table.insert_record, records)


class BackgroundTask(Protocol):
    """Work that is done in portions between batches, each portion in a transaction of its own."""

    def run_portion(self, group: WriteGroup) -> bool:
        """Do one portion; True when nothing is left."""
        ...

    def portion_committed(self, is_done: bool) -> None:
        """Called after the commit of each portion."""
        ...


class Writer:
    """The thread that owns the writing connection and serves the write queue."""

    def __init__(
        self, database: Database, clock: Clock, notify: Callable[[set[str]], None], maintain: Callable[[], None]
    ) -> None:
        """`notify` is called with the tables whose streams have grown, `maintain` once a minute while in use."""
        self.queue: CallQueue[WriteGroup] = CallQueue()
        self.tasks: list[BackgroundTask] = []
        self.database = database
        self._clock = clock
        self._notify = notify
        self._maintain = maintain
        self._maintained_at = clock.now()
        self._log_pages = 0
        self._checkpointer = Checkpointer(database)
        self._task_failed = False
        self._watch_log_size()
        self._thread = Thread(target=self._run, name="zataku-writer", daemon=True)

    @property
    def catalog(self) -> Catalog:
        """The tables as they are now."""
        return self.database.catalog

    def start(self) -> None:
        """Start serving the queue."""
        self._checkpointer.start()
        self._thread.start()

    def join(self) -> None:
        """Wait until the closed queue is empty."""
        self._thread.join()
        self._checkpointer.stop()

    def pause(self) -> None:
        """Stop the checkpointer, so that only the writer has the file open; called from exclusive work."""
        self._checkpointer.stop()

    def resume(self) -> None:
        """Continue with the current file."""
        self._watch_log_size()
        self._checkpointer = Checkpointer(self.database)
        self._checkpointer.start()

    def _watch_log_size(self) -> None:
        def committed(_: Connection, __: str, pages: int) -> int:
            self._log_pages = pages
            return apsw.SQLITE_OK

        self._log_pages = 0
        self.database.connection.set_wal_hook(committed)

    def _run(self) -> None:
        calls: list[QueuedCall[WriteGroup]] | None = []
        try:
            while True:
                calls = self.queue.next_batch(self._idle_timeout())
                if calls is None:
                    return
                if calls:
                    self._serve(calls)
                    calls = []
                self._work_in_background()
        except BaseException as error:
            stopped = StoreClosed(f"The store's writer stopped: {error!r}. Close the store and start it again.")
            for call in calls or []:
                call.error = call.error or stopped
            resolve(calls or [])
            self.queue.fail_all(stopped)
            raise

    def _idle_timeout(self) -> float | None:
        """Seconds to wait for calls: no limit unless a background task is waiting."""
        if not self.tasks:
            return None
        return _RETRY_SECONDS if self._task_failed else 0

    def _serve(self, calls: list[QueuedCall[WriteGroup]]) -> None:
        database = self.database
        if database.damage is not None:
            fail(calls, database.damage)
        elif calls[0].exclusive:
            try:
                execute(calls[0], WriteGroup(database, self._clock.now()))
            except apsw.Error as error:
                calls[0].error = database.translate(error)
        else:
            try:
                group = self._begin()
                for call in calls:
                    execute(call, group)
                self._commit(group)
            except (apsw.Error, ResultUnknown) as error:
                self._roll_back()
                fail(calls, database.translate(error) if isinstance(error, apsw.Error) else error)
        resolve(calls)

    def transaction(self, work: Callable[[WriteGroup], Result]) -> Result:
        """Run the store's own work in a transaction of its own; only on the writer's thread."""
        group = self._begin()
        try:
            result = work(group)
            self._commit(group)
        except BaseException:
            self._roll_back()
            raise
        return result

    def _begin(self) -> WriteGroup:
        self.database.connection.execute("BEGIN IMMEDIATE")
        return WriteGroup(self.database, self._clock.now())

    def _commit(self, group: WriteGroup) -> None:
        database = self.database
        if not group.has_changes:
            group.connection.execute("ROLLBACK")
            return
        group.write_stream_records()
        commits = database.commits + 1
        group.cursor.execute("UPDATE state SET commits = ?, sequence = ?", (commits, group.sequence))
        database.item_cache.begin_commit(group.new_states)
        try:
            self._commit_durably(group, commits)
        except BaseException:
            database.item_cache.end_commit()
            raise
        database.item_cache.end_commit(group.new_states.items())
        if group.stream_records:
            self._notify({table.schema.name for table, _ in group.stream_records.values()})

    def _commit_durably(self, group: WriteGroup, commits: int) -> None:
        database = self.database
        try:
            group.connection.execute("COMMIT")
        except apsw.IOError as error:
            if is_full(error):
                raise
            # SQLite does not count a quota as a full disk. As there, nothing of the transaction is in the file.
            if is_failed_write(error) and group.connection.system_errno == errno.EDQUOT:
                raise apsw.FullError("disk quota exceeded") from error
            self._mark_damaged(error)
        database.commits = commits
        database.sequence = group.sequence
        # Before any caller is answered: the mark must never be behind what was acknowledged.
        try:
            database.commit_mark.write(commits)
        except OSError as error:
            self._mark_damaged(error)

    def _mark_damaged(self, error: Exception) -> NoReturn:
        """Stop all work: the disk did not confirm a commit, so its content is unknown, and a retry proves nothing."""
        path = self.database.path
        self.database.damage = damaged(path, f"could not be written safely ({error})")
        raise ResultUnknown(
            f"The disk that holds {path} did not confirm the write: it may or may not have happened. The store takes "
            "no more calls; check the disk, start the store again and read before continuing.",
            path=str(path),
        ) from error

    def _roll_back(self) -> None:
        try:
            if self.database.connection.in_transaction:
                self.database.connection.execute("ROLLBACK")
        except apsw.Error as error:
            self.database.translate(error)

    def _work_in_background(self) -> None:
        """Checkpoints, maintenance and background tasks, after the callers of the last batch have been answered."""
        if self.database.damage is not None:
            self.tasks.clear()
            return
        try:
            self._checkpoint()
            now = self._clock.now()
            if now - self._maintained_at >= _MAINTENANCE_SECONDS:
                self._maintained_at = now
                self._maintain()
            if self.tasks:
                self._run_task(self.tasks[0])
            self._task_failed = False
        except apsw.Error as error:
            # A full disk only delays a task; damage is recorded for the next call.
            self.database.translate(error)
            self._task_failed = True
        except ResultUnknown:
            pass

    def _checkpoint(self) -> None:
        """Have the checkpointer move a long log into the file, then move the pages written since.

        SQLite restarts a log only once all of it has been moved, and only the writer can be sure that nothing is added.
        """
        if self._checkpointer.is_finished:
            self._checkpointer.is_finished = False
            self.database.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            self._log_pages = 0
        elif self._log_pages >= CHECKPOINT_PAGES:
            self._checkpointer.request()

    def _run_task(self, task: BackgroundTask) -> None:
        is_done = self.transaction(task.run_portion)
        task.portion_committed(is_done)
        if is_done:
            self.tasks.remove(task)
