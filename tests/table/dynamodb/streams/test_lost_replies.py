"""A network that loses replies: the outcome of writes is unknown, and still no change is lost."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import TypeVar

import pytest
from aiohttp import ClientSession, web

from tests.support.dynamodb_servers import ServerName
from tests.table.dynamodb.streams.stream_tables import SERVERS, bench, names
from zataku.clock import ManualClock
from zataku.table.backend.errors import ResultUnknown, StoreUnreachable
from zataku.table.backend.port import RawChange
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.metadata_table import MetadataTable
from zataku.table.dynamodb.streams import ConsumerRegistry

T = TypeVar("T")


@asynccontextmanager
async def bad_line(endpoint: str, random: Random, loses: float) -> AsyncIterator[str]:
    """A way to a server on which calls arrive and some answers do not come back."""
    async with ClientSession() as session:

        async def carry(request: web.Request) -> web.Response:
            headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
            async with session.post(endpoint, data=await request.read(), headers=headers) as answer:
                body = await answer.read()
            if random.random() < loses:
                assert request.transport is not None
                request.transport.abort()
            return web.Response(status=answer.status, body=body, headers={"Content-Type": answer.content_type})

        application = web.Application()
        application.router.add_post("/", carry)
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


async def insist(call: Callable[[], Awaitable[T]], *, repeatable: bool = False) -> T:
    """As a store does: what changes nothing is tried again, and what may be done twice as well."""
    for _ in range(100):
        try:
            return await call()
        except StoreUnreachable:
            continue
        except ResultUnknown:
            if not repeatable:
                raise
    raise AssertionError("It never came through.")


async def some(streams: ConsumerRegistry, clock: ManualClock, table: TableSchema) -> list[str]:
    """Read a few changes and acknowledge them."""

    def read() -> Awaitable[list[RawChange]]:
        return streams.changes(table, "watcher", 2)

    changes = await insist(read)
    if not changes:
        # An answer was lost when the reader before gave its lease back.
        await clock.advance(25)
        changes = await insist(read)
    await insist(lambda: streams.acknowledge(table, "watcher", changes[-1].position), repeatable=True)
    return names(changes)


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("seed", range(3))
async def test_lost_answers_lose_no_change_and_bring_none_back(name: ServerName, seed: int):
    letters = [*"abcdefghijkl"]
    async with bench(name) as place:
        for letter in letters:
            await place.put(letter)
        assert place.client.endpoint is not None
        async with bad_line(place.client.endpoint, Random(seed), 0.3) as endpoint:
            client = Client(endpoint)
            metadata = MetadataTable(client, place.metadata.name, ManualClock())
            found: list[str] = []
            for _ in range(3):
                clock = ManualClock()
                streams = ConsumerRegistry(client, metadata, clock, Random(seed))
                found += await some(streams, clock, place.table)
                found += await some(streams, clock, place.table)
                await streams.close()
            await client.close()
    assert found == letters
