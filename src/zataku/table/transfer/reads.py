"""Prefetched reads of tables and part files, and what exports and imports share: progress, results, retries."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from random import Random
from typing import Any, TypeAlias, TypeVar, cast

from msgspec import Struct

from zataku.table.backend.port import Backend, Position, Rows, ScanItems
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Item
from zataku.table.store.capacity_meter import Meter, MeteredCalls
from zataku.table.store.retry import Retry
from zataku.table.transfer.parts import Part

# Called with the table, the items done, the total number of items if known, and the bytes of DynamoDB JSON done.
TransferProgress: TypeAlias = Callable[[str, int, int | None, int], None]


class TransferredTable(Struct, frozen=True):
    """Amount of a transferred table: items, and bytes of DynamoDB JSON."""

    name: str
    items: int
    bytes: int


def default_calls() -> MeteredCalls:
    """Calls with the default retry policy and their own meter."""
    return MeteredCalls(Retry(Random()), Meter())


def first_error(group: BaseException) -> BaseException:
    """The first error of a (nested) exception group."""
    while isinstance(group, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[Any]", group).exceptions[0]
    return group


T = TypeVar("T")

_MAX_BATCH_BYTES = 4 << 20


async def prefetch(request_next: Callable[[T | None], "asyncio.Future[T] | None"]) -> AsyncGenerator[T]:
    """Yield results one by one, requesting each from its predecessor while the caller processes the predecessor."""
    pending = request_next(None)
    try:
        while pending is not None:
            result = await pending
            pending = request_next(result)
            yield result
    finally:
        if pending is not None:
            pending.cancel()
            await asyncio.gather(pending, return_exceptions=True)


def prefetched_pages(
    backend: Backend,
    calls: MeteredCalls,
    label: str,
    table: TableSchema,
    *,
    start: Position | None = None,
    limit: int | None = None,
    strong: bool = True,
    segment: int = 0,
    segments: int = 1,
) -> AsyncGenerator[Rows]:
    """The pages of a table or of one of its segments, each requested while the caller processes the one before."""

    async def read(start: Position | None) -> Rows:
        scan = ScanItems(table, start=start, limit=limit, strong=strong, segment=segment, segments=segments)
        return await calls(f"{table.name}.{label}", lambda consumed: backend.scan(scan, consumed))

    def request_next(page: Rows | None) -> "asyncio.Future[Rows] | None":
        if page is None:
            return asyncio.ensure_future(read(start))
        return None if page.resume is None else asyncio.ensure_future(read(page.resume))

    return prefetch(request_next)


def item_batches(part: Part, size: int) -> AsyncGenerator[list[Item]]:
    """The items of a part in batches of at most `size`, fewer when they are large. The last batch is empty."""
    items = part.read()

    def request_next(batch: list[Item] | None) -> "asyncio.Future[list[Item]] | None":
        return None if batch == [] else asyncio.ensure_future(asyncio.to_thread(_next_batch, items, size))

    return prefetch(request_next)


def _next_batch(items: Iterator[tuple[Item, int]], size: int) -> list[Item]:
    batch: list[Item] = []
    length = 0
    for item, line_bytes in items:
        batch.append(item)
        length += line_bytes
        if len(batch) == size or length >= _MAX_BATCH_BYTES:
            break
    return batch
