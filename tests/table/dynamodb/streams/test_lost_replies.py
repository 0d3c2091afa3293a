"""Consumers behind a network that loses responses: writes have unknown outcomes, and no change is lost."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import TypeVar

import pytest
from aiohttp import ClientSession, web

from tests.support.dynamodb_servers import ServerName
from tests.support.manual_clock import ManualClock
from tests.table.dynamodb.streams.stream_tables import SERVERS, open_stream, sort_keys
from zataku.table.backend.errors import ResultUnknown, StoreUnreachable
from zataku.table.backend.port import RawChange
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.metadata_table import MetadataTable
from zataku.table.dynamodb.streams import ConsumerRegistry

T = TypeVar("T")


@asynccontextmanager
async def lossy_proxy(endpoint: str, random: Random, loss_rate: float) -> AsyncIterator[str]:
    """A proxy that forwards every call and drops some of the responses."""
    async with ClientSession() as session:

        async def forward(request: web.Request) -> web.Response:
            headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
            async with session.post(endpoint, data=await request.read(), headers=headers) as response:
                body = await response.read()
            if random.random() < loss_rate:
                assert request.transport is not None
                request.transport.abort()
            return web.Response(status=response.status, body=body, headers={"Content-Type": response.content_type})

        application = web.Application()
        application.router.add_post("/", forward)
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


async def retry(call: Callable[[], Awaitable[T]], *, repeatable: bool = False) -> T:
    """Retry a call as the store does: after StoreUnreachable, and after ResultUnknown when it is repeatable."""
    for _ in range(100):
        try:
            return await call()
        except StoreUnreachable:
            continue
        except ResultUnknown:
            if not repeatable:
                raise
    raise AssertionError("The call never succeeded.")


async def read_and_acknowledge(registry: ConsumerRegistry, clock: ManualClock, table: TableSchema) -> list[str]:
    """Read a few changes and acknowledge them."""

    def read() -> Awaitable[list[RawChange]]:
        return registry.changes(table, "watcher", 2)

    changes = await retry(read)
    if not changes:
        # The response was lost when the previous reader released its lease.
        await clock.advance(25)
        changes = await retry(read)
    await retry(lambda: registry.acknowledge(table, "watcher", changes[-1].position), repeatable=True)
    return sort_keys(changes)


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("seed", range(3))
async def test_lost_responses_neither_lose_nor_repeat_a_change(name: ServerName, seed: int):
    letters = [*"abcdefghijkl"]
    async with open_stream(name) as stream:
        for letter in letters:
            await stream.put(letter)
        assert stream.client.endpoint is not None
        async with lossy_proxy(stream.client.endpoint, Random(seed), 0.3) as endpoint:
            client = Client(endpoint)
            metadata = MetadataTable(client, stream.metadata.name, ManualClock())
            received: list[str] = []
            for _ in range(3):
                clock = ManualClock()
                registry = ConsumerRegistry(client, metadata, clock, Random(seed))
                received += await read_and_acknowledge(registry, clock, stream.table)
                received += await read_and_acknowledge(registry, clock, stream.table)
                await registry.close()
            await client.close()
    assert received == letters
