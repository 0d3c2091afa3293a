"""How much lies in every table and index, counted in the file a portion at a time, between the work of others."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from zataku.table.backend import cost
from zataku.table.backend.port import Size
from zataku.table.backend.values import unpack
from zataku.table.embedded.catalog import Catalog, IndexPart, TablePart
from zataku.table.embedded.queue import Line, served
from zataku.table.embedded.reads.reader import ReadDesk

PORTION = 2_000

# Counts a portion after a place; the next place is None at the end.
Count: TypeAlias = "Callable[[tuple[Any, ...] | None, ReadDesk], Portion]"


class Portion(NamedTuple):
    """Some entries, their bytes, and where to go on."""

    items: int
    bytes: int
    after: tuple[Any, ...] | None


async def sizes(line: Line[ReadDesk], catalog: Catalog) -> list[Size]:
    """All tables, each followed by its indexes."""
    found: list[Size] = []
    for part in catalog.parts:
        found.append(await _size(line, part.schema.name, None, partial(_items, part)))
        found += [
            await _size(line, part.schema.name, index.schema.name, partial(_entries, part, index))
            for index in part.indexes
        ]
    return found


async def _size(line: Line[ReadDesk], table: str, index: str | None, count: Count) -> Size:
    size = Size(table, index, 0, 0)
    after: tuple[Any, ...] | None = None
    while True:
        items, total, after = await served(line, partial(count, after))
        size.items += items
        size.bytes += total
        if after is None:
            return size


def _items(part: TablePart, after: tuple[Any, ...] | None, desk: ReadDesk) -> Portion:
    sql = f"SELECT id, size FROM {part.items} WHERE id > ? ORDER BY id LIMIT ?"
    rows = desk.cursor.execute(sql, (*(after or (-1,)), PORTION)).fetchall()
    return Portion(len(rows), sum(size for _, size in rows), rows[-1][:1] if len(rows) == PORTION else None)


def _entries(part: TablePart, index: IndexPart, after: tuple[Any, ...] | None, desk: ReadDesk) -> Portion:
    held = index.held
    # An entry of whole items is as large as its item; of others only the item itself tells.
    sql = (
        f"SELECT k.ipk, k.isk, k.pk, k.sk, {'i.size' if held is None else 'i.item'} FROM {index.entries} AS k "
        f"CROSS JOIN {part.items} AS i ON i.id = k.id WHERE (k.ipk, k.isk, k.pk, k.sk) > (?, ?, ?, ?) "
        "ORDER BY k.ipk, k.isk, k.pk, k.sk LIMIT ?"
    )
    rows = desk.cursor.execute(sql, (*(after or (b"",) * 4), PORTION)).fetchall()
    sizes = [row[4] if held is None else cost.entry_size(unpack(row[4]), held) for row in rows]
    return Portion(len(rows), sum(sizes), rows[-1][:4] if len(rows) == PORTION else None)
