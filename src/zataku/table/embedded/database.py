"""The store's file while it is open: its connections, its commit counter, and the cache of committed items.

SQLite replays a write-ahead log as far as it is whole and cannot know that there was more. So the file holds the number
of its last commit, and `<path>.mark` the last number that was acknowledged: a store that has lost its end is noticed
when it is opened.
"""

import os
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import TypeAlias

import apsw

from zataku.table.backend.errors import BadInput, StoreClosed, StoreDamaged
from zataku.table.embedded.catalog import Catalog
from zataku.table.embedded.file import layout
from zataku.table.embedded.file.connection import (
    BUSY_MILLISECONDS,
    check_format,
    connect,
    create_store,
    register_checksums,
    single_value,
)
from zataku.table.embedded.file.lock import FileLock, open_side_file
from zataku.table.embedded.file.sqlite_errors import damaged, full, is_full, table_error
from zataku.table.embedded.file.sqlite_types import Connection

# Table name, partition key bytes, sort key bytes.
CacheKey: TypeAlias = tuple[str, bytes, bytes]
# The packed item, and its size by DynamoDB's rules.
CachedItem: TypeAlias = tuple[bytes, int]

MAX_CACHE_BYTES = 64 * 1024 * 1024
# Approximate memory of a cache entry in addition to the item's bytes.
_CACHE_ENTRY_BYTES = 256
_READER_CACHE_KIB = 32 * 1024
_WRITER_CACHE_KIB = 8 * 1024
# How long opening waits for a process that reads or copies the file.
_OPEN_BUSY_MILLISECONDS = 500
_MARK_FORMAT = struct.Struct("<QI")


class ItemCache:
    """Items read or written lately, as last committed; a hit needs no thread and no disk.

    The writer removes an item before the commit that changes it and adds the new state afterwards, before any caller is
    answered. A read adds an item only when no commit has begun since its snapshot. When the cache is full the least
    recently used half is dropped. A cache of 0 bytes stays empty, for a store that another process writes.
    """

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._max_half_bytes = max_bytes // 2
        self._lock = Lock()
        self._recent: dict[CacheKey, CachedItem] = {}
        self._older: dict[CacheKey, CachedItem] = {}
        self._recent_bytes = 0
        self._is_committing = False
        self._commits = 0

    def get(self, key: CacheKey) -> CachedItem | None:
        """The item, if it is cached. Safe on any thread, and never waits for the disk."""
        cached = self._recent.get(key)
        if cached is None:
            cached = self._older.get(key)
            if cached is not None:
                with self._lock:
                    # The writer may have removed it in between; then it must not come back.
                    if self._older.pop(key, None) is cached:
                        self._add(key, cached)
        return cached

    @property
    def generation(self) -> int | None:
        """To be read before a snapshot begins and passed to `add`; None when its items must not be cached."""
        return None if self._is_committing or not self._max_half_bytes else self._commits

    def add(self, key: CacheKey, item: CachedItem, generation: int | None) -> None:
        """Cache an item that was read, unless a commit has begun since the snapshot of the read."""
        with self._lock:
            if generation is not None and generation == self._commits and not self._is_committing:
                self._add(key, item)

    def begin_commit(self, keys: Iterable[CacheKey]) -> None:
        """Remove the items that a commit is about to change."""
        with self._lock:
            self._is_committing = True
            self._commits += 1
            for key in keys:
                self._recent.pop(key, None)
                self._older.pop(key, None)

    def end_commit(self, states: Iterable[tuple[CacheKey, CachedItem | None]] = ()) -> None:
        """Add the committed states; none when the commit failed."""
        with self._lock:
            self._is_committing = False
            for key, state in states:
                if state is not None:
                    self._add(key, state)

    def clear(self) -> None:
        """Drop everything: the file is replaced."""
        with self._lock:
            self._commits += 1
            self._recent, self._older, self._recent_bytes = {}, {}, 0

    def _add(self, key: CacheKey, state: CachedItem) -> None:
        if self._recent_bytes > self._max_half_bytes:
            self._older, self._recent, self._recent_bytes = self._recent, {}, 0
        self._recent[key] = state
        self._recent_bytes += len(state[0]) + _CACHE_ENTRY_BYTES


class CommitMark:
    """The number of the last acknowledged commit, in `<path>.mark`.

    It is written without a sync: after a power cut it may be behind, which is harmless, and it can never be ahead of
    what was acknowledged.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = open_side_file(_mark_path(path))

    def read(self) -> int:
        """The number, or 0 when there is none."""
        return _mark_number(os.pread(self._descriptor, _MARK_FORMAT.size, 0))

    def write(self, number: int) -> None:
        """Store the number."""
        content = number.to_bytes(8, "little")
        os.pwrite(self._descriptor, content + zlib.crc32(content).to_bytes(4, "little"), 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def _mark_path(path: Path) -> Path:
    return path.with_name(path.name + ".mark")


def _read_mark(path: Path) -> int:
    """The mark of a store of another process; unlike `CommitMark` this never creates the file."""
    mark = _mark_path(path)
    try:
        if not mark.is_file():
            return 0
        with mark.open("rb") as file:
            return _mark_number(file.read(_MARK_FORMAT.size))
    except OSError:
        return 0


def _mark_number(content: bytes) -> int:
    if len(content) != _MARK_FORMAT.size:
        return 0
    number, checksum = _MARK_FORMAT.unpack(content)
    return number if zlib.crc32(content[:8]) == checksum else 0


class Database:
    """One store file, locked by this process; or read while its owner writes it, with `read_only`."""

    def __init__(self, path: Path, *, accept_loss: bool = False, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self.catalog = Catalog()
        self.damage: StoreDamaged | None = None
        self.commits = 0
        self.sequence = 0
        self.secret = b""
        self.item_cache = ItemCache(0) if read_only else ItemCache()
        self._accept_loss = accept_loss
        self._lock = FileLock(path)
        self._commit_mark: CommitMark | None = None
        self._connection: Connection | None = None

    def open(self) -> None:
        """Lock the file and check it."""
        if self.read_only:
            self._open_read_only()
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock.acquire()
        try:
            register_checksums()
            self._commit_mark = CommitMark(self.path)
            self.reopen()
        except BaseException:
            self.unlock()
            raise

    def _open_read_only(self) -> None:
        """Check the file without changing it."""
        if not self.path.is_file():
            raise BadInput(f"There is no store at {self.path}. Check the path.")
        register_checksums()
        # Read before the file: a process that writes at the same time advances both, the mark last.
        acknowledged = _read_mark(self.path)
        try:
            connection = self.open_reader()
            try:
                check_format(connection, self.path)
                self._read_state(connection)
            finally:
                connection.close()
        except apsw.Error as error:
            raise self.translate(error) from error
        self._check_commits(acknowledged)

    def reopen(self) -> None:
        """Open the current file and check it."""
        acknowledged = self.commit_mark.read()
        self._check_exists(acknowledged)
        try:
            connection = connect(self.path, writable=True, cache_kib=_WRITER_CACHE_KIB)
        except apsw.Error as error:
            raise self.translate(error) from error
        try:
            self._initialise(connection)
            self._check_commits(acknowledged)
            self._check_length(connection)
            self.commit_mark.write(self.commits)
        except apsw.Error as error:
            connection.close()
            raise self.translate(error) from error
        except OSError as error:
            connection.close()
            raise full(self.path) if is_full(error) else error from error
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    @property
    def connection(self) -> Connection:
        """The writing connection."""
        if self._connection is None:
            raise StoreClosed(f"{self.path} is not open.")
        return self._connection

    @property
    def commit_mark(self) -> CommitMark:
        """The mark of the last acknowledged commit."""
        if self._commit_mark is None:
            raise StoreClosed(f"{self.path} is not open.")
        return self._commit_mark

    def empty_log(self) -> None:
        """Move the whole write-ahead log into the file, which is then complete by itself."""
        if self.damage is None:
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def disconnect(self) -> None:
        """Close the writing connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def open_reader(self) -> Connection:
        """A further connection that only reads."""
        return connect(self.path, writable=False, cache_kib=_READER_CACHE_KIB, read_only_file=self.read_only)

    def open_checkpointer(self) -> Connection:
        """A further connection that moves the write-ahead log into the file."""
        connection = connect(self.path, writable=True)
        connection.pragma("synchronous", "full")
        return connection

    def unlock(self) -> None:
        """Release the file for other processes."""
        if self._commit_mark is not None:
            self._commit_mark.close()
            self._commit_mark = None
        self._lock.release()

    def translate(self, error: apsw.Error) -> BaseException:
        """The error that a caller gets for one of SQLite; damage is recorded and ends all further work."""
        translated = table_error(error, self.path)
        if isinstance(translated, StoreDamaged) and self.damage is None:
            self.damage = translated
        return error if translated is None else translated

    def _initialise(self, connection: Connection) -> None:
        if single_value(connection, "SELECT count(*) FROM sqlite_master") == 0:
            create_store(connection)
        check_format(connection, self.path)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        self._read_state(connection)

    def _read_state(self, connection: Connection) -> None:
        row = next(iter(connection.execute("SELECT commits, sequence, secret FROM state").fetchall()), None)
        if row is None:
            raise damaged(self.path, "has lost its own records")
        self.commits, self.sequence, self.secret = row

    def _check_exists(self, acknowledged: int) -> None:
        exists = self.path.exists() and self.path.stat().st_size > 0
        if not exists and acknowledged and not self._accept_loss:
            raise self._loss(f"The file is gone, with {acknowledged} acknowledged commits")

    def _check_commits(self, acknowledged: int) -> None:
        if self.commits < acknowledged and not self._accept_loss:
            raise self._loss(
                f"{acknowledged - self.commits} acknowledged commits are missing (it ends at commit {self.commits} of "
                f"{acknowledged}): its write-ahead log was lost, or an older copy was put in its place"
            )

    def _loss(self, message: str) -> StoreDamaged:
        return StoreDamaged(
            f"{self.path}: {message}. Put the right file back, restore a backup, or start with accept_loss=True to "
            "continue without them.",
            path=str(self.path),
        )

    def _check_length(self, connection: Connection) -> None:
        # The whole log goes into the file first; then the file must hold every page.
        connection.set_busy_timeout(_OPEN_BUSY_MILLISECONDS)
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.FullError, apsw.BusyError):
            # The log stays as it is. Neither a full disk nor a process that copies the file at this moment should keep
            # a server from starting.
            return
        finally:
            connection.set_busy_timeout(BUSY_MILLISECONDS)
        pages = int(single_value(connection, "PRAGMA page_count"))
        if self.path.stat().st_size < pages * layout.PAGE_SIZE:
            raise damaged(self.path, "is shorter than its header states: its end was cut off")
