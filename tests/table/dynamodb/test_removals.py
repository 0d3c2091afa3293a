"""Opening a store deletes nothing that is stored; `zataku store apply` does, after it has shown its plan."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.dynamodb_servers import shared_server
from tests.table.dynamodb.server_tables import BOTH, apply_schemas, client_of, fresh, put
from zataku.clock import SystemClock
from zataku.table import Entity, Table, open_dynamodb
from zataku.table.backend.errors import SchemaRefused
from zataku.table.backend.table_schema import KEYS_ONLY, IndexSchema, KeyAttribute, TableSchema, include
from zataku.table.design_catalogue import load_file
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.tables.description import describe_settings
from zataku.table.dynamodb.tables.management import Tables

BY_STATUS = IndexSchema("ByStatus", KeyAttribute("status"), KeyAttribute("at", "N"))
BY_NAME = IndexSchema("ByName", KeyAttribute("name"), projection=include("at"))
GAMES = TableSchema(
    "GamesOfRemovals", KeyAttribute("PK"), KeyAttribute("SK"), (BY_STATUS, BY_NAME), stream="NEW_AND_OLD_IMAGES"
)


@pytest.fixture(params=BOTH)
async def client(request) -> AsyncIterator[Client]:
    async with client_of(request.param) as client:
        yield client


async def stored(client: Client, table: TableSchema) -> TableSchema:
    description = await describe_settings(client, table.name)
    assert description is not None
    return replace(description.schema, indexes=tuple(sorted(description.schema.indexes, key=lambda index: index.name)))


async def problems_of_opening(client: Client, table: TableSchema) -> list[str]:
    tables = Tables(client, SystemClock())
    await tables.apply([table])
    await tables.wait_until_complete()
    return tables.problems[table.name]


@pytest.fixture
async def table(client: Client) -> TableSchema:
    created = fresh(GAMES)
    await apply_schemas(client, created)
    await put(client, created, {"PK": {"S": "p"}, "SK": {"S": "s"}, "until": {"N": "1760000000"}})
    return created


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"indexes": (BY_STATUS,)}, "The index ByName of {} is not in the design."),
        ({"indexes": (replace(BY_STATUS, projection=KEYS_ONLY), BY_NAME)}, "ByStatus of {} has other keys or"),
        ({"stream": None}, "The stream of {} is NEW_AND_OLD_IMAGES, not off."),
        ({"stream": "NEW_IMAGE"}, "The stream of {} is NEW_AND_OLD_IMAGES, not NEW_IMAGE."),
        ({"ttl": "until"}, "The time to live of {} is off, not until."),
    ],
    ids=["index gone", "index with more", "stream gone", "stream with more", "items that would expire"],
)
async def test_what_the_store_works_with_is_reported_and_stays(
    client: Client, table: TableSchema, change, problem: str
):
    before = await stored(client, table)
    (reported,) = await problems_of_opening(client, replace(table, **change))
    assert problem.format(table.name) in reported
    assert await stored(client, table) == before


@pytest.mark.parametrize(
    "change",
    [
        {"indexes": (replace(BY_STATUS, sk=None), BY_NAME)},
        {"indexes": (replace(BY_STATUS, pk=KeyAttribute("name")), BY_NAME)},
        {"indexes": (BY_STATUS, replace(BY_NAME, projection=include("at", "score")))},
        {"indexes": (BY_STATUS, IndexSchema("ByName", KeyAttribute("name")))},
    ],
    ids=["no sort key", "other partition key", "an attribute more", "all attributes"],
)
async def test_an_index_that_would_have_to_be_built_again_is_refused_before_any_change(
    client: Client, table: TableSchema, change
):
    before, other = await stored(client, table), fresh(GAMES)
    with pytest.raises(SchemaRefused, match="Opening a store deletes nothing. `zataku store apply` shows"):
        await apply_schemas(client, other, replace(table, **change))
    assert await stored(client, table) == before
    assert await describe_settings(client, other.name) is None


async def test_a_stream_without_the_images_that_are_read_is_refused(client: Client):
    created = fresh(replace(GAMES, stream="KEYS_ONLY"))
    await apply_schemas(client, created)
    with pytest.raises(SchemaRefused, match="stream of .* is KEYS_ONLY, not NEW_IMAGE"):
        await apply_schemas(client, replace(created, stream="NEW_IMAGE"))
    assert (await stored(client, created)).stream == "KEYS_ONLY"


async def test_time_to_live_is_turned_on_where_nothing_can_expire(client: Client):
    created = fresh(GAMES)
    await apply_schemas(client, created)
    assert await problems_of_opening(client, replace(created, ttl="until")) == []
    assert (await stored(client, created)).ttl == "until"


async def test_missing_indexes_are_still_created_beside_what_is_left(client: Client, table: TableSchema):
    by_owner = IndexSchema("ByOwner", KeyAttribute("owner"))
    assert len(await problems_of_opening(client, replace(table, indexes=(BY_STATUS, by_owner)))) == 1
    assert [index.name for index in (await stored(client, table)).indexes] == ["ByName", "ByOwner", "ByStatus"]


async def test_a_plan_names_every_change_and_makes_none(client: Client, table: TableSchema):
    before, missing = await stored(client, table), fresh(GAMES)
    by_owner = IndexSchema("ByOwner", KeyAttribute("owner"))
    wanted = replace(table, indexes=(replace(BY_STATUS, sk=None), by_owner), stream=None, ttl="until")
    plan = await Tables(client, SystemClock(), manage=False).plan([wanted, missing])
    assert {(change.action, change.removes, change.required) for change in plan} == {
        ("turn off the stream", True, False),
        ("have the service delete items when their until has passed", True, False),
        ("delete the index ByStatus and build it again", True, True),
        ("delete the index ByName", True, False),
        ("create the index ByOwner", False, True),
        ("create the table", False, True),
    }
    assert await stored(client, table) == before
    await apply_schemas(client, wanted, missing, removals=True)
    assert await stored(client, table) == replace(wanted, indexes=(by_owner, wanted.indexes[0]))
    assert await Tables(client, SystemClock(), manage=False).plan([wanted, missing]) == []


async def test_the_error_names_the_exact_command():
    endpoint = shared_server("dynoxide").endpoint
    name = fresh(GAMES).name
    first, second = (Table(name, pk="PK", sk="SK") for _ in range(2))
    first.index("Index", pk="one")
    second.index("Index", pk="two")
    for table in (first, second):

        @table.entity(pk="{name}", sk="A", index={"one": "{name}"} if table is first else {"two": "{name}"})
        class Thing(Entity, frozen=True, kw_only=True, tag="THING"):
            name: str

    await (await open_dynamodb([first], endpoint=endpoint, region="eu-west-1", env="dev")).close()
    # Quoted, since a shell may take the question mark for a pattern.
    command = f"`zataku store apply --store 'dynamodb+{endpoint}?region=eu-west-1' --env dev --designs {__name__}`"
    for manage in (True, False):
        with pytest.raises(SchemaRefused) as refused:
            await open_dynamodb([second], endpoint=endpoint, region="eu-west-1", env="dev", manage=manage)
        assert command in refused.value.message


async def test_the_command_names_the_file_of_a_design_outside_a_package(tmp_path: Path):
    file = tmp_path / "my design.py"
    name = fresh(GAMES).name
    file.write_text(
        f'''
from zataku.table import Entity, Table

table = Table("{name}", pk="PK", sk="SK")
table.index("Index", pk="two")


@table.entity(pk="{{name}}", sk="A", index={{"two": "{{name}}"}})
class Thing(Entity, frozen=True, kw_only=True):
    name: str
''',
        encoding="utf-8",
    )
    endpoint, other = shared_server("dynoxide").endpoint, Table(name, pk="PK", sk="SK")
    other.index("Index", pk="one")
    await (await open_dynamodb([other], endpoint=endpoint)).close()
    with pytest.raises(SchemaRefused) as refused:
        await open_dynamodb([load_file(file).table], endpoint=endpoint)
    assert f"`zataku store apply --store dynamodb+{endpoint} --designs '{file}'`" in refused.value.message
