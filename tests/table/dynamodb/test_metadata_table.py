"""The metadata table: its secret, usage totals and conditional writes."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.dynamodb_servers import ServerName, shared_server
from tests.support.manual_clock import ManualClock
from tests.support.plain_client import PlainClient
from tests.table.dynamodb.streams.stream_tables import SERVERS, unique_name
from zataku.table.backend.cost import Usage
from zataku.table.backend.errors import ConditionFailed
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.metadata_table import MetadataTable


@pytest.fixture(params=SERVERS)
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    name: ServerName = request.param
    client = PlainClient(shared_server(name).endpoint)
    yield client
    await client.close()


@pytest.fixture
def name() -> str:
    return unique_name("ZatakuStore")


@pytest.fixture
async def metadata(client: Client, name: str) -> MetadataTable:
    metadata = MetadataTable(client, name, ManualClock())
    await metadata.start()
    return metadata


async def test_processes_that_start_at_once_share_one_table_and_one_secret(client: Client, name: str):
    processes = [MetadataTable(client, name, ManualClock()) for _ in range(8)]
    await asyncio.gather(*(metadata.start() for metadata in processes))
    secrets = await asyncio.gather(*(metadata.secret() for metadata in processes))
    assert len(set(secrets)) == 1
    assert len(secrets[0]) == 32


async def test_the_secret_is_stable_and_differs_between_stores(client: Client, metadata: MetadataTable):
    reopened, other = (
        MetadataTable(client, metadata.name, ManualClock()),
        MetadataTable(client, unique_name("ZatakuOther"), ManualClock()),
    )
    await other.start()
    await reopened.start()
    assert await reopened.secret() == await metadata.secret()
    assert await metadata.secret() == await metadata.secret()
    assert await other.secret() != await metadata.secret()


async def test_the_metadata_table_is_billed_per_request(client: Client, metadata: MetadataTable):
    description = (await client.call("DescribeTable", TableName=metadata.name))["Table"]
    assert description["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


async def test_usage_of_several_processes_adds_up(client: Client, metadata: MetadataTable):
    other = MetadataTable(client, metadata.name, ManualClock())
    usages = [Usage(f"board.pattern {at:02}", 1, 0.5, 1) for at in range(40)]
    await asyncio.gather(*(process.add_usage(usages) for process in (metadata, other, metadata)))
    await metadata.add_usage([Usage("board.pattern 00", 0, 0.1, 0.2)])
    await metadata.add_usage([])
    assert await other.usage() == [Usage("board.pattern 00", 3, 1.6, 3.2)] + [
        Usage(usage.pattern, 3, 1.5, 3.0) for usage in usages[1:]
    ]


async def test_a_new_metadata_table_has_no_usage(metadata: MetadataTable):
    assert await metadata.usage() == []


async def test_one_of_several_concurrent_writers_creates_a_new_item(metadata: MetadataTable):
    written = await asyncio.gather(*(metadata.put_new("p", "s", {"writer": writer}) for writer in range(6)))
    assert sum(written) == 1
    assert await metadata.item("p", "s") == {"pk": "p", "sk": "s", "writer": written.index(True)}


async def test_an_update_whose_condition_fails_changes_nothing(metadata: MetadataTable):
    await metadata.put_new("p", "s", {"owner": "a", "counter": 1})
    increment = "SET #counter = #counter + :one"
    new = await metadata.update("p", "s", increment, {"one": 1, "owner": "a"}, condition="#owner = :owner")
    assert new == {"pk": "p", "sk": "s", "owner": "a", "counter": 2}
    with pytest.raises(ConditionFailed):
        await metadata.update("p", "s", increment, {"one": 1, "owner": "b"}, condition="#owner = :owner")
    assert await metadata.item("p", "s") == new


async def test_a_partition_is_read_completely_and_in_order(metadata: MetadataTable):
    # More than one page, which holds at most a megabyte.
    large = "x" * 300_000
    for at in (3, 1, 4, 2, 0):
        await metadata.put_new("p", f"s{at}", {"large": large})
    await metadata.put_new("q", "s9", {})
    assert [item["sk"] for item in await metadata.items("p")] == ["s0", "s1", "s2", "s3", "s4"]
    await metadata.delete("p", "s1")
    await metadata.delete("p", "nothing")
    assert len(await metadata.items("p")) == 4
    assert await metadata.items("r") == []
