"""Figures about a store: sizes of tables and indexes, the file and its streams, and the usage of access patterns."""

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from zataku.table.backend import cost
from zataku.table.backend.cost import Usage
from zataku.table.backend.port import Size
from zataku.table.backend.values import unpack
from zataku.table.embedded.catalog import Catalog, StoredIndex, StoredTable
from zataku.table.embedded.file import layout
from zataku.table.embedded.queue import CallQueue
from zataku.table.embedded.reads.reader import ReadSession
from zataku.table.embedded.writer import WriteGroup

PORTION_ROWS = 2_000

_SELECT_CONSUMERS = "SELECT name, position FROM consumers WHERE table_number = ? ORDER BY name"
_COUNT_USAGE_TABLES = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'usage'"
_ADD_USAGE = (
    "INSERT INTO usage VALUES (?, ?, ?, ?) ON CONFLICT (pattern) DO UPDATE SET "
    "calls = calls + excluded.calls, reads = reads + excluded.reads, writes = writes + excluded.writes"
)

# Counts the portion after a key.
Count: TypeAlias = "Callable[[tuple[Any, ...] | None, ReadSession], Portion]"


class Portion(NamedTuple):
    """Number and bytes of some rows, and the key to continue after, None at the end."""

    items: int
    bytes: int
    last_key: tuple[Any, ...] | None


async def table_sizes(queue: CallQueue[ReadSession], catalog: Catalog) -> list[Size]:
    """Sizes of all tables, each followed by its indexes, counted a portion at a time between other reads."""
    sizes: list[Size] = []
    for table in catalog.values():
        sizes.append(await _total(queue, table.schema.name, None, partial(_count_items, table)))
        sizes += [
            await _total(queue, table.schema.name, index.schema.name, partial(_count_entries, table, index))
            for index in table.indexes
        ]
    return sizes


async def _total(queue: CallQueue[ReadSession], table: str, index: str | None, count: Count) -> Size:
    size = Size(table, index, 0, 0)
    last_key: tuple[Any, ...] | None = None
    while True:
        items, total, last_key = await queue.run(partial(count, last_key))
        size.items += items
        size.bytes += total
        if last_key is None:
            return size


def _count_items(table: StoredTable, after: tuple[Any, ...] | None, session: ReadSession) -> Portion:
    sql = f"SELECT id, size FROM {table.items} WHERE id > ? ORDER BY id LIMIT ?"
    rows = session.cursor.execute(sql, (*(after or (-1,)), PORTION_ROWS)).fetchall()
    return Portion(len(rows), sum(size for _, size in rows), rows[-1][:1] if len(rows) == PORTION_ROWS else None)


def _count_entries(
    table: StoredTable, index: StoredIndex, after: tuple[Any, ...] | None, session: ReadSession
) -> Portion:
    names = index.projected
    # With all attributes projected an entry is as large as its item; else the item has to be unpacked.
    sql = (
        f"SELECT k.ipk, k.isk, k.pk, k.sk, {'i.size' if names is None else 'i.item'} FROM {index.entries} AS k "
        f"CROSS JOIN {table.items} AS i ON i.id = k.id WHERE (k.ipk, k.isk, k.pk, k.sk) > (?, ?, ?, ?) "
        "ORDER BY k.ipk, k.isk, k.pk, k.sk LIMIT ?"
    )
    rows = session.cursor.execute(sql, (*(after or (b"",) * 4), PORTION_ROWS)).fetchall()
    sizes = [row[4] if names is None else cost.entry_size(unpack(row[4]), names) for row in rows]
    return Portion(len(rows), sum(sizes), rows[-1][:4] if len(rows) == PORTION_ROWS else None)


def file_facts(path: Path) -> dict[str, str]:
    """Path and sizes of the file and its log, and the free space; reads the disk."""
    log = path.with_name(path.name + "-wal")
    return {
        "file": str(path),
        "bytes of the file": str(path.stat().st_size),
        "bytes of its log": str(log.stat().st_size if log.exists() else 0),
        "free bytes on the disk": str(shutil.disk_usage(path.parent).free),
    }


def stream_facts(session: ReadSession) -> dict[str, str]:
    """How many changes each stream holds, and how many of them each consumer has still to read."""
    facts: dict[str, str] = {}
    for name, table in session.catalog.items():
        if table.schema.stream is None:
            continue
        records = session.cursor.execute(f"SELECT count(*) FROM {table.log}").fetchall()[0][0]
        facts[f"changes kept of {name}"] = str(records)
        for consumer, position in session.cursor.execute(_SELECT_CONSUMERS, (table.number,)).fetchall():
            unread = session.cursor.execute(f"SELECT count(*) FROM {table.log} WHERE seq > ?", (position,)).fetchall()
            facts[f"changes of {name} before {consumer}"] = str(unread[0][0])
    return facts


def add_usage(usage: Sequence[Usage], group: WriteGroup) -> None:
    """Add to the sums per access pattern, creating their table in a file that is older than it."""
    group.execute(layout.USAGE_TABLE)
    for sums in usage:
        group.execute(_ADD_USAGE, sums.pattern, sums.calls, sums.reads, sums.writes)


def read_usage(session: ReadSession) -> list[Usage]:
    """The sums per access pattern, by name."""
    if not session.cursor.execute(_COUNT_USAGE_TABLES).fetchall()[0][0]:
        return []
    rows = session.cursor.execute("SELECT pattern, calls, reads, writes FROM usage ORDER BY pattern").fetchall()
    return [Usage(*row) for row in rows]
