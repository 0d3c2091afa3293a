"""The file itself: opening it, refusing what cannot be trusted, and connections to it."""

from pathlib import Path
from secrets import token_bytes
from threading import Lock
from typing import Any, cast

import apsw
import apsw.sqlite_extra

from zataku.table.backend.errors import BadInput, SchemaRefused, StoreClosed, StoreDamaged
from zataku.table.embedded.catalog import Catalog
from zataku.table.embedded.file import layout
from zataku.table.embedded.file.commit_mark import Watermark, last_mark
from zataku.table.embedded.file.lock import FileLock
from zataku.table.embedded.file.sqlite_errors import damaged, judged
from zataku.table.embedded.file.sqlite_types import Connection
from zataku.table.embedded.item_cache import Recent

CHECKSUM_VFS = "cksmvfs"
_CACHE_KIB = 32 * 1024
_WRITER_CACHE_KIB = 8 * 1024
_SMALL_CACHE_KIB = 2 * 1024
_BUSY_MILLISECONDS = 5_000
# How long a start waits for somebody who only looks.
_PATIENCE_MILLISECONDS = 500
_registering = Lock()


def register_checksums() -> None:
    """Make the checksum VFS known to this process without making it the default for other users of SQLite."""
    with _registering:
        names = apsw.vfs_names()
        if CHECKSUM_VFS in names:
            return
        connection = apsw.Connection(":memory:")
        apsw.sqlite_extra.load(connection, "cksumvfs")
        connection.close()
        apsw.set_default_vfs(names[0])


def connect(path: Path, *, writable: bool, cache: int = _SMALL_CACHE_KIB, untouched: bool = False) -> Connection:
    """A connection to a store's file. Every page that it reads is held against its checksum.

    With `untouched` the file is opened without the right to write, and never made.
    """
    access = apsw.SQLITE_OPEN_READONLY if untouched else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    flags = access | apsw.SQLITE_OPEN_NOMUTEX
    connection = cast("Connection", apsw.Connection(str(path), flags=flags, vfs=CHECKSUM_VFS, statementcachesize=512))
    # Closing must not touch a file that was just found damaged; a good store checkpoints by itself.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    connection.pragma("cache_size", -cache)
    connection.pragma("temp_store", "memory")
    if not writable:
        connection.pragma("query_only", True)
    return connection


class Database:
    """One open store file, held by this process alone; or only looked at, whoever holds it, with `read_only`."""

    def __init__(self, path: Path, *, accept_loss: bool = False, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self.catalog = Catalog()
        self.damage: StoreDamaged | None = None
        self.commits = 0
        self.sequence = 0
        self.secret = b""
        self.recent = Recent(0) if read_only else Recent()
        self._accept_loss = accept_loss
        self._lock = FileLock(path)
        self._mark: Watermark | None = None
        self._connection: Connection | None = None

    def open(self) -> None:
        """Take the file and check it."""
        if self.read_only:
            self._look()
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock.take()
        try:
            register_checksums()
            self._mark = Watermark(self.path)
            self.reopen()
        except BaseException:
            self.let_go()
            raise

    def _look(self) -> None:
        """Check the file without touching it."""
        if not self.path.is_file():
            raise BadInput(f"There is no store at {self.path}. Check the path.")
        register_checksums()
        # Read before the file: whoever writes there meanwhile moves both on, the mark last.
        mark = last_mark(self.path)
        try:
            connection = self.reader()
            try:
                identify(connection, self.path)
                self._read_state(connection)
            finally:
                connection.close()
        except apsw.Error as error:
            raise self.judge(error) from error
        self._refuse_loss(mark)

    def reopen(self) -> None:
        """Open the file that lies there now and check it."""
        mark = self.mark.read()
        self._refuse_missing(mark)
        try:
            connection = connect(self.path, writable=True, cache=_WRITER_CACHE_KIB)
        except apsw.Error as error:
            raise self.judge(error) from error
        try:
            self._establish(connection)
            self._refuse_loss(mark)
            self._refuse_short_file(connection)
            self.mark.write(self.commits)
        except apsw.Error as error:
            connection.close()
            raise self.judge(error) from error
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    @property
    def connection(self) -> Connection:
        """The connection that writes."""
        if self._connection is None:
            raise StoreClosed(f"{self.path} is not open.")
        return self._connection

    def empty_log(self) -> None:
        """Move everything into the file, which is then complete by itself."""
        if self.damage is None:
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def disconnect(self) -> None:
        """Close the connection that writes."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def reader(self) -> Connection:
        """A further connection that only reads."""
        return connect(self.path, writable=False, cache=_CACHE_KIB, untouched=self.read_only)

    def checkpointer(self) -> Connection:
        """A further connection that moves the log into the file."""
        connection = connect(self.path, writable=True)
        connection.pragma("synchronous", "full")
        return connection

    @property
    def mark(self) -> Watermark:
        """The side file of the last acknowledged commit."""
        if self._mark is None:
            raise StoreClosed(f"{self.path} is not open.")
        return self._mark

    def let_go(self) -> None:
        """Release the file for others."""
        if self._mark is not None:
            self._mark.close()
            self._mark = None
        self._lock.release()

    def judge(self, error: apsw.Error) -> BaseException:
        """What a caller is told of an error; damage is remembered and ends all further work."""
        known = judged(error, self.path)
        if isinstance(known, StoreDamaged) and self.damage is None:
            self.damage = known
        return error if known is None else known

    def _establish(self, connection: Connection) -> None:
        if _single(connection, "SELECT count(*) FROM sqlite_master") == 0:
            _create(connection)
        identify(connection, self.path)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        self._read_state(connection)

    def _read_state(self, connection: Connection) -> None:
        row = next(iter(connection.execute("SELECT commits, sequence, secret FROM state").fetchall()), None)
        if row is None:
            raise damaged(self.path, "has lost its own records")
        self.commits, self.sequence, self.secret = row

    def _refuse_missing(self, mark: int) -> None:
        there = self.path.exists() and self.path.stat().st_size > 0
        if not there and mark and not self._accept_loss:
            raise self._lost(f"The file is gone, with {mark} acknowledged commits")

    def _refuse_loss(self, mark: int) -> None:
        if self.commits < mark and not self._accept_loss:
            raise self._lost(
                f"{mark - self.commits} acknowledged commits are missing (it ends at commit {self.commits} of {mark}): "
                "its write-ahead log was lost, or an older copy was put in its place"
            )

    def _lost(self, what: str) -> StoreDamaged:
        return StoreDamaged(
            f"{self.path}: {what}. Put the right file back, restore a backup, or start with accept_loss=True to go on "
            "without them.",
            path=str(self.path),
        )

    def _refuse_short_file(self, connection: Connection) -> None:
        # All of the log goes into the file first; then the file must hold every page.
        connection.set_busy_timeout(_PATIENCE_MILLISECONDS)
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.FullError, apsw.BusyError):
            # The log stays as it is. A full disk should not keep anyone from reading or deleting, nor should somebody
            # who copies the store at this moment keep a server from starting.
            return
        finally:
            connection.set_busy_timeout(_BUSY_MILLISECONDS)
        pages = int(_single(connection, "PRAGMA page_count"))
        if self.path.stat().st_size < pages * layout.PAGE_SIZE:
            raise damaged(self.path, "is shorter than it says: its end was cut off")


def _create(connection: Connection) -> None:
    connection.pragma("page_size", layout.PAGE_SIZE)
    connection.reserve_bytes("main", layout.CHECKSUM_BYTES)
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    with connection:
        connection.execute(layout.FOUNDATION)
        connection.execute("INSERT INTO state VALUES (1, 0, 0, ?)", (token_bytes(32),))
        connection.pragma("application_id", layout.APPLICATION_ID)
        connection.pragma("user_version", layout.FORMAT)


def identify(connection: Connection, path: Path) -> None:
    """Refuse a file that is not a store, or one this version cannot read."""
    if _single(connection, "PRAGMA application_id") != layout.APPLICATION_ID:
        raise BadInput(f"{path} is an SQLite file, but not a Zataku store. Choose another path.")
    version = _single(connection, "PRAGMA user_version")
    if version > layout.FORMAT:
        raise SchemaRefused(
            f"{path} has format {version}, written by a newer Zataku; this one reads up to {layout.FORMAT}. Update it."
        )
    if connection.reserve_bytes("main", -1) != layout.CHECKSUM_BYTES:
        raise damaged(path, "has lost its checksums: another program has rewritten it")


def _single(connection: Connection, sql: str) -> Any:
    return connection.execute(sql).get
