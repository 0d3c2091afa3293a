"""Tables and clients for tests that call the DynamoDB servers directly."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from msgspec.structs import replace

from tests.support.dynamodb_servers import ServerName, shared_server
from tests.support.plain_client import PlainClient
from zataku.clock import SystemClock
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.tables.management import Tables

BOTH: tuple[ServerName, ...] = ("dynoxide", "ministack")


@asynccontextmanager
async def connected(endpoint: str, kind: Callable[[str], Client] = Client) -> AsyncIterator[Client]:
    """A client of an endpoint, closed at the end."""
    client = kind(endpoint)
    try:
        yield client
    finally:
        await client.close()


def client_of(name: ServerName) -> AbstractAsyncContextManager[Client]:
    """A client of a shared server, closed at the end."""
    return connected(shared_server(name).endpoint, PlainClient)


def fresh(table: TableSchema) -> TableSchema:
    """The table under a name that no other test uses."""
    return replace(table, name=f"{table.name}-{secrets.token_hex(5)}")


async def apply_schemas(client: Client, *tables: TableSchema, manage: bool = True, removals: bool = False) -> None:
    """Create or change the tables, and wait until their indexes are built."""
    management = Tables(client, SystemClock(), manage=manage, removals=removals)
    await management.apply(tables)
    await management.wait_until_complete()


async def put(client: Client, table: TableSchema, *items: dict[str, dict[str, object]]) -> None:
    """Write items in wire format."""
    for item in items:
        await client.call("PutItem", TableName=table.name, Item=item)
