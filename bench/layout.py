"""Layouts of items and index entries in SQLite: that of the embedded store compared with three others.

Each layout gets the same rows (an item of 1 KB, an index entry, a log record; 16 rows to a commit, WAL,
synchronous=FULL) and the same reads, without the typed layer.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import msgspec

from bench import report

ROWS, GROUP, READS, QUERIES, ROUNDS = 8_000, 16, 5_000, 500, 3
PARTITIONS, INDEX_PARTITIONS = 200, 60
README, RESULTS = Path(__file__).parent / "README.md", Path(__file__).parent / "results" / "layout.json"


class Layout(msgspec.Struct, frozen=True):
    """`clustered` stores items in key order; `copied` stores whole items in the index too."""

    name: str
    clustered: bool
    copied: bool


OURS = Layout("rows by number, index of pointers", clustered=False, copied=False)
PEERS = [
    Layout("rows by number, index of copies", clustered=False, copied=True),
    Layout("rows by key, index of pointers", clustered=True, copied=False),
    Layout("rows by key, index of copies", clustered=True, copied=True),
]


class LayoutFile:
    """A database with one layout."""

    def __init__(self, folder: Path, layout: Layout) -> None:
        self.layout = layout
        self.path = str(folder / "layout.db")
        self.connection = apsw.Connection(self.path)
        setting = "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536"
        self.connection.execute(f"{setting}; PRAGMA wal_autocheckpoint=4000")
        if layout.clustered:
            self.run("CREATE TABLE items (pk, sk, item, PRIMARY KEY (pk, sk)) WITHOUT ROWID")
        else:
            self.run("CREATE TABLE items (id INTEGER PRIMARY KEY, pk, sk, item, UNIQUE (pk, sk))")
        pointer = "item" if layout.copied else "id"
        self.run(f"CREATE TABLE entries (ipk, isk, pk, sk, {pointer}, PRIMARY KEY (ipk, isk, pk, sk)) WITHOUT ROWID")
        self.run("CREATE TABLE log (seq INTEGER PRIMARY KEY, pk, sk, item)")

    def run(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        return self.connection.execute(sql, values).fetchall()

    def put(self, pk: bytes, sk: bytes, ipk: bytes, isk: bytes, item: bytes) -> None:
        self.run("INSERT INTO items (pk, sk, item) VALUES (?, ?, ?)", pk, sk, item)
        pointer = item if self.layout.copied else None if self.layout.clustered else self.connection.last_insert_rowid()
        self.run("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", ipk, isk, pk, sk, pointer)
        self.run("INSERT INTO log (pk, sk, item) VALUES (?, ?, ?)", pk, sk, item)

    @property
    def index_query(self) -> str:
        if self.layout.copied:
            return "SELECT item FROM entries WHERE ipk = ? ORDER BY isk, pk, sk LIMIT 50"
        on = "i.pk = e.pk AND i.sk = e.sk" if self.layout.clustered else "i.id = e.id"
        tail = "WHERE e.ipk = ? ORDER BY e.isk, e.pk, e.sk LIMIT 50"
        return f"SELECT i.item FROM entries e CROSS JOIN items i ON {on} {tail}"


def rate(count: int, work: Callable[[int], object]) -> float:
    """Calls of `work` per second."""
    began = time.perf_counter()
    for at in range(count):
        work(at)
    return count / (time.perf_counter() - began)


def measure(layout: Layout, seed: int) -> dict[str, float]:
    """The rates of one layout in a fresh file."""
    random = Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="zataku-layout-"))
    try:
        file = LayoutFile(folder, layout)
        keys: list[tuple[bytes, bytes]] = []

        def write_group(_: int) -> None:
            file.run("BEGIN IMMEDIATE")
            for _ in range(GROUP):
                pk, sk = b"GAME#%04d" % random.randrange(PARTITIONS), b"MOVE#%08d" % len(keys)
                entry = b"STATUS#%d" % random.randrange(INDEX_PARTITIONS), b"%08d" % random.randrange(10**8)
                file.put(pk, sk, *entry, os.urandom(1000))
                keys.append((pk, sk))
            file.run("COMMIT")

        puts = rate(ROWS // GROUP, write_group) * GROUP
        read_keys = random.choices(keys, k=READS)
        file.run("BEGIN")
        page = "SELECT item FROM items WHERE pk = ? ORDER BY sk LIMIT 50"
        return {
            "put": puts,
            "get": rate(READS, lambda at: file.run("SELECT item FROM items WHERE pk = ? AND sk = ?", *read_keys[at])),
            "50-item query": rate(QUERIES, lambda at: file.run(page, b"GAME#%04d" % (at % PARTITIONS))),
            "50-item index query": rate(
                QUERIES, lambda at: file.run(file.index_query, b"STATUS#%d" % (at % INDEX_PARTITIONS))
            ),
        }
    finally:
        shutil.rmtree(folder)


def main() -> int:
    """Measure every layout in turn for some rounds, and report the medians."""
    layouts = [OURS, *PEERS]
    rounds = [{layout.name: measure(layout, seed) for layout in layouts} for seed in range(ROUNDS)]

    def median(layout: Layout, case: str) -> float:
        return statistics.median(rates[layout.name][case] for rates in rounds)

    rows = [
        report.row(case, ours=median(OURS, case), peer=median(peer, case), peer_name=peer.name, unit="per second")
        for case in rounds[0][OURS.name]
        for peer in PEERS
    ]
    facts = [*report.machine(Path(tempfile.gettempdir())), ("SQLite", apsw.sqlite_lib_version())]
    printed = f"{report.facts_list(facts)}\n\n{report.table(rows)}"
    print(printed)
    report.write_results(RESULTS, rows, facts)
    report.write_between(README, "layout", printed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
