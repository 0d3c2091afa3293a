"""Comparison of two stores item by item."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Literal

from msgspec import Struct

from zataku.table.backend.port import Backend, ItemKey
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import unpack_row
from zataku.table.transfer.dynamodb_json import encode_line
from zataku.table.transfer.reads import default_calls, prefetched_pages


class Difference(Struct, frozen=True):
    """An item that only one of two stores has, or that both have with different content."""

    table: str
    key: ItemKey
    kind: Literal["only in first", "only in second", "differs"]


async def compare_stores(first: Backend, second: Backend, tables: Sequence[TableSchema]) -> list[Difference]:
    """Every difference between two stores."""
    differences: list[Difference] = []
    for table in tables:
        ours, theirs = await _lines_by_key(first, table), await _lines_by_key(second, table)
        for key, line in ours.items():
            if theirs.get(key) != line:
                differences.append(Difference(table.name, key, "differs" if key in theirs else "only in first"))
        differences += [Difference(table.name, key, "only in second") for key in theirs if key not in ours]
    return differences


async def _lines_by_key(store: Backend, table: TableSchema) -> dict[ItemKey, bytes]:
    """The items of a table as encoded lines: as Python values True and 1 would be equal."""
    lines: dict[ItemKey, bytes] = {}
    async with aclosing(prefetched_pages(store, default_calls(), "compare", table)) as pages:
        async for page in pages:
            for item in map(unpack_row, page.rows):
                lines[table.key_of(item)] = encode_line(item)
    return lines
