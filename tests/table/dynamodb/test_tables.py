"""Tables made and changed in the service as the design says, on both implementations."""

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from tests.support.dynamodb_servers import shared_server
from tests.table.dynamodb.fault_proxy import FaultProxy, answered, content_of, lost_after, passed, reply
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
    async with client_of(request.param) as made:
        yield made


@pytest.fixture
async def ministack() -> AsyncIterator[Client]:
    """The implementation that shows maxima and keeps history."""
    async with client_of("ministack") as made:
        yield made


async def there(client: Client, table: TableSchema) -> TableDescription:
    found = await describe_settings(client, table.name)
    assert found is not None
    return found


def without_order(table: TableSchema) -> TableSchema:
    return replace(table, indexes=tuple(sorted(table.indexes, key=lambda index: index.name)))


async def test_a_table_is_made_with_everything_it_declares(client: Client):
    table = fresh(replace(GAMES, indexes=(*GAMES.indexes, BY_OWNER)))
    await apply_schemas(client, table)
    stored = await there(client, table)
    assert without_order(stored.schema) == without_order(table)
    assert stored.status == "ACTIVE"
    assert {state.status for state in stored.index_states(table)} == {"active"}


async def test_several_tables_are_made_at_once(client: Client):
    tables = [fresh(GAMES), fresh(NUMBERED), fresh(replace(NUMBERED, stream="KEYS_ONLY"))]
    await apply_schemas(client, *tables)
    for table in tables:
        assert differences(await there(client, table), table) == []


async def test_a_table_that_fits_is_left_alone():
    table = fresh(GAMES)
    async with FaultProxy(shared_server("ministack").endpoint) as proxy, connected(proxy.endpoint) as client:
        await apply_schemas(client, table)
        proxy.seen.clear()
        await apply_schemas(client, table)
        assert set(proxy.seen) == {"DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups"}


async def test_global_indexes_come_and_go(client: Client):
    table = fresh(GAMES)
    await apply_schemas(client, table)
    await put(
        client,
        table,
        {"PK": {"S": "p"}, "SK": {"S": "s"}, "owner": {"B": b"o"}, "name": {"S": "n"}},
    )
    later = replace(table, indexes=(BY_OWNER, replace(BY_STATUS, name="Again"), BY_SCORE))
    await apply_schemas(client, later)
    stored = await there(client, later)
    assert without_order(stored.schema) == without_order(later)
    answer = await client.call(
        "Query",
        TableName=table.name,
        IndexName="ByOwner",
        KeyConditionExpression="#o = :o",
        ExpressionAttributeNames={"#o": "owner"},
        ExpressionAttributeValues={":o": {"B": b"o"}},
    )
    assert answer["Count"] == 1


@pytest.mark.parametrize(
    "changed",
    [
        replace(BY_STATUS, sk=None),
        replace(BY_STATUS, pk=KeyAttribute("name")),
        replace(BY_STATUS, projection=KEYS_ONLY),
        replace(BY_STATUS, projection=include("name")),
    ],
    ids=["no sort key", "another partition key", "keys only", "some attributes"],
)
async def test_a_global_index_that_has_changed_is_made_anew(client: Client, changed: IndexSchema):
    table = fresh(GAMES)
    await apply_schemas(client, table)
    later = replace(table, indexes=(changed, BY_NAME, BY_SCORE))
    await apply_schemas(client, later)
    assert without_order((await there(client, later)).schema) == without_order(later)


@pytest.mark.parametrize(
    ("change", "words"),
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
async def test_what_stored_items_cannot_follow_is_refused(client: Client, change, words: str):
    table, other = fresh(GAMES), fresh(NUMBERED)
    await apply_schemas(client, table)
    wanted = replace(table, **({"indexes": ()} if "sk" in change or "pk" in change else {}) | change)
    with pytest.raises(SchemaRefused, match=words):
        await apply_schemas(client, other, wanted)
    assert await describe_settings(client, other.name) is None
    assert differences(await there(client, table), table) == []


async def test_nonsense_is_refused_before_anything_is_sent(client: Client):
    fine = fresh(NUMBERED)
    twice = fresh(replace(GAMES, indexes=(BY_NAME, BY_NAME)))
    with pytest.raises(SchemaRefused, match="same name"):
        await apply_schemas(client, fine, twice)
    with pytest.raises(SchemaRefused, match="same name"):
        await apply_schemas(client, fine, fine)
    assert await describe_settings(client, fine.name) is None


async def test_the_stream_of_a_table_can_change(client: Client):
    table = fresh(NUMBERED)
    for view in ("KEYS_ONLY", "NEW_AND_OLD_IMAGES", None, "NEW_IMAGE"):
        later = replace(table, stream=view)
        await apply_schemas(client, later)
        assert (await there(client, later)).schema.stream == view


async def test_the_time_to_live_of_a_table_can_change(client: Client):
    table = fresh(NUMBERED)
    for ttl in ("until", "expires", None):
        later = replace(table, ttl=ttl)
        await apply_schemas(client, later)
        assert (await there(client, later)).schema.ttl == ttl


async def test_a_time_to_live_that_changed_lately_says_to_wait():
    table = fresh(replace(NUMBERED, ttl="until"))
    async with FaultProxy(shared_server("dynoxide").endpoint) as proxy, connected(proxy.endpoint) as client:
        await apply_schemas(client, table)
        proxy.faults["UpdateTimeToLive"] = [passed, answered("ValidationException")]
        with pytest.raises(SchemaRefused, match="once an hour"):
            await apply_schemas(client, replace(table, ttl="expires"))


async def test_capacity_follows_the_design(client: Client):
    table = fresh(GAMES)
    await apply_schemas(client, table)
    for capacity in (Provisioned(5, 6), Provisioned(7, 6), OnDemand()):
        later = replace(table, capacity=capacity)
        await apply_schemas(client, later)
        assert (await there(client, later)).schema.capacity == capacity


async def test_indexes_have_the_capacity_of_their_table(ministack: Client):
    table = fresh(replace(GAMES, capacity=Provisioned(5, 6)))
    await apply_schemas(ministack, table)
    assert set((await there(ministack, table)).index_capacities.values()) == {Provisioned(5, 6)}
    later = replace(table, capacity=Provisioned(8, 9))
    await apply_schemas(ministack, later)
    assert set((await there(ministack, later)).index_capacities.values()) == {Provisioned(8, 9)}


async def test_units_that_follow_the_load_are_left_alone(client: Client):
    table = fresh(replace(NUMBERED, capacity=Provisioned(9, 9)))
    await apply_schemas(client, table)
    scaled = replace(table, capacity=Provisioned(5, 5, max_reads=20, max_writes=20))
    await apply_schemas(client, scaled)
    assert (await there(client, scaled)).schema.capacity == Provisioned(9, 9)
    await apply_schemas(client, replace(table, capacity=Provisioned(10, 5, max_reads=20, max_writes=20)))
    assert (await there(client, table)).schema.capacity == Provisioned(10, 5)


async def test_maxima_on_demand_come_and_go(ministack: Client):
    table = fresh(replace(GAMES, capacity=OnDemand(max_reads=40, max_writes=30)))
    await apply_schemas(ministack, table)
    assert (await there(ministack, table)).schema.capacity == OnDemand(40, 30)
    await apply_schemas(ministack, replace(table, capacity=OnDemand(50, 30)))
    assert (await there(ministack, table)).schema.capacity == OnDemand(50, 30)
    await apply_schemas(ministack, replace(table, capacity=OnDemand()))
    assert (await there(ministack, table)).schema.capacity == OnDemand()


async def test_a_setting_that_a_service_does_not_know_does_not_hold_the_store_up():
    """dynoxide knows no maxima."""
    table = fresh(replace(GAMES, capacity=OnDemand(40, 30)))
    async with client_of("dynoxide") as client:
        await apply_schemas(client, table)
        tables = Tables(client, SystemClock())
        await tables.apply([table])
        (said,) = tables.problems[table.name]
        assert "at most 40 reads and 30 writes" in said
        looking = Tables(client, SystemClock(), manage=False)
        await looking.apply([table])
        assert "at most 40 reads and 30 writes" in looking.problems[table.name][0]
        assert differences(await there(client, table), table) != []


async def test_a_key_of_the_account_encrypts_where_the_design_says_so(ministack: Client):
    table = fresh(GAMES)
    await apply_schemas(ministack, table)
    assert (await there(ministack, table)).schema.encryption == "owned"
    managed = replace(table, encryption="managed")
    await apply_schemas(ministack, managed)
    assert (await there(ministack, managed)).schema.encryption == "managed"
    made = fresh(replace(GAMES, encryption="managed"))
    await apply_schemas(ministack, made)
    assert (await there(ministack, made)).schema.encryption == "managed"


async def test_what_protects_items_is_turned_on_and_never_off(ministack: Client):
    table = fresh(NUMBERED)
    await apply_schemas(ministack, table)
    kept = replace(table, recovery=True, protected=True)
    await apply_schemas(ministack, kept)
    stored = (await there(ministack, kept)).schema
    assert (stored.recovery, stored.protected) == (True, True)
    await apply_schemas(ministack, table)
    stored = (await there(ministack, table)).schema
    assert (stored.recovery, stored.protected) == (True, True)


async def test_a_protected_table_is_not_deleted(client: Client):
    table = fresh(replace(NUMBERED, protected=True, recovery=True))
    await apply_schemas(client, table)
    with pytest.raises(BadInput):
        await client.call("DeleteTable", TableName=table.name)


async def test_two_processes_starting_at_once_make_one_table(client: Client):
    table = fresh(GAMES)
    await asyncio.gather(*(apply_schemas(client, table) for _ in range(4)))
    later = replace(table, indexes=(BY_STATUS, BY_OWNER, BY_SCORE))
    await asyncio.gather(*(apply_schemas(client, later) for _ in range(3)))
    assert without_order((await there(client, later)).schema) == without_order(later)


async def test_a_busy_service_is_asked_again():
    table = fresh(GAMES)
    async with FaultProxy(shared_server("dynoxide").endpoint) as proxy, connected(proxy.endpoint) as client:
        await apply_schemas(client, table)
        proxy.faults["DescribeTable"] = [passed, answered("ThrottlingException"), lost_after]
        proxy.faults["UpdateTable"] = [
            answered("LimitExceededException"),
            answered("ResourceInUseException"),
            lost_after,
        ]
        later = replace(table, indexes=(BY_STATUS, BY_SCORE))
        await apply_schemas(client, later)
        assert without_order((await there(client, later)).schema) == without_order(later)


async def test_without_the_right_to_change_every_difference_is_listed(client: Client):
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
    with pytest.raises(SchemaRefused) as refused:
        await apply_schemas(client, missing, wanted, manage=False)
    said = refused.value.message
    for words in (
        f"{missing.name} is missing",
        "ByScore",
        "ByStatus of .* has other keys",
        "ByName of .* is too many",
        "ByOwner of .* is missing",
        "time to live",
        "stream",
        "capacity",
        "not protected",
    ):
        assert any(re.search(words, part) for part in refused.value.details["differences"]), said
    assert await describe_settings(client, missing.name) is None
    assert differences(await there(client, table), table) == []


async def test_an_index_that_is_being_filled_is_reported_as_creating():
    """The next one waits for it in the background, and start() waits for neither."""
    table = fresh(replace(NUMBERED, indexes=()))
    async with FaultProxy(shared_server("dynoxide").endpoint) as proxy, connected(proxy.endpoint) as client:
        await apply_schemas(client, table)
        filling = asyncio.Event()
        proxy.always["DescribeTable"] = _shows_filling(filling)
        wanted = replace(table, indexes=(BY_NAME, BY_OWNER))
        tables = Tables(client, SystemClock())
        await tables.apply([wanted])
        assert proxy.seen.count("UpdateTable") == 1
        assert [state.status for state in (await there(client, wanted)).index_states(wanted)] == [
            "creating",
            "creating",
        ]
        filling.set()
        await tables.wait_until_complete()
        assert proxy.seen.count("UpdateTable") == 2
        assert [state.status for state in (await there(client, wanted)).index_states(wanted)] == ["active", "active"]
        await tables.close()


def _shows_filling(done: asyncio.Event):
    async def shown(proxy: FaultProxy, request):
        content = content_of(await proxy.forward(request))
        for index in [] if done.is_set() else content["Table"].get("GlobalSecondaryIndexes", []):
            index |= {"IndexStatus": "CREATING", "Backfilling": True}
        return reply(content)

    return shown
