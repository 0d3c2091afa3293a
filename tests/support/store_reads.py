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
        result = await read()
        if result == expected:
            return
        await asyncio.sleep(0 if attempt < 50 else 0.02)
    assert result == expected


async def assert_query_returns(store: Store, query: Query[Any], *expected: object) -> None:
    """Assert that a query returns these items in this order: at once when it is strong, otherwise eventually."""

    async def read() -> list[object]:
        return [item async for item in store.each(query)]

    if query.strong:
        assert await read() == list(expected)
    else:
        await eventually(read, list(expected))


async def wait_for_indexes(store: Store) -> None:
    """Wait until every index is filled. An embedded store fills the next part between two calls of its writer."""
    async with asyncio.timeout(20):
        while any(state.status != "active" for state in await store.index_states()):
            for table in store.tables:
                await store.backend.sweep(store.schema(table), store.clock.now(), limit=0)


async def read_pages(store: Store, query: Query[Any], limit: int) -> list[list[Any]]:
    """All pages of a query, none above its limit."""
    pages: list[list[Any]] = []
    after = None
    while True:
        page = await store.page(query, limit=limit, after=after)
        assert len(page.items) <= limit
        pages.append(page.items)
        after = page.cursor
        if after is None:
            return pages


async def read_page_by_page(store: Store, query: Query[Any], limit: int) -> list[Any]:
    """All results of a query, read page by page."""
    return [item for page in await read_pages(store, query, limit) for item in page]


async def contents(store: Store, *tables: Table) -> Counter[str]:
    """The items of the tables, or of all tables of the store, with their numbers, for comparing before and after."""
    return Counter([repr(entity) for table in tables or store.tables async for entity in store.scan(table)])


async def run_transaction(store: Store, *steps: Callable[[Transaction], object], token: str | None = None) -> None:
    """Carry out the steps as one transaction."""
    async with store.transact(token) as tx:
        for step in steps:
            step(tx)


async def read_changes(stream: Stream, limit: int = 100) -> list[Change]:
    """The next changes of a stream without repetitions."""
    return list({change.position: change for change in await stream.read(limit)}.values())


async def drain(stream: Stream, limit: int = 7) -> list[Change]:
    """Read and acknowledge all changes that a consumer has not acknowledged; returns each once."""
    received: dict[str, Change] = {}
    while changes := await stream.read(limit):
        received |= {change.position: change for change in changes}
        await stream.acknowledge(changes[-1])
    return list(received.values())
