"""Prefetched reads of tables and part files, and what exports and imports share: progress, results, retries."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from random import Random
from typing import Any, TypeAlias, TypeVar, cast

from msgspec import Struct

from zataku.table.backend.port import Backend, Position, Rows, ScanItems
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Item
from zataku.table.store.metering import Meter, MeteredCalls
from zataku.table.store.retry import Retry
from zataku.table.transfer.parts import Part

# Table, items done, items in all as far as that is known, bytes of DynamoDB JSON done.
TransferProgress: TypeAlias = Callable[[str, int, int | None, int], None]


class TransferredTable(Struct, frozen=True):
    """How much of a table was moved: items, and bytes of DynamoDB JSON."""

    name: str
    items: int
    bytes: int


def default_calls() -> MeteredCalls:
    """Calls with the default retry policy and their own meter."""
    return MeteredCalls(Retry(Random()), Meter())


def first_error(group: BaseException) -> BaseException:
    """The error that a group of tasks failed with."""
    while isinstance(group, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[Any]", group).exceptions[0]
    return group


T = TypeVar("T")

_PORTION_BYTES = 4 << 20


async def ahead(next_one: Callable[[T | None], "asyncio.Future[T] | None"]) -> AsyncGenerator[T]:
    """What `next_one` gives for the one before it, each asked for while the caller is busy with the one before."""
    coming = next_one(None)
    try:
        while coming is not None:
            found = await coming
            coming = next_one(found)
            yield found
    finally:
        if coming is not None:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


def pages(
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
    attributes: tuple[str, ...] | None = None,
) -> AsyncGenerator[Rows]:
    """The pages of a table or of a segment of it."""

    async def read(start: Position | None) -> Rows:
        scan = ScanItems(
            table,
            start=start,
            limit=limit,
            strong=strong,
            segment=segment,
            segments=segments,
            attributes=attributes,
        )
        return await calls(f"{table.name}.{label}", lambda consumed: backend.scan(scan, consumed))

    def following(page: Rows | None) -> "asyncio.Future[Rows] | None":
        if page is None:
            return asyncio.ensure_future(read(start))
        return None if page.resume is None else asyncio.ensure_future(read(page.resume))

    return ahead(following)


def portions(part: Part, size: int) -> AsyncGenerator[list[Item]]:
    """The items of a part, at most so many at a time, and fewer when they are large. The last portion is empty."""
    items = part.read()

    def following(portion: list[Item] | None) -> "asyncio.Future[list[Item]] | None":
        return None if portion == [] else asyncio.ensure_future(asyncio.to_thread(_portion, items, size))

    return ahead(following)


def _portion(items: Iterator[tuple[Item, int]], size: int) -> list[Item]:
    portion: list[Item] = []
    length = 0
    for item, text in items:
        portion.append(item)
        length += text
        if len(portion) == size or length >= _PORTION_BYTES:
            break
    return portion
