"""Comparison of two stores item by item."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Literal

from msgspec import Struct

from zataku.table.backend.port import Backend, ItemKey, Row
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Item, unpack_row
from zataku.table.transfer.dynamodb_json import encode_line
from zataku.table.transfer.reads import default_calls, prefetched_pages
from zataku.table.transfer.verification import key_of, read_stored_rows


class Difference(Struct, frozen=True):
    """An item that only one of two stores has, or that both have with different content."""

    table: str
    key: ItemKey
    kind: Literal["only in first", "only in second", "differs"]


async def compare_stores(first: Backend, second: Backend, tables: Sequence[TableSchema]) -> AsyncGenerator[Difference]:
    """Yield every difference between two stores while reading them; memory holds a few pages."""
    calls = default_calls()
    for table in tables:
        async with aclosing(prefetched_pages(first, calls, "compare", table)) as pages:
            async for page in pages:
                items = await asyncio.to_thread(_items, page.rows)
                rows = await read_stored_rows(second, calls, "compare", table, items)
                for item, row, equal in await asyncio.to_thread(_compare_rows, items, rows):
                    if not equal:
                        yield Difference(table.name, key_of(table, item), "only in first" if row is None else "differs")
        keys = tuple(key.name for key in table.keys)
        async with aclosing(prefetched_pages(second, calls, "compare", table, attributes=keys)) as pages:
            async for page in pages:
                items = await asyncio.to_thread(_items, page.rows)
                rows = await read_stored_rows(first, calls, "compare", table, items, keys_only=True)
                for item, row in zip(items, rows, strict=True):
                    if row is None:
                        yield Difference(table.name, key_of(table, item), "only in second")


def _items(rows: list[Row]) -> list[Item]:
    return [unpack_row(row) for row in rows]


def _compare_rows(items: list[Item], rows: list[Row | None]) -> list[tuple[Item, Row | None, bool]]:
    # Compared as encoded lines, because True == 1 in Python.
    return [
        (item, row, row is not None and encode_line(item) == encode_line(unpack_row(row)))
        for item, row in zip(items, rows, strict=True)
    ]
