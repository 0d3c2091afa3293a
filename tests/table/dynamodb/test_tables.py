"""Creating tables and changing them to match the design, on both servers."""

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from tests.support.dynamodb_servers import shared_server
from tests.table.dynamodb.fault_proxy import FaultProxy, content_of, error_response, forwarded, lost_after, reply
from tests.table.dynamodb.server_tables import BOTH, apply_schemas, client_of, connected, fresh, put
from zataku.clock import SystemClock
from zataku.table.backend.errors import BadInput, SchemaRefused
from zataku.table.backend.table_schema import (
    KEYS_ONLY,
    IndexSchema,
    KeyAttribute,
    OnDemand,
    Provisioned,
    TableSchema,
    include,
)
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.tables.description import TableDescription, describe_settings
from zataku.table.dynamodb.tables.differences import differences
from zataku.table.dynamodb.tables.management import Tables

BY_STATUS = IndexSchema("ByStatus", KeyAttribute("status"), KeyAttribute("at", "N"))
BY_NAME = IndexSchema("ByName", KeyAttribute("name"), projection=KEYS_ONLY)
BY_OWNER = IndexSchema("ByOwner", KeyAttribute("owner", "B"), projection=include("name", "at"))
BY_SCORE = IndexSchema("ByScore", KeyAttribute("PK"), KeyAttribute("score", "N"), include("name"), local=True)
GAMES = TableSchema(
    "GamesOfTables",
    KeyAttribute("PK"),
    KeyAttribute("SK"),
    (BY_STATUS, BY_NAME, BY_SCORE),
    ttl="expires",
    stream="NEW_AND_OLD_IMAGES",
)
NUMBERED = TableSchema("NumberedThings", KeyAttribute("id", "N"))


@pytest.fixture(params=BOTH)
async def client(request) -> AsyncIterator[Client]:
    async with client_of(request.param) as client:
        yield client


@pytest.fixture
async def ministack() -> AsyncIterator[Client]:
    """A client of ministack, which also implements maximum throughput and continuous backups."""
    async with client_of("ministack") as client:
        yield client


async def describe(client: Client, table: TableSchema) -> TableDescription:
    description = await describe_settings(client, table.name)
    assert description is not None
    return description


def without_order(table: TableSchema) -> TableSchema:
    return replace(table, indexes=tuple(sorted(table.indexes, key=lambda index: index.name)))


async def test_a_table_is_created_with_every_declared_setting(client: Client):
    table = fresh(replace(GAMES, indexes=(*GAMES.indexes, BY_OWNER)))
    await apply_schemas(client, table)
    stored = await describe(client, table)
    assert without_order(stored.schema) == without_order(table)
    assert stored.status == "ACTIVE"
    assert {state.status for state in stored.index_states(table)} == {"active"}


async def test_several_tables_are_created_in_one_call(client: Client):
    tables = [fresh(GAMES), fresh(NUMBERED), fresh(replace(NUMBERED, stream="KEYS_ONLY"))]
    await apply_schemas(client, *tables)
    for table in tables:
        assert differences(await describe(client, table), table) == []


async def test_a_table_that_matches_the_design_is_not_changed():
    table = fresh(GAMES)
    async with FaultProxy(shared_server("ministack").endpoint) as proxy, connected(proxy.endpoint) as client:
        await apply_schemas(client, table)
        proxy.seen.clear()
        await apply_schemas(client, table)
        assert set(proxy.seen) == {"DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups"}


async def test_global_indexes_are_created_and_deleted(client: Client):
    table = fresh(GAMES)
    await apply_schemas(client, table)
    await put(
        client,
        table,
        {"PK": {"S": "p"}, "SK": {"S": "s"}, "owner": {"B": b"o"}, "name": {"S": "n"}},
    )
    later = replace(table, indexes=(BY_OWNER, replace(BY_STATUS, name="Renamed"), BY_SCORE))
    await apply_schemas(client, later, removals=True)
    stored = await describe(client, later)
    assert without_order(stored.schema) == without_order(later)
    response = await client.call(
        "Query",
        TableName=table.name,
        IndexName="ByOwner",
        KeyConditionExpression="#o = :o",
        ExpressionAttributeNames={"#o": "owner"},
        ExpressionAttributeValues={":o": {"B": b"o"}},
    )
    assert response["Count"] == 1


@pytest.mark.parametrize(
    "changed",
    [
        replace(BY_STATUS, sk=None),
        replace(BY_STATUS, pk=KeyAttribute("name")),
        replace(BY_STATUS, projection=KEYS_ONLY),
        replace(BY_STATUS, projection=include("name")),
    ],
    ids=["no sort key", "other partition key", "keys only", "some attributes"],
)
async def test_a_changed_global_index_is_recreated(client: Client, changed: IndexSchema):
    table = fresh(GAMES)
    await apply_schemas(client, table)
    later = replace(table, indexes=(changed, BY_NAME, BY_SCORE))
    await apply_schemas(client, later, removals=True)
    assert without_order((await describe(client, later)).schema) == without_order(later)


@pytest.mark.parametrize(
    ("change", "pattern"),
    [
        ({"pk": KeyAttribute("id")}, "keys of"),
        ({"pk": KeyAttribute("PK", "N")}, "keys of"),
        ({"sk": None}, "keys of"),
        ({"indexes": (BY_STATUS, BY_NAME)}, "ByScore .* is gone"),
        ({"indexes": (BY_STATUS, BY_SCORE, replace(BY_SCORE, name="Late"))}, "Late .* is new"),
        ({"indexes": (BY_STATUS, replace(BY_SCORE, projection=KEYS_ONLY))}, "ByScore .* has changed"),
    ],
    ids=["another key", "another type", "no sort key", "local gone", "local new", "local changed"],
)
async def test_a_change_of_keys_or_local_indexes_is_refused_before_any_table_is_changed(
    client: Client, change, pattern: str
):
    table, other = fresh(GAMES), fresh(NUMBERED)
    await apply_schemas(client, table)
    wanted = replace(table, **({"indexes": ()} if "sk" in change or "pk" in change else {}) | change)
    with pytest.raises(SchemaRefused, match=pattern):
        await apply_schemas(client, other, wanted)
    assert await describe_settings(client, other.name) is None
    assert differences(await describe(client, table), table) == []


async def test_duplicate_names_are_refused_before_any_table_is_created(client: Client):
    valid = fresh(NUMBERED)
    duplicated = fresh(replace(GAMES, indexes=(BY_NAME, BY_NAME)))
    with pytest.raises(SchemaRefused, match="same name"):
        await apply_schemas(client, valid, duplicated)
    with pytest.raises(SchemaRefused, match="same name"):
        await apply_schemas(client, valid, valid)
    assert await describe_settings(client, valid.name) is None


async def test_the_stream_of_a_table_can_change(client: Client):
    table = fresh(NUMBERED)
    for view in ("KEYS_ONLY", "NEW_AND_OLD_IMAGES", None, "NEW_IMAGE"):
        later = replace(table, stream=view)
        await apply_schemas(client, later, removals=True)
        assert (await describe(client, later)).schema.stream == view


async def test_the_time_to_live_of_a_table_can_change(client: Client):
    table = fresh(NUMBERED)
    for ttl in ("until", "expires", None):
        later = replace(table, ttl=ttl)
        await apply_schemas(client, later)
        assert (await describe(client, later)).schema.ttl == ttl


async def test_a_time_to_live_changed_within_the_hour_says_to_wait():
    table = fresh(replace(NUMBERED, ttl="until"))
    async with FaultProxy(shared_server("dynoxide").endpoint) as proxy, connected(proxy.endpoint) as client:
        await apply_schemas(client, table)
        proxy.faults["UpdateTimeToLive"] = [forwarded, error_response("ValidationException")]
        with pytest.raises(SchemaRefused, match="once an hour"):
            await apply_schemas(client, replace(table, ttl="expires"))


async def test_capacity_follows_the_design(client: Client):
    table = fresh(GAMES)
    await apply_schemas(client, table)
    for capacity in (Provisioned(5, 6), Provisioned(7, 6), OnDemand()):
        later = replace(table, capacity=capacity)
        await apply_schemas(client, later)
        assert (await describe(client, later)).schema.capacity == capacity


async def test_indexes_have_the_capacity_of_their_table(ministack: Client):
    table = fresh(replace(GAMES, capacity=Provisioned(5, 6)))
    await apply_schemas(ministack, table)
    assert set((await describe(ministack, table)).index_capacities.values()) == {Provisioned(5, 6)}
    later = replace(table, capacity=Provisioned(8, 9))
    await apply_schemas(ministack, later)
    assert set((await describe(ministack, later)).index_capacities.values()) == {Provisioned(8, 9)}


async def test_auto_scaled_capacity_is_changed_only_when_out_of_its_bounds(client: Client):
    table = fresh(replace(NUMBERED, capacity=Provisioned(9, 9)))
    await apply_schemas(client, table)
    scaled = replace(table, capacity=Provisioned(5, 5, max_reads=20, max_writes=20))
    await apply_schemas(client, scaled)
    assert (await describe(client, scaled)).schema.capacity == Provisioned(9, 9)
    await apply_schemas(client, replace(table, capacity=Provisioned(10, 5, max_reads=20, max_writes=20)))
    assert (await describe(client, table)).schema.capacity == Provisioned(10, 5)


async def test_on_demand_maxima_are_set_changed_and_removed(ministack: Client):
    table = fresh(replace(GAMES, capacity=OnDemand(max_reads=40, max_writes=30)))
    await apply_schemas(ministack, table)
    assert (await describe(ministack, table)).schema.capacity == OnDemand(40, 30)
    await apply_schemas(ministack, replace(table, capacity=OnDemand(50, 30)))
    assert (await describe(ministack, table)).schema.capacity == OnDemand(50, 30)
    await apply_schemas(ministack, replace(table, capacity=OnDemand()))
    assert (await describe(ministack, table)).schema.capacity == OnDemand()


async def test_an_unsupported_setting_is_reported_and_does_not_stop_the_store():
    """Dynoxide does not support maximum throughput."""
    table = fresh(replace(GAMES, capacity=OnDemand(40, 30)))
    async with client_of("dynoxide") as client:
        await apply_schemas(client, table)
        tables = Tables(client, SystemClock())
        await tables.apply([table])
        (problem,) = tables.problems[table.name]
        assert "at most 40 reads and 30 writes" in problem
        unmanaged = Tables(client, SystemClock(), manage=False)
        await unmanaged.apply([table])
        assert "at most 40 reads and 30 writes" in unmanaged.problems[table.name][0]
        assert differences(await describe(client, table), table) != []


async def test_a_table_is_encrypted_with_a_managed_key_when_the_design_says_so(ministack: Client):
    table = fresh(GAMES)
    await apply_schemas(ministack, table)
    assert (await describe(ministack, table)).schema.encryption == "owned"
    managed = replace(table, encryption="managed")
    await apply_schemas(ministack, managed)
    assert (await describe(ministack, managed)).schema.encryption == "managed"
    created = fresh(replace(GAMES, encryption="managed"))
    await apply_schemas(ministack, created)
    assert (await describe(ministack, created)).schema.encryption == "managed"


async def test_recovery_and_deletion_protection_are_turned_on_and_never_off(ministack: Client):
    table = fresh(NUMBERED)
    await apply_schemas(ministack, table)
    protected = replace(table, recovery=True, protected=True)
    await apply_schemas(ministack, protected)
    stored = (await describe(ministack, protected)).schema
    assert (stored.recovery, stored.protected) == (True, True)
    await apply_schemas(ministack, table)
    stored = (await describe(ministack, table)).schema
    assert (stored.recovery, stored.protected) == (True, True)


async def test_a_protected_table_cannot_be_deleted(client: Client):
    table = fresh(replace(NUMBERED, protected=True, recovery=True))
    await apply_schemas(client, table)
    with pytest.raises(BadInput):
        await client.call("DeleteTable", TableName=table.name)


async def test_processes_that_start_at_once_create_one_table(client: Client):
    table = fresh(GAMES)
    await asyncio.gather(*(apply_schemas(client, table) for _ in range(4)))
    later = replace(table, indexes=(BY_STATUS, BY_OWNER, BY_SCORE))
    await asyncio.gather(*(apply_schemas(client, later, removals=True) for _ in range(3)))
    assert without_order((await describe(client, later)).schema) == without_order(later)


async def test_throttled_and_lost_schema_calls_are_retried():
    table = fresh(GAMES)
    async with FaultProxy(shared_server("dynoxide").endpoint) as proxy, connected(proxy.endpoint) as client:
        await apply_schemas(client, table)
        proxy.faults["DescribeTable"] = [forwarded, error_response("ThrottlingException"), lost_after]
        proxy.faults["UpdateTable"] = [
            error_response("LimitExceededException"),
            error_response("ResourceInUseException"),
            lost_after,
        ]
        later = replace(table, indexes=(BY_STATUS, BY_SCORE))
        await apply_schemas(client, later, removals=True)
        assert without_order((await describe(client, later)).schema) == without_order(later)


async def test_an_unmanaged_store_lists_every_difference(client: Client):
    table, missing = fresh(GAMES), fresh(NUMBERED)
    await apply_schemas(client, table)
    await apply_schemas(client, table, manage=False)
    wanted = replace(
        table,
        indexes=(replace(BY_STATUS, projection=KEYS_ONLY), BY_OWNER),
        ttl=None,
        stream="KEYS_ONLY",
        capacity=Provisioned(3, 3),
        protected=True,
    )
    with pytest.raises(SchemaRefused) as raised:
        await apply_schemas(client, missing, wanted, manage=False)
    for pattern in (
        f"{missing.name} is missing",
        "ByScore",
        "ByStatus of .* has other keys",
        "ByName of .* is not in the design",
        "ByOwner of .* is missing",
        "time to live",
        "stream",
        "capacity",
        "not protected",
    ):
        assert any(re.search(pattern, part) for part in raised.value.details["differences"]), raised.value.message
    assert await describe_settings(client, missing.name) is None
    assert differences(await describe(client, table), table) == []


async def test_an_index_that_is_being_filled_is_reported_as_creating():
    """The next index waits for it in the background, and `apply` waits for neither."""
    table = fresh(replace(NUMBERED, indexes=()))
    async with FaultProxy(shared_server("dynoxide").endpoint) as proxy, connected(proxy.endpoint) as client:
        await apply_schemas(client, table)
        filled = asyncio.Event()
        proxy.always["DescribeTable"] = _report_filling_until(filled)
        wanted = replace(table, indexes=(BY_NAME, BY_OWNER))
        tables = Tables(client, SystemClock())
        await tables.apply([wanted])
        assert proxy.seen.count("UpdateTable") == 1
        assert [state.status for state in (await describe(client, wanted)).index_states(wanted)] == [
            "creating",
            "creating",
        ]
        filled.set()
        await tables.wait_until_complete()
        assert proxy.seen.count("UpdateTable") == 2
        assert [state.status for state in (await describe(client, wanted)).index_states(wanted)] == ["active", "active"]
        await tables.close()


def _report_filling_until(filled: asyncio.Event):
    async def respond(proxy: FaultProxy, request):
        content = content_of(await proxy.forward(request))
        for index in [] if filled.is_set() else content["Table"].get("GlobalSecondaryIndexes", []):
            index |= {"IndexStatus": "CREATING", "Backfilling": True}
        return reply(content)

    return respond
