"""Reading a store back after an import."""

import asyncio
from contextlib import aclosing
from decimal import Decimal
from typing import Any

from zataku.table.backend.errors import CopyDiffers
from zataku.table.backend.limits import BATCH_GETS
from zataku.table.backend.port import Backend, GetItem, ItemKey, Row
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Item, unpack_row
from zataku.table.store.batch import Batches
from zataku.table.store.metering import MeteredCalls
from zataku.table.transfer.dynamodb_json import ItemChecksum, encode_line
from zataku.table.transfer.export_reader import ExportedTable
from zataku.table.transfer.reads import TransferProgress, pages, portions

_AT_ONCE = 10 * BATCH_GETS
_NAMED = 5


def key_of(table: TableSchema, item: Item) -> ItemKey:
    """The key of an item."""
    return item[table.pk.name], None if table.sk is None else item[table.sk.name]


async def read_counterparts(
    backend: Backend, calls: MeteredCalls, label: str, table: TableSchema, items: list[Item], *, keys_only: bool = False
) -> list[Row | None]:
    """What lies under the keys of some items, in their order."""
    wanted = tuple(key.name for key in table.keys) if keys_only else None
    reads = [GetItem(table, key_of(table, item), strong=True, attributes=wanted) for item in items]
    return await Batches(backend, calls).get(f"{table.name}.{label}", reads)


async def verify_copy(
    backend: Backend,
    calls: MeteredCalls,
    table: TableSchema,
    found: ExportedTable,
    expected: ItemChecksum | None,
    now: float,
    progress: TransferProgress | None,
) -> None:
    """The table must hold the items of the export and no others; ones that have expired may be gone.

    Without a sum to expect, it may hold others too.
    """
    if expected is None:
        await _look_for_all(backend, calls, table, found, now, progress)
        return
    checksum, size = ItemChecksum(), 0
    async with aclosing(pages(backend, calls, "verify", table)) as reading:
        async for page in reading:
            size += await asyncio.to_thread(_count, checksum, page.rows)
            if progress is not None:
                progress(table.name, checksum.items, expected.items, size)
    if checksum == expected:
        return
    gone = await _look_for_all(backend, calls, table, found, now, None)
    if checksum.items != expected.items - gone:
        raise CopyDiffers(
            f"{table.name} holds {checksum.items} items, but the export holds {expected.items}. Something else wrote "
            "to it: empty it and import again.",
            table=table.name,
        )


async def _look_for_all(
    backend: Backend,
    calls: MeteredCalls,
    table: TableSchema,
    found: ExportedTable,
    now: float,
    progress: TransferProgress | None,
) -> int:
    """The table must hold every item of the export; returns how many are gone because their time has passed."""
    gone = done = size = 0
    for part in found.parts:
        async with aclosing(portions(part, _AT_ONCE)) as reading:
            async for items in reading:
                rows = await read_counterparts(backend, calls, "verify", table, items)
                lacking, text = await asyncio.to_thread(_unequal, items, rows)
                wrong = [(item, row) for item, row in lacking if row is not None or not _expired(table, item, now)]
                if wrong:
                    raise _differs(table, wrong)
                gone, done, size = gone + len(lacking), done + len(items), size + text
                if progress is not None:
                    progress(table.name, done, found.items, size)
    return gone


def _differs(table: TableSchema, wrong: list[tuple[Item, Row | None]]) -> CopyDiffers:
    named = [f"{key_of(table, item)} {'is missing' if row is None else 'differs'}" for item, row in wrong[:_NAMED]]
    return CopyDiffers(
        f"{table.name} is not as the export: {'; '.join(named)}. Import again, and let nobody write to it meanwhile.",
        table=table.name,
    )


def _count(checksum: ItemChecksum, rows: list[Row]) -> int:
    lines = [encode_line(unpack_row(row)) for row in rows]
    checksum.add(lines)
    return sum(map(len, lines)) + len(lines)


def _unequal(items: list[Item], rows: list[Row | None]) -> tuple[list[tuple[Item, Row | None]], int]:
    found: list[tuple[Item, Row | None]] = []
    size = 0
    for item, row in zip(items, rows, strict=True):
        line = encode_line(item)
        size += len(line) + 1
        if row is None or encode_line(unpack_row(row)) != line:
            found.append((item, row))
    return found, size


def _expired(table: TableSchema, item: Item, now: float) -> bool:
    until: Any = None if table.ttl is None else item.get(table.ttl)
    return isinstance(until, int | Decimal) and not isinstance(until, bool) and until <= now
