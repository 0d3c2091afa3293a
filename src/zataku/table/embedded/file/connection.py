"""SQLite connections to a store's file, with a checksum on every page."""

from pathlib import Path
from secrets import token_bytes
from threading import Lock
from typing import Any, cast

import apsw
import apsw.sqlite_extra

from zataku.table.backend.errors import BadInput, SchemaRefused
from zataku.table.embedded.file import layout
from zataku.table.embedded.file.sqlite_errors import damaged
from zataku.table.embedded.file.sqlite_types import Connection

CHECKSUM_VFS = "cksmvfs"
BUSY_MILLISECONDS = 5_000
_DEFAULT_CACHE_KIB = 2 * 1024
_STATEMENT_CACHE = 512
_registration = Lock()
_HARDENING = (
    (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
    (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
    (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
)


def register_checksums() -> None:
    """Register the checksum VFS in this process without making it the default for other users of SQLite."""
    with _registration:
        names = apsw.vfs_names()
        if CHECKSUM_VFS in names:
            return
        connection = apsw.Connection(":memory:")
        apsw.sqlite_extra.load(connection, "cksumvfs")
        connection.close()
        apsw.set_default_vfs(names[0])


def connect(
    path: Path, *, writable: bool, cache_kib: int = _DEFAULT_CACHE_KIB, read_only_file: bool = False
) -> Connection:
    """A connection that checks every page it reads.

    With `read_only_file` the file itself is opened for reading only, and never created.
    """
    access = apsw.SQLITE_OPEN_READONLY if read_only_file else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    flags = access | apsw.SQLITE_OPEN_NOMUTEX
    connection = cast(
        "Connection", apsw.Connection(str(path), flags=flags, vfs=CHECKSUM_VFS, statementcachesize=_STATEMENT_CACHE)
    )
    # What a file says about itself is not trusted: no function of a schema runs, and no trigger, view or shadow table
    # is used. A store has none; a file from elsewhere may.
    for setting, value in _HARDENING:
        connection.config(setting, value)
    # Closing must not touch a file that was just found damaged; a sound store is checkpointed explicitly.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.pragma("cache_size", -cache_kib)
    connection.pragma("temp_store", "memory")
    if not writable:
        connection.pragma("query_only", True)
    return connection


def create_store(connection: Connection) -> None:
    """Create the store's own tables in an empty file."""
    connection.pragma("page_size", layout.PAGE_SIZE)
    connection.reserve_bytes("main", layout.CHECKSUM_BYTES)
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    # Without a savepoint, as `with` makes one: on a full disk SQLite rolls back by itself, and then there is none.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(layout.STORE_TABLES)
    connection.execute("INSERT INTO state VALUES (1, 0, 0, ?)", (token_bytes(32),))
    connection.pragma("application_id", layout.APPLICATION_ID)
    connection.pragma("user_version", layout.FORMAT)
    connection.execute("COMMIT")


def check_format(connection: Connection, path: Path) -> None:
    """Refuse a file that is not a store, or one that this version cannot read."""
    if single_value(connection, "PRAGMA application_id") != layout.APPLICATION_ID:
        raise BadInput(f"{path} is an SQLite file, but not a Zataku store. Choose another path.")
    version = single_value(connection, "PRAGMA user_version")
    if version > layout.FORMAT:
        raise SchemaRefused(
            f"{path} has format {version}, written by a newer Zataku; this one reads up to {layout.FORMAT}. Update it."
        )
    if connection.reserve_bytes("main", -1) != layout.CHECKSUM_BYTES:
        raise damaged(path, "has lost its checksums: another program has rewritten it")


def single_value(connection: Connection, sql: str) -> Any:
    """The only value of the only row of a query."""
    return connection.execute(sql).get
