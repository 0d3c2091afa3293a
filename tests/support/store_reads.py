"""Reads whose assertions hold on every store, with stale reads, short pages and repeated records."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from zataku.table import Change, Query, Store, Stream, Table, Transaction

T = TypeVar("T")

_MAX_ATTEMPTS = 200


async def eventually(read: Callable[[], Awaitable[T]], expected: T) -> None:
    """Repeat an eventually consistent read until it returns the expected result."""
    for attempt in range(_MAX_ATTEMPTS):
        found = await read()
        if found == expected:
            return
        await asyncio.sleep(0 if attempt < 50 else 0.02)
    assert found == expected


async def finds(store: Store, query: Query[Any], *expected: object) -> None:
    """Assert that a query finds these items in this order, eventually unless it is strong."""

    async def read() -> list[object]:
        return [found async for found in store.each(query)]

    if query.strong:
        assert await read() == list(expected)
    else:
        await eventually(read, list(expected))


async def pages(store: Store, query: Query[Any], limit: int) -> list[list[Any]]:
    """All pages of a query, none above its limit."""
    found: list[list[Any]] = []
    after = None
    while True:
        page = await store.page(query, limit=limit, after=after)
        assert len(page.items) <= limit
        found.append(page.items)
        after = page.cursor
        if after is None:
            return found


async def paged(store: Store, query: Query[Any], limit: int) -> list[Any]:
    """All results of a query, read page by page."""
    return [item for page in await pages(store, query, limit) for item in page]


async def contents(store: Store, *tables: Table) -> Counter[str]:
    """Everything that lies in some tables, for comparing before and after."""
    return Counter([repr(entity) for table in tables or store.tables async for entity in store.scan(table)])


async def together(store: Store, *steps: Callable[[Transaction], object], token: str | None = None) -> None:
    """Some writes as one transaction."""
    async with store.transact(token) as tx:
        for step in steps:
            step(tx)


async def read_on(stream: Stream, limit: int = 100) -> list[Change]:
    """The next changes without the repetitions that a stream may have."""
    return list({change.position: change for change in await stream.read(limit)}.values())


async def drained(stream: Stream, limit: int = 7) -> list[Change]:
    """All changes that wait for a consumer, each once, acknowledged."""
    found: dict[str, Change] = {}
    while changes := await stream.read(limit):
        found |= {change.position: change for change in changes}
        await stream.acknowledge(changes[-1])
    return list(found.values())
