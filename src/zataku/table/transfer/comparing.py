"""Two stores side by side: where they differ, item by item."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Literal

from msgspec import Struct

from zataku.table.backend.port import Backend, ItemKey, Row
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Item
from zataku.table.store.calls import Calls
from zataku.table.transfer.lines import line_of, opened
from zataku.table.transfer.moved import patient_calls
from zataku.table.transfer.reading import pages
from zataku.table.transfer.verifying import counterparts, key_of


class Difference(Struct, frozen=True):
    """An item that only one of two stores has, or that both have with another content."""

    table: str
    key: ItemKey
    kind: Literal["only in one", "only in other", "differs"]


async def compare_stores(
    one: Backend, other: Backend, tables: Sequence[TableSchema], *, calls: Calls | None = None
) -> AsyncGenerator[Difference]:
    """Every difference between two stores, while they are being read; memory holds a few pages."""
    making = calls or patient_calls()
    for table in tables:
        async with aclosing(pages(one, making, "compare", table)) as reading:
            async for page in reading:
                items = await asyncio.to_thread(_items, page.rows)
                rows = await counterparts(other, making, "compare", table, items)
                for item, row, same in await asyncio.to_thread(_judged, items, rows):
                    if not same:
                        yield Difference(table.name, key_of(table, item), "only in one" if row is None else "differs")
        keys = tuple(key.name for key in table.keys)
        async with aclosing(pages(other, making, "compare", table, attributes=keys)) as reading:
            async for page in reading:
                items = await asyncio.to_thread(_items, page.rows)
                rows = await counterparts(one, making, "compare", table, items, keys_only=True)
                for item, row in zip(items, rows, strict=True):
                    if row is None:
                        yield Difference(table.name, key_of(table, item), "only in other")


def _items(rows: list[Row]) -> list[Item]:
    return [opened(row) for row in rows]


def _judged(items: list[Item], rows: list[Row | None]) -> list[tuple[Item, Row | None, bool]]:
    # By their lines, because Python holds True and 1 for equal.
    return [
        (item, row, row is not None and line_of(item) == line_of(opened(row)))
        for item, row in zip(items, rows, strict=True)
    ]
