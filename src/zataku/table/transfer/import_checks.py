"""Looking at all of an export before any of it is written."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from zataku.table.backend.errors import BadInput, ExportDamaged, SchemaRefused, TableError
from zataku.table.backend.port import Backend, ScanItems
from zataku.table.backend.table_schema import KeyAttribute, TableSchema
from zataku.table.backend.validation import check_item
from zataku.table.store.metering import MeteredCalls
from zataku.table.transfer.dynamodb_json import ItemChecksum, encode_line
from zataku.table.transfer.export_reader import ExportContents, ExportedTable
from zataku.table.transfer.parts import Part
from zataku.table.transfer.reads import TransferProgress


def matched(
    export: ExportContents, tables: Sequence[TableSchema], names: Mapping[str, str]
) -> list[tuple[TableSchema, ExportedTable]]:
    """Each table with its place in the export; refuses tables that are not there or have other keys."""
    pairs: list[tuple[TableSchema, ExportedTable]] = []
    for table in tables:
        name = names.get(table.name, table.name)
        found = export.tables.get(name)
        if found is None:
            held = ", ".join(sorted(export.tables))
            raise SchemaRefused(f"{export.folder} has no table {name}. It holds {held}.", table=name)
        if found.schema is not None and found.schema.keys != table.keys:
            raise SchemaRefused(
                f"{name} was exported with the keys {_named(found.schema.keys)}, but {table.name} has "
                f"{_named(table.keys)}. Import it into a table with the same keys.",
                table=table.name,
            )
        pairs.append((table, found))
    return pairs


def _named(keys: Sequence[KeyAttribute]) -> str:
    return " and ".join(f"{key.name} ({key.type})" for key in keys)


class Checked(NamedTuple):
    """What the parts of a table hold: items, and bytes of DynamoDB JSON."""

    checksum: ItemChecksum
    size: int


async def check_parts(table: TableSchema, found: ExportedTable, progress: TransferProgress | None) -> Checked:
    """Read every part to its end; what the table holds by it. Refuses the first part that is not as it should be."""
    checksum, size = ItemChecksum(), 0
    for part in found.parts:
        counted, text = await asyncio.to_thread(_checked, table, part)
        checksum.take(counted)
        size += text
        if progress is not None:
            progress(table.name, checksum.items, found.items, size)
    if checksum.items != found.items or found.digest not in (None, checksum.digest):
        raise ExportDamaged(f"The parts of {found.name} do not add up to what the export says. Copy it again.")
    return Checked(checksum, size)


def _checked(table: TableSchema, part: Part) -> Checked:
    part.check_bytes()
    checksum, size = ItemChecksum(), 0
    for item, _ in part.read():
        try:
            check_item(table, item)
        except TableError as error:
            where = f"{part.path}, item {checksum.items + 1}"
            raise SchemaRefused(f"{where} does not fit {table.name}: {error.message} Nothing was written.") from error
        line = encode_line(item)
        checksum.add((line,))
        size += len(line) + 1
    if checksum.items != part.items:
        raise part.damaged(f"holds {checksum.items} items, but its manifest says {part.items}")
    if part.digest not in (None, checksum.digest):
        raise part.damaged("does not hold the items that were exported")
    return Checked(checksum, size)


async def refuse_filled(backend: Backend, calls: MeteredCalls, tables: Sequence[TableSchema]) -> None:
    """Refuse tables that hold anything already."""
    for table in tables:
        scan = ScanItems(table, limit=1, strong=True)
        page = await calls(f"{table.name}.import", lambda consumed, scan=scan: backend.scan(scan, consumed))
        if page.rows or page.resume is not None:
            raise BadInput(
                f"{table.name} is not empty. Import into an empty table, or allow merging: items with the same key are "
                "then replaced by those of the export.",
                table=table.name,
            )
