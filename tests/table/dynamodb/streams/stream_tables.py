"""Tables with streams on real servers, and the consumer registries that read them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from uuid import uuid4

from tests.support.dynamodb_servers import ServerName, shared_server
from tests.support.manual_clock import ManualClock
from tests.support.plain_client import PlainClient
from zataku.clock import Clock
from zataku.table.backend.port import RawChange
from zataku.table.backend.table_schema import KeyAttribute, StreamView, TableSchema
from zataku.table.backend.values import Item
from zataku.table.backend.wire import wire_item
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.metadata_table import MetadataTable
from zataku.table.dynamodb.streams import ConsumerRegistry

SERVERS: Sequence[ServerName] = ("dynoxide", "ministack")


def unique_name(name: str) -> str:
    """A name that no other test uses."""
    return f"{name}{uuid4().hex[:12]}"


class StreamFixture:
    """A server with a table that has a stream, and a metadata table."""

    def __init__(self, client: Client, table: TableSchema, metadata: MetadataTable) -> None:
        self.client = client
        self.table = table
        self.metadata = metadata
        self.clock = ManualClock()
        self._registries = AsyncExitStack()

    async def put(self, sk: str, **attributes: object) -> None:
        """Write an item."""
        item: Item = {"pk": "p", "sk": sk, **attributes}
        await self.client.call("PutItem", TableName=self.table.name, Item=wire_item(item))

    async def delete(self, sk: str) -> None:
        """Delete an item."""
        await self.client.call("DeleteItem", TableName=self.table.name, Key=wire_item({"pk": "p", "sk": sk}))

    def process(self, clock: Clock | None = None, owner: str | None = None) -> ConsumerRegistry:
        """The registry of another process; it is closed with the fixture."""
        registry = ConsumerRegistry(self.client, self.metadata, clock or self.clock, Random(1), worker_name=owner)
        self._registries.push_async_callback(registry.close)
        return registry

    async def close(self) -> None:
        """Close all registries."""
        await self._registries.aclose()


async def create_table(client: Client, table: TableSchema) -> None:
    """Create a table with the keys and the stream of its schema."""
    await client.call(
        "CreateTable",
        TableName=table.name,
        KeySchema=[
            {"AttributeName": key.name, "KeyType": kind}
            for key, kind in zip(table.keys, ("HASH", "RANGE"), strict=True)
        ],
        AttributeDefinitions=[{"AttributeName": key.name, "AttributeType": key.type} for key in table.keys],
        BillingMode="PAY_PER_REQUEST",
        **(
            {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": table.stream}}
            if table.stream is not None
            else {}
        ),
    )


@asynccontextmanager
async def open_stream(
    server: ServerName, view: StreamView | None = "NEW_AND_OLD_IMAGES"
) -> AsyncIterator[StreamFixture]:
    """A table with a stream on one of the servers."""
    client = PlainClient(shared_server(server).endpoint)
    table = TableSchema(unique_name("Followed"), KeyAttribute("pk"), KeyAttribute("sk"), stream=view)
    metadata = MetadataTable(client, unique_name("ZatakuStore"), ManualClock())
    stream = StreamFixture(client, table, metadata)
    try:
        await asyncio.gather(create_table(client, table), metadata.start())
        yield stream
        await stream.close()
        await asyncio.gather(*(client.call("DeleteTable", TableName=name) for name in (table.name, metadata.name)))
    finally:
        await client.close()


async def wait_for_pause(clock: ManualClock) -> None:
    """Wait until a process's reader pauses between two reads and its lease heartbeat pauses, too."""
    async with asyncio.timeout(20):
        await clock.wait_for_sleepers(2)


async def advance_until_read(
    clock: ManualClock, reading: asyncio.Task[list[RawChange]], step: float, sleepers: int = 2
) -> None:
    """Advance the clock by a step in every pause of a reader, until it returns. Leases are renewed once it has read."""
    async with asyncio.timeout(20):
        while not reading.done():
            pause = asyncio.ensure_future(clock.wait_for_sleepers(sleepers))
            await asyncio.wait({pause, reading}, return_when=asyncio.FIRST_COMPLETED)
            pause.cancel()
            if not reading.done():
                await clock.advance(step)


async def drain(registry: ConsumerRegistry, table: TableSchema, consumer: str, limit: int = 3) -> list[RawChange]:
    """Read and acknowledge all pending changes of a consumer, batch by batch."""
    changes: list[RawChange] = []
    while batch := await registry.changes(table, consumer, limit):
        assert len(batch) <= limit
        changes += batch
        await registry.acknowledge(table, consumer, batch[-1].position)
    return changes


def sort_keys(changes: Sequence[RawChange]) -> list[str]:
    """The sort keys of the changed items."""
    return [change.keys["sk"] for change in changes]
