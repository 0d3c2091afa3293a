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
    kind: Literal["only in one", "only in other", "differs"]


async def compare_stores(one: Backend, other: Backend, tables: Sequence[TableSchema]) -> AsyncGenerator[Difference]:
    """Yield every difference between two stores while reading them; memory holds a few pages."""
    calls = default_calls()
    for table in tables:
        async with aclosing(prefetched_pages(one, calls, "compare", table)) as reading:
            async for page in reading:
                items = await asyncio.to_thread(_items, page.rows)
                rows = await read_stored_rows(other, calls, "compare", table, items)
                for item, row, same in await asyncio.to_thread(_judged, items, rows):
                    if not same:
                        yield Difference(table.name, key_of(table, item), "only in one" if row is None else "differs")
        keys = tuple(key.name for key in table.keys)
        async with aclosing(prefetched_pages(other, calls, "compare", table, attributes=keys)) as reading:
            async for page in reading:
                items = await asyncio.to_thread(_items, page.rows)
                rows = await read_stored_rows(one, calls, "compare", table, items, keys_only=True)
                for item, row in zip(items, rows, strict=True):
                    if row is None:
                        yield Difference(table.name, key_of(table, item), "only in other")


def _items(rows: list[Row]) -> list[Item]:
    return [unpack_row(row) for row in rows]


def _judged(items: list[Item], rows: list[Row | None]) -> list[tuple[Item, Row | None, bool]]:
    # Compared as encoded lines, because True == 1 in Python.
    return [
        (item, row, row is not None and encode_line(item) == encode_line(unpack_row(row)))
        for item, row in zip(items, rows, strict=True)
    ]
