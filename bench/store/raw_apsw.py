"""The same rows written with apsw directly: no types, no checks except those of the case, bytes in and bytes out."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from time import perf_counter, time
from typing import Any, NamedTuple

import apsw
import msgspec

from bench.store.cases import CaseName, Edit, Pair, Run
from bench.store.pinboard import PAGE, Note

SCHEMA = """
CREATE TABLE items (
    id INTEGER PRIMARY KEY, pk BLOB NOT NULL, sk BLOB NOT NULL, item BLOB NOT NULL, UNIQUE (pk, sk)
);
CREATE TABLE by_author (
    ipk BLOB NOT NULL, isk BLOB NOT NULL, pk BLOB NOT NULL, sk BLOB NOT NULL, id INTEGER NOT NULL,
    PRIMARY KEY (ipk, isk, pk, sk)
) WITHOUT ROWID;
CREATE TABLE log (seq INTEGER PRIMARY KEY, at REAL NOT NULL, kind INTEGER NOT NULL, old BLOB, new BLOB);
"""
FIND = "SELECT id, item FROM items WHERE pk = ? AND sk = ?"
INSERT = "INSERT INTO items (pk, sk, item) VALUES (?, ?, ?)"
REPLACE = "UPDATE items SET item = ? WHERE id = ?"
INDEX = "INSERT INTO by_author VALUES (?, ?, ?, ?, ?)"
LOG = "INSERT INTO log (at, kind, old, new) VALUES (?, ?, ?, ?)"
GET = "SELECT item FROM items WHERE pk = ? AND sk = ?"
PAGE_OF_TABLE = f"SELECT item FROM items WHERE pk = ? AND sk >= ? ORDER BY sk LIMIT {PAGE}"
PAGE_OF_INDEX = (
    "SELECT item FROM by_author JOIN items USING (id) WHERE ipk = ? "
    f"ORDER BY isk, by_author.pk, by_author.sk LIMIT {PAGE}"
)
WRITES = {"put", "update", "transaction", "batch write"}


class Packed(NamedTuple):
    """The values of a note's rows, encoded before the measurement starts."""

    pk: bytes
    sk: bytes
    ipk: bytes
    isk: bytes
    item: bytes


class StoredNote(msgspec.Struct):
    """The attributes of a packed note."""

    PK: str
    SK: str
    GSI1PK: str
    GSI1SK: str
    type: str
    board: str
    number: int
    author: str
    status: str
    likes: int
    created: int
    body: str


_decode = msgspec.msgpack.Decoder(StoredNote).decode
_encode = msgspec.msgpack.Encoder().encode


def key_bytes(board: str, number: int) -> tuple[bytes, bytes]:
    """The partition and sort key of a note."""
    return f"BOARD#{board}".encode(), f"NOTE#{number:08d}".encode()


def pack_note(note: Note) -> Packed:
    """The rows of a note."""
    pk, sk = key_bytes(note.board, note.number)
    ipk, isk = f"AUTHOR#{note.author}", f"{note.board}#{note.number:08d}"
    stored = StoredNote(
        pk.decode(), sk.decode(), ipk, isk, "NOTE", *(getattr(note, name) for name in Note.__struct_fields__)
    )
    return Packed(pk, sk, ipk.encode(), isk.encode(), _encode(stored))


class RawConnection:
    """A connection and its statements."""

    def __init__(self, path: Path) -> None:
        self.connection = apsw.Connection(str(path))
        self.connection.pragma("journal_mode", "wal")
        self.connection.pragma("synchronous", "full")
        # The same settings as the embedded store, so that neither has an advantage.
        self.connection.pragma("cache_size", -32 * 1024)
        self.connection.wal_autocheckpoint(4000)
        self._execute = self.connection.cursor().execute
        self.calls: dict[CaseName, Callable[[Any], Any]] = {
            "put": self.put,
            "update": self.update,
            "transaction": self.transaction,
            "batch write": self.batch_write,
            "get": self.get,
            "query": self.query,
            "index query": self.index_query,
            "batch get": self.batch_get,
        }

    def begin(self) -> None:
        """Begin a writing transaction."""
        self._execute("BEGIN IMMEDIATE")
        self.now = time()

    def commit(self) -> None:
        """Commit the transaction."""
        self._execute("COMMIT")

    def put(self, row: Packed) -> None:
        self._write(row, self._execute(FIND, (row.pk, row.sk)).fetchone())

    def _write(self, row: Packed, stored: tuple[int, bytes] | None) -> None:
        execute = self._execute
        if stored is None:
            execute(INSERT, (row.pk, row.sk, row.item))
            execute(INDEX, (row.ipk, row.isk, row.pk, row.sk, self.connection.last_insert_rowid()))
            execute(LOG, (self.now, 0, None, row.item))
        else:
            # The index key of a note is derived from its key, so a replaced note keeps its index entry.
            execute(REPLACE, (row.item, stored[0]))
            execute(LOG, (self.now, 1, stored[1], row.item))

    def _change(self, row_id: int, old: bytes, stored: StoredNote) -> None:
        new = _encode(stored)
        self._execute(REPLACE, (new, row_id))
        self._execute(LOG, (self.now, 1, old, new))

    def update(self, edit: tuple[bytes, bytes, str]) -> None:
        pk, sk, text = edit
        row_id, old = self._execute(FIND, (pk, sk)).fetchone()
        stored = _decode(old)
        if stored.status != "open":
            raise LookupError(edit)
        stored.body = text
        self._change(row_id, old, stored)

    def transaction(self, pair: tuple[Packed, bytes, bytes]) -> None:
        note, pk, sk = pair
        if self._execute(FIND, (note.pk, note.sk)).fetchone() is not None:
            raise LookupError(pair)
        row_id, old = self._execute(FIND, (pk, sk)).fetchone()
        self._write(note, None)
        stored = _decode(old)
        stored.likes += 1
        self._change(row_id, old, stored)

    def batch_write(self, rows: list[Packed]) -> None:
        for row in rows:
            self.put(row)

    def get(self, key: tuple[bytes, bytes]) -> bytes:
        return self._execute(GET, key).fetchone()[0]

    def query(self, pk: bytes) -> list[tuple[bytes]]:
        return self._execute(PAGE_OF_TABLE, (pk, b"NOTE#")).fetchall()

    def index_query(self, ipk: bytes) -> list[tuple[bytes]]:
        return self._execute(PAGE_OF_INDEX, (ipk,)).fetchall()

    def batch_get(self, keys: list[tuple[bytes, bytes]]) -> list[bytes]:
        return [self._execute(GET, key).fetchone()[0] for key in keys]


class RawApsw:
    """A store on apsw: one caller calls SQLite directly, several share a queue that one thread serves."""

    name = "raw apsw"

    def __init__(self, folder: Path) -> None:
        self._path = folder / "raw.db"

    async def open(self) -> None:
        self._connection = RawConnection(self._path)
        self._connection.connection.execute(SCHEMA)

    async def load(self, notes: list[Note]) -> None:
        for at in range(0, len(notes), 1000):
            self._connection.begin()
            self._connection.batch_write([pack_note(note) for note in notes[at : at + 1000]])
            self._connection.commit()

    async def page_of(self, board: str) -> list[str]:
        return [_decode(row[0]).body for row in self._connection.query(f"BOARD#{board}".encode())]

    def prepare(self, case: CaseName, work: list[Any]) -> Run:
        prepared = [_prepare_input(case, call_input) for call_input in work]

        async def run(callers: int, deadline: float) -> int:
            if callers == 1:
                return self._run_directly(case, prepared, deadline)
            return await self._run_queued(case, prepared, callers, deadline)

        return run

    def _run_directly(self, case: CaseName, prepared: list[Any], deadline: float) -> int:
        call, connection, writes, completed = self._connection.calls[case], self._connection, case in WRITES, 0
        for work in prepared:
            if writes:
                connection.begin()
                call(work)
                connection.commit()
            else:
                call(work)
            completed += 1
            if perf_counter() > deadline:
                break
        return completed

    async def _run_queued(self, case: CaseName, prepared: list[Any], callers: int, deadline: float) -> int:
        loop = asyncio.get_running_loop()
        queue: SimpleQueue[tuple[Any, asyncio.Future[Any]] | None] = SimpleQueue()
        thread = threading.Thread(target=_serve, args=(self._connection, case, queue, loop))
        thread.start()
        remaining, completed = iter(prepared), 0

        async def caller() -> None:
            nonlocal completed
            for work in remaining:
                future = loop.create_future()
                queue.put((work, future))
                await future
                completed += 1
                if perf_counter() > deadline:
                    return

        try:
            await asyncio.gather(*(caller() for _ in range(callers)))
        finally:
            queue.put(None)
            thread.join()
        return completed

    async def close(self) -> None:
        self._connection.connection.close()


def _serve(
    connection: RawConnection, case: CaseName, queue: "SimpleQueue[Any]", loop: asyncio.AbstractEventLoop
) -> None:
    call, writes = connection.calls[case], case in WRITES
    while (first := queue.get()) is not None:
        group = [first]
        try:
            while len(group) < 512:
                group.append(queue.get_nowait())
        except Empty:
            pass
        if writes:
            connection.begin()
        results = [(future, call(work)) for work, future in group]
        if writes:
            connection.commit()
        loop.call_soon_threadsafe(_set_results, results)


def _set_results(results: list[tuple["asyncio.Future[Any]", Any]]) -> None:
    for future, result in results:
        future.set_result(result)


def _prepare_input(case: CaseName, work: Any) -> Any:
    if isinstance(work, Note):
        return pack_note(work)
    if isinstance(work, Edit):
        return (*key_bytes(work.board, work.number), work.body)
    if isinstance(work, Pair):
        return (pack_note(work.note), *key_bytes(work.board, work.number))
    if case == "query":
        return f"BOARD#{work}".encode()
    if case == "index query":
        return f"AUTHOR#{work}".encode()
    if case == "get":
        return key_bytes(*work)
    return [pack_note(part) if isinstance(part, Note) else key_bytes(*part) for part in work]
