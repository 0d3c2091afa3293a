"""On-demand backups of the DynamoDB service."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.dynamodb_servers import shared_server, start_server, stop_server
from tests.support.manual_clock import ManualClock
from tests.table.dynamodb.streams.scripted_service import served
from tests.table.dynamodb.streams.stream_tables import unique_name
from zataku.clock import SystemClock
from zataku.table.backend.errors import BadInput, LacksCapability, StoreUnreachable, TableError
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.backend.wire import item_of, wire_item
from zataku.table.dynamodb.backups import Backups
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.tables.management import Tables

PLAIN = TableSchema("unnamed", KeyAttribute("pk"), KeyAttribute("sk"))
FULL = replace(
    PLAIN,
    indexes=(IndexSchema("byColour", KeyAttribute("colour"), KeyAttribute("weight", "N")),),
    ttl="expiresAt",
    stream="NEW_AND_OLD_IMAGES",
    recovery=True,
    protected=True,
)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = start_server("ministack", program=Path(__file__).with_name("repaired_ministack.py"))
    yield server.endpoint
    stop_server(server)


@pytest.fixture
async def client(endpoint: str) -> AsyncIterator[Client]:
    client = Client(endpoint)
    yield client
    await client.close()


@pytest.fixture
def backups(client: Client) -> Backups:
    return Backups(client, SystemClock())


@pytest.fixture
async def tables(client: Client) -> list[TableSchema]:
    """A plain table and one with every setting, with three items each."""
    schemas = [replace(PLAIN, name=unique_name("PlainTable")), replace(FULL, name=unique_name("FullTable"))]
    management = Tables(client, SystemClock())
    await management.apply(schemas)
    await management.close()
    for table in schemas:
        for at in range(3):
            await put(client, table, at)
    return schemas


async def put(client: Client, table: TableSchema, at: int) -> None:
    item = {"pk": "p", "sk": f"s{at}", "colour": "red", "weight": at}
    await client.call("PutItem", TableName=table.name, Item=wire_item(item))


async def sort_keys(client: Client, table: str) -> list[str]:
    response = await client.call("Scan", TableName=table, ConsistentRead=True)
    return sorted(item_of(item)["sk"] for item in response["Items"])


async def test_restoring_brings_back_the_items_of_every_table(
    client: Client, backups: Backups, tables: list[TableSchema]
):
    progress: list[tuple[int, int]] = []
    await backups.create(tables, "before-the-party", lambda done, total: progress.append((done, total)))
    assert progress == [(0, 2), (1, 2), (2, 2)]
    for table in tables:
        await put(client, table, 7)
        await client.call("DeleteItem", TableName=table.name, Key=wire_item({"pk": "p", "sk": "s0"}))
    await backups.restore(tables, "before-the-party", lambda done, total: progress.append((done, total)))
    assert progress[3:] == [(0, 2), (1, 2), (2, 2)]
    assert [await sort_keys(client, table.name) for table in tables] == [["s0", "s1", "s2"]] * 2


async def test_a_restored_table_has_all_its_settings_again(client: Client, backups: Backups, tables: list[TableSchema]):
    full = tables[1]
    arn = (await client.call("DescribeTable", TableName=full.name))["Table"]["TableArn"]
    tags = [{"Key": "host", "Value": "us"}]
    await client.call("TagResource", ResourceArn=arn, Tags=tags)
    await backups.create(tables, "with-settings")
    await backups.restore(tables, "with-settings")
    described = (await client.call("DescribeTable", TableName=full.name))["Table"]
    assert described["DeletionProtectionEnabled"]
    assert described["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert [index["IndexName"] for index in described["GlobalSecondaryIndexes"]] == ["byColour"]
    ttl = (await client.call("DescribeTimeToLive", TableName=full.name))["TimeToLiveDescription"]
    assert (ttl["TimeToLiveStatus"], ttl["AttributeName"]) == ("ENABLED", "expiresAt")
    recovery = (await client.call("DescribeContinuousBackups", TableName=full.name))["ContinuousBackupsDescription"]
    assert recovery["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    assert (await client.call("ListTagsOfResource", ResourceArn=described["TableArn"]))["Tags"] == tags


async def test_a_restore_changes_nothing_unless_every_table_has_the_backup(
    client: Client, backups: Backups, tables: list[TableSchema]
):
    await backups.create(tables[:1], "only-one")
    await put(client, tables[0], 7)
    with pytest.raises(BadInput, match=tables[1].name):
        await backups.restore(tables, "only-one")
    with pytest.raises(BadInput):
        await backups.restore(tables, "no-such-backup")
    assert await sort_keys(client, tables[0].name) == ["s0", "s1", "s2", "s7"]


async def test_a_deleted_table_can_be_restored(client: Client, backups: Backups, tables: list[TableSchema]):
    await backups.create(tables, "just-in-case")
    await client.call("DeleteTable", TableName=tables[0].name)
    await backups.restore(tables, "just-in-case")
    assert await sort_keys(client, tables[0].name) == ["s0", "s1", "s2"]


async def test_the_backups_of_the_tables_are_listed_oldest_first(
    client: Client, backups: Backups, tables: list[TableSchema]
):
    await backups.create(tables, "first")
    await backups.create(tables[1:], "second")
    listed = await backups.list_backups(tables)
    names = [table.name for table in tables]
    assert [(backup.name, backup.table) for backup in listed] == [
        ("first", names[0]),
        ("first", names[1]),
        ("second", names[1]),
    ]
    assert {backup.status for backup in listed} == {"AVAILABLE"}
    assert await backups.list_backups(tables[:1]) == listed[:1]


@pytest.mark.parametrize("name", ["", "ab", "with space", "a/b", "x" * 256, "täglich"])
async def test_a_backup_name_the_service_rejects_is_bad_input(backups: Backups, tables: list[TableSchema], name: str):
    with pytest.raises(BadInput, match="letters"):
        await backups.create(tables, name)
    assert await backups.list_backups(tables) == []


async def test_a_backup_name_cannot_be_used_twice(backups: Backups, tables: list[TableSchema]):
    await backups.create(tables[1:], "nightly")
    with pytest.raises(BadInput, match="already"):
        await backups.create(tables, "nightly")
    assert len(await backups.list_backups(tables)) == 1


async def test_a_failed_backup_of_one_table_leaves_no_backup_of_the_others(backups: Backups, tables: list[TableSchema]):
    missing = replace(PLAIN, name=unique_name("NoSuchTable"))
    with pytest.raises(TableError):
        await backups.create([*tables, missing], "nightly")
    assert await backups.list_backups(tables) == []


async def test_a_restore_that_fails_halfway_says_to_restore_again():
    # Unrepaired, ministack cannot restore a deleted table.
    client = Client(shared_server("ministack").endpoint)
    backups = Backups(client, SystemClock())
    table = replace(PLAIN, name=unique_name("PlainTable"))
    await Tables(client, SystemClock()).apply([table])
    await backups.create([table], "nightly")
    for _ in range(2):
        with pytest.raises(TableError, match="still exists. Restore again"):
            await backups.restore([table], "nightly")
    await client.close()


class SlowService:
    """A service whose backup becomes available after a number of DescribeBackup calls."""

    def __init__(self, polls: int) -> None:
        self.polls = polls
        self.backed_up: list[str] = []

    def respond(self, operation: str, parameters: dict) -> dict:
        """Answer one call."""
        details = {"BackupArn": "arn:of:a:backup", "BackupName": "nightly", "BackupStatus": "CREATING"}
        match operation:
            case "CreateBackup":
                self.backed_up.append(parameters["TableName"])
                return {"BackupDetails": details}
            case "DescribeBackup":
                self.polls -= 1
                status = "CREATING" if self.polls > 0 else "AVAILABLE"
                return {"BackupDescription": {"BackupDetails": details | {"BackupStatus": status}}}
            case "DeleteBackup":
                self.backed_up.clear()
                return {}
            case _:
                return {"BackupSummaries": []}


class SkippingClock(ManualClock):
    """A clock on which a sleep advances the time and returns at once."""

    async def sleep(self, seconds: float) -> None:
        """Advance the clock instead of waiting."""
        await self.advance(seconds)


@pytest.mark.parametrize(("polls", "completes"), [(5, True), (100_000, False)])
async def test_creating_a_backup_waits_for_it_up_to_a_time_limit(polls: int, completes: bool):
    service = SlowService(polls)
    clock = SkippingClock()
    async with served(service) as endpoint:
        client = Client(endpoint)
        creation = Backups(client, clock).create([PLAIN], "nightly")
        if completes:
            await creation
        else:
            with pytest.raises(StoreUnreachable, match="Take it again"):
                await creation
        await client.close()
    assert service.backed_up == (["unnamed"] if completes else [])
    assert 0 < clock.now() - ManualClock().now() < 3700


async def test_a_server_without_backups_raises_lacks_capability():
    client = Client(shared_server("dynoxide").endpoint)
    backups = Backups(client, SystemClock())
    with pytest.raises(LacksCapability):
        await backups.create([replace(PLAIN, name="SomeTable01")], "nightly")
    with pytest.raises(LacksCapability):
        await backups.restore([replace(PLAIN, name="SomeTable01")], "nightly")
    await client.close()
