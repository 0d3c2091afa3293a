"""Verification of an import: the store is read back and compared with the export."""

import asyncio
from contextlib import aclosing
from decimal import Decimal
from typing import Any

from zataku.table.backend.errors import CopyDiffers
from zataku.table.backend.limits import BATCH_GETS
from zataku.table.backend.port import Backend, GetItem, Row
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Item, unpack_row
from zataku.table.store.batch import Batches
from zataku.table.store.capacity_meter import MeteredCalls
from zataku.table.transfer.dynamodb_json import ItemChecksum, encode_line
from zataku.table.transfer.export_reader import ExportedTable
from zataku.table.transfer.reads import TransferProgress, item_batches, prefetched_pages

_BATCH_ITEMS = 10 * BATCH_GETS
_MAX_NAMED_ITEMS = 5


async def verify_import(
    backend: Backend,
    calls: MeteredCalls,
    table: TableSchema,
    exported: ExportedTable,
    expected: ItemChecksum | None,
    now: float,
    progress: TransferProgress | None,
) -> None:
    """Raise `CopyDiffers` unless the table holds exactly the items of the export; expired ones may be missing.

    Without an expected checksum, it may hold other items too.
    """
    if expected is None:
        await _verify_all_present(backend, calls, table, exported, now, progress)
        return
    checksum, size = ItemChecksum(), 0
    async with aclosing(prefetched_pages(backend, calls, "verify", table)) as reading:
        async for page in reading:
            size += await asyncio.to_thread(_count, checksum, page.rows)
            if progress is not None:
                progress(table.name, checksum.items, expected.items, size)
    if checksum == expected:
        return
    expired = await _verify_all_present(backend, calls, table, exported, now, None)
    if checksum.items != expected.items - expired:
        raise CopyDiffers(
            f"{table.name} holds {checksum.items} items, but the export holds {expected.items}. Something else wrote "
            "to it: empty it and import again.",
            table=table.name,
        )


async def _verify_all_present(
    backend: Backend,
    calls: MeteredCalls,
    table: TableSchema,
    exported: ExportedTable,
    now: float,
    progress: TransferProgress | None,
) -> int:
    """Raise `CopyDiffers` unless the table holds every item of the export; returns how many expired ones are gone."""
    batches = Batches(backend, calls)
    expired = done = size = 0
    for part in exported.parts:
        async with aclosing(item_batches(part, _BATCH_ITEMS)) as reading:
            async for items in reading:
                reads = [GetItem(table, table.key_of(item), strong=True) for item in items]
                rows = await batches.get(f"{table.name}.verify", reads)
                differing, line_bytes = await asyncio.to_thread(_find_differing, items, rows)
                mismatches = [
                    (item, row) for item, row in differing if row is not None or not _is_expired(table, item, now)
                ]
                if mismatches:
                    raise _differs(table, mismatches)
                expired, done, size = expired + len(differing), done + len(items), size + line_bytes
                if progress is not None:
                    progress(table.name, done, exported.items, size)
    return expired


def _differs(table: TableSchema, mismatches: list[tuple[Item, Row | None]]) -> CopyDiffers:
    named = [
        f"{table.key_of(item)} {'is missing' if row is None else 'differs'}"
        for item, row in mismatches[:_MAX_NAMED_ITEMS]
    ]
    return CopyDiffers(
        f"{table.name} differs from the export: {'; '.join(named)}. Import again, and write nothing to it until then.",
        table=table.name,
    )


def _count(checksum: ItemChecksum, rows: list[Row]) -> int:
    lines = [encode_line(unpack_row(row)) for row in rows]
    checksum.add(lines)
    return sum(map(len, lines)) + len(lines)


def _find_differing(items: list[Item], rows: list[Row | None]) -> tuple[list[tuple[Item, Row | None]], int]:
    differing: list[tuple[Item, Row | None]] = []
    size = 0
    for item, row in zip(items, rows, strict=True):
        line = encode_line(item)
        size += len(line) + 1
        if row is None or encode_line(unpack_row(row)) != line:
            differing.append((item, row))
    return differing, size


def _is_expired(table: TableSchema, item: Item, now: float) -> bool:
    expires_at: Any = None if table.ttl is None else item.get(table.ttl)
    return isinstance(expires_at, int | Decimal) and not isinstance(expires_at, bool) and expires_at <= now
