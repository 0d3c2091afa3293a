"""Backups that the service keeps."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.dynamodb_servers import shared_server, start_server, stop_server
from tests.table.dynamodb.streams.scripted_service import served
from tests.table.dynamodb.streams.stream_tables import unique
from zataku.clock import ManualClock, SystemClock
from zataku.table.backend.errors import BadInput, LacksCapability, StoreUnreachable, TableError
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.dynamodb.backups import Backups
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.tables.management import Tables
from zataku.table.dynamodb.wire import item_of, wire_item

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
    made = start_server("ministack", program=Path(__file__).with_name("repaired_ministack.py"))
    yield made.endpoint
    stop_server(made)


@pytest.fixture
async def client(endpoint: str) -> AsyncIterator[Client]:
    made = Client(endpoint)
    yield made
    await made.close()


@pytest.fixture
def backups(client: Client) -> Backups:
    return Backups(client, SystemClock())


@pytest.fixture
async def tables(client: Client) -> list[TableSchema]:
    """Two tables, one with everything, each with three items."""
    made = [replace(PLAIN, name=unique("PlainTable")), replace(FULL, name=unique("FullTable"))]
    fitting = Tables(client, SystemClock())
    await fitting.apply(made)
    await fitting.close()
    for table in made:
        for at in range(3):
            await put(client, table, at)
    return made


async def put(client: Client, table: TableSchema, at: int) -> None:
    item = {"pk": "p", "sk": f"s{at}", "colour": "red", "weight": at}
    await client.call("PutItem", TableName=table.name, Item=wire_item(item))


async def held(client: Client, table: str) -> list[str]:
    answer = await client.call("Scan", TableName=table, ConsistentRead=True)
    return sorted(item_of(item)["sk"] for item in answer["Items"])


async def test_restoring_brings_back_what_every_table_held(client: Client, backups: Backups, tables: list[TableSchema]):
    told: list[tuple[int, int]] = []
    await backups.create(tables, "before-the-party", lambda done, total: told.append((done, total)))
    assert told == [(0, 2), (1, 2), (2, 2)]
    for table in tables:
        await put(client, table, 7)
        await client.call("DeleteItem", TableName=table.name, Key=wire_item({"pk": "p", "sk": "s0"}))
    await backups.restore(tables, "before-the-party", lambda done, total: told.append((done, total)))
    assert told[3:] == [(0, 2), (1, 2), (2, 2)]
    assert [await held(client, table.name) for table in tables] == [["s0", "s1", "s2"]] * 2


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


async def test_nothing_is_touched_unless_every_table_has_the_backup(
    client: Client, backups: Backups, tables: list[TableSchema]
):
    await backups.create(tables[:1], "only-one")
    await put(client, tables[0], 7)
    with pytest.raises(BadInput, match=tables[1].name):
        await backups.restore(tables, "only-one")
    with pytest.raises(BadInput):
        await backups.restore(tables, "no-such-backup")
    assert await held(client, tables[0].name) == ["s0", "s1", "s2", "s7"]


async def test_a_table_that_is_gone_can_be_restored(client: Client, backups: Backups, tables: list[TableSchema]):
    await backups.create(tables, "just-in-case")
    await client.call("DeleteTable", TableName=tables[0].name)
    await backups.restore(tables, "just-in-case")
    assert await held(client, tables[0].name) == ["s0", "s1", "s2"]


async def test_the_backups_of_the_tables_are_listed_oldest_first(
    client: Client, backups: Backups, tables: list[TableSchema]
):
    await backups.create(tables, "first")
    await backups.create(tables[1:], "second")
    listed = await backups.list_backups(tables)
    names = [table.name for table in tables]
    assert [(it.name, it.table) for it in listed] == [("first", names[0]), ("first", names[1]), ("second", names[1])]
    assert {it.status for it in listed} == {"AVAILABLE"}
    assert await backups.list_backups(tables[:1]) == listed[:1]


@pytest.mark.parametrize("name", ["", "ab", "with space", "a/b", "x" * 256, "täglich"])
async def test_a_name_that_the_service_does_not_take_is_bad_input(
    backups: Backups, tables: list[TableSchema], name: str
):
    with pytest.raises(BadInput, match="letters"):
        await backups.create(tables, name)
    assert await backups.list_backups(tables) == []


async def test_a_name_stands_for_one_set_of_backups(backups: Backups, tables: list[TableSchema]):
    await backups.create(tables[1:], "nightly")
    with pytest.raises(BadInput, match="already"):
        await backups.create(tables, "nightly")
    assert len(await backups.list_backups(tables)) == 1


async def test_half_a_set_is_not_kept(backups: Backups, tables: list[TableSchema]):
    missing = replace(PLAIN, name=unique("NoSuchTable"))
    with pytest.raises(TableError):
        await backups.create([*tables, missing], "nightly")
    assert await backups.list_backups(tables) == []


async def test_a_restore_that_fails_half_way_says_how_to_go_on():
    # Without its repair, ministack cannot restore a table that is gone.
    client = Client(shared_server("ministack").endpoint)
    backups = Backups(client, SystemClock())
    table = replace(PLAIN, name=unique("PlainTable"))
    fitting = Tables(client, SystemClock())
    await fitting.apply([table])
    await backups.create([table], "nightly")
    for _ in range(2):
        with pytest.raises(TableError, match="is still there. Restore again"):
            await backups.restore([table], "nightly")
    await client.close()


class SlowService:
    """Makes a backup for so many looks at it."""

    def __init__(self, looks: int) -> None:
        self.looks = looks
        self.kept: list[str] = []

    def answer(self, operation: str, asked: dict) -> dict:
        """One call."""
        details = {"BackupArn": "arn:of:a:backup", "BackupName": "nightly", "BackupStatus": "CREATING"}
        match operation:
            case "CreateBackup":
                self.kept.append(asked["TableName"])
                return {"BackupDetails": details}
            case "DescribeBackup":
                self.looks -= 1
                status = "CREATING" if self.looks > 0 else "AVAILABLE"
                return {"BackupDescription": {"BackupDetails": details | {"BackupStatus": status}}}
            case "DeleteBackup":
                self.kept.clear()
                return {}
            case _:
                return {"BackupSummaries": []}


class HurriedClock(ManualClock):
    """Advances by every sleep at once."""

    async def sleep(self, seconds: float) -> None:
        """No time at all, and that long."""
        await self.advance(seconds)


@pytest.mark.parametrize(("looks", "comes"), [(5, True), (100_000, False)])
async def test_a_backup_is_waited_for_but_not_for_ever(looks: int, comes: bool):
    service = SlowService(looks)
    clock = HurriedClock()
    async with served(service) as endpoint:
        client = Client(endpoint)
        taking = Backups(client, clock).create([PLAIN], "nightly")
        if comes:
            await taking
        else:
            with pytest.raises(StoreUnreachable, match="Take it again"):
                await taking
        await client.close()
    assert service.kept == (["unnamed"] if comes else [])
    assert 0 < clock.now() - ManualClock().now() < 3700


async def test_a_server_without_backups_says_so():
    client = Client(shared_server("dynoxide").endpoint)
    backups = Backups(client, SystemClock())
    with pytest.raises(LacksCapability):
        await backups.create([replace(PLAIN, name="SomeTable01")], "nightly")
    with pytest.raises(LacksCapability):
        await backups.restore([replace(PLAIN, name="SomeTable01")], "nightly")
    await client.close()
