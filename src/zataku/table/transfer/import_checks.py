"""Checks of an export before any of its items is imported."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from zataku.table.backend.errors import BadInput, ExportDamaged, SchemaRefused, TableError
from zataku.table.backend.port import Backend, ScanItems
from zataku.table.backend.table_schema import KeyAttribute, TableSchema
from zataku.table.backend.validation import check_item
from zataku.table.store.capacity_meter import MeteredCalls
from zataku.table.transfer.dynamodb_json import ItemChecksum, encode_line
from zataku.table.transfer.export_reader import ExportContents, ExportedTable
from zataku.table.transfer.parts import Part
from zataku.table.transfer.reads import TransferProgress


def match_tables(
    export: ExportContents, tables: Sequence[TableSchema], names: Mapping[str, str]
) -> list[tuple[TableSchema, ExportedTable]]:
    """Each table with its exported table; raises `SchemaRefused` for missing tables and other keys."""
    pairs: list[tuple[TableSchema, ExportedTable]] = []
    for table in tables:
        name = names.get(table.name, table.name)
        exported = export.tables.get(name)
        if exported is None:
            names_held = ", ".join(sorted(export.tables))
            raise SchemaRefused(f"{export.folder} has no table {name}. It holds {names_held}.", table=name)
        if exported.schema is not None and exported.schema.keys != table.keys:
            raise SchemaRefused(
                f"{name} was exported with the keys {_named(exported.schema.keys)}, but {table.name} has "
                f"{_named(table.keys)}. Import it into a table with the same keys.",
                table=table.name,
            )
        pairs.append((table, exported))
    return pairs


def _named(keys: Sequence[KeyAttribute]) -> str:
    return " and ".join(f"{key.name} ({key.type})" for key in keys)


class CheckedParts(NamedTuple):
    """Content of the parts of a table: items, and bytes of DynamoDB JSON."""

    checksum: ItemChecksum
    size: int


async def check_parts(table: TableSchema, exported: ExportedTable, progress: TransferProgress | None) -> CheckedParts:
    """Read all parts of a table and return their content; raises for the first damaged or unsuitable part."""
    checksum, size = ItemChecksum(), 0
    for part in exported.parts:
        part_checksum, part_size = await asyncio.to_thread(_check_part, table, part)
        checksum.merge(part_checksum)
        size += part_size
        if progress is not None:
            progress(table.name, checksum.items, exported.items, size)
    if checksum.items != exported.items or exported.digest not in (None, checksum.digest):
        raise ExportDamaged(f"The parts of {exported.name} do not add up to the totals of the export. Copy it again.")
    return CheckedParts(checksum, size)


def _check_part(table: TableSchema, part: Part) -> CheckedParts:
    part.check_bytes()
    checksum, size = ItemChecksum(), 0
    for item, _ in part.read():
        try:
            check_item(table, item)
        except TableError as error:
            location = f"{part.path}, item {checksum.items + 1}"
            raise SchemaRefused(
                f"{location} does not fit {table.name}: {error.message} Nothing was written."
            ) from error
        line = encode_line(item)
        checksum.add((line,))
        size += len(line) + 1
    if checksum.items != part.items:
        raise part.damaged(f"holds {checksum.items} items, but its manifest says {part.items}")
    if part.digest not in (None, checksum.digest):
        raise part.damaged("does not hold the items that were exported")
    return CheckedParts(checksum, size)


async def require_empty_tables(backend: Backend, calls: MeteredCalls, tables: Sequence[TableSchema]) -> None:
    """Raise `BadInput` for tables that are not empty."""
    for table in tables:
        scan = ScanItems(table, limit=1, strong=True)
        page = await calls(f"{table.name}.import", lambda consumed, scan=scan: backend.scan(scan, consumed))
        if page.rows or page.resume is not None:
            raise BadInput(
                f"{table.name} is not empty. Import into an empty table, or allow merging: items with the same key are "
                "then replaced by those of the export.",
                table=table.name,
            )
