"""The tables of a template can be made, and are then what the design says."""

import secrets
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.designs import board, drawing, kifu, live, measures, ranking
from tests.support.dynamodb_servers import ServerName, shared_server
from tests.table.export.table_strategies import tables
from zataku.table import OnDemand, Table, open_dynamodb
from zataku.table.backend.table_schema import TableSchema
from zataku.table.export import template

REGION = "eu-central-1"
DESIGNS = [board.board, drawing.drawing, drawing.steady, kifu.kifu, measures.measures, ranking.ranking, *live.TABLES]


@pytest.fixture(scope="module", params=["dynoxide", "ministack"])
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    name: ServerName = request.param
    made = boto3.client(
        "dynamodb",
        endpoint_url=shared_server(name).endpoint,
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )
    yield made
    made.close()


def deploy(client: Any, properties: dict[str, Any]) -> None:
    """What CloudFormation does with the properties of a table: one call for most of them, two for the others."""
    request = dict(properties)
    ttl = request.pop("TimeToLiveSpecification", None)
    recovery = request.pop("PointInTimeRecoverySpecification")
    if "SSESpecification" in request:
        request["SSESpecification"] = {"Enabled": request["SSESpecification"]["SSEEnabled"]}
    if "StreamSpecification" in request:
        request["StreamSpecification"] = {"StreamEnabled": True, **request["StreamSpecification"]}
    client.create_table(**request)
    if ttl is not None:
        client.update_time_to_live(TableName=request["TableName"], TimeToLiveSpecification=ttl)
    if not is_dynoxide(client):
        client.update_continuous_backups(TableName=request["TableName"], PointInTimeRecoverySpecification=recovery)


def is_dynoxide(client: Any) -> bool:
    """Dynoxide knows no continuous backups and does not tell on-demand maxima; all else of it is compared."""
    return client.meta.endpoint_url == shared_server("dynoxide").endpoint


def compare(client: Any, schema: TableSchema) -> None:
    found = client.describe_table(TableName=schema.name)["Table"]
    types = {each["AttributeName"]: each["AttributeType"] for each in found["AttributeDefinitions"]}

    def keys(described: dict[str, Any]) -> list[tuple[str, str]]:
        return [(key["AttributeName"], types[key["AttributeName"]]) for key in described["KeySchema"]]

    assert keys(found) == [(key.name, key.type) for key in schema.keys]
    for kind, local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True)):
        stored = {index["IndexName"]: index for index in found.get(kind, [])}
        wanted = {index.name: index for index in schema.indexes if index.local is local}
        assert stored.keys() == wanted.keys()
        for name, index in wanted.items():
            projection = stored[name]["Projection"]
            assert keys(stored[name]) == [(key.name, key.type) for key in index.keys]
            assert projection["ProjectionType"] == index.projection.kind
            assert tuple(sorted(projection.get("NonKeyAttributes", []))) == index.projection.attributes
    assert found.get("StreamSpecification", {}).get("StreamViewType") == schema.stream
    if isinstance(schema.capacity, OnDemand):
        assert found["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
        if not is_dynoxide(client):
            compare_maxima(found, schema.capacity)
    else:
        units = found["ProvisionedThroughput"]
        steady = (units["ReadCapacityUnits"], units["WriteCapacityUnits"])
        assert steady == (schema.capacity.reads, schema.capacity.writes)
    assert found["DeletionProtectionEnabled"] is schema.protected
    ttl = client.describe_time_to_live(TableName=schema.name)["TimeToLiveDescription"]
    assert ttl.get("AttributeName") == schema.ttl
    if not is_dynoxide(client):
        kept = client.describe_continuous_backups(TableName=schema.name)["ContinuousBackupsDescription"]
        status = kept["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"]
        assert status == ("ENABLED" if schema.recovery else "DISABLED")


def compare_maxima(found: dict[str, Any], capacity: OnDemand) -> None:
    """The maxima of the table and of each global index; -1 and nothing both stand for none."""
    for place in (found, *found.get("GlobalSecondaryIndexes", [])):
        most = place.get("OnDemandThroughput", {})
        told = [most.get(name, -1) for name in ("MaxReadRequestUnits", "MaxWriteRequestUnits")]
        assert told == [-1 if units is None else units for units in (capacity.max_reads, capacity.max_writes)]


def deploy_and_compare(client: Any, table: Table, env: str) -> None:
    schema = table.schema(env)
    (made, *_) = template([table], env=env)["Resources"].values()
    try:
        deploy(client, made["Properties"])
        compare(client, schema)
    finally:
        client.update_table(TableName=schema.name, DeletionProtectionEnabled=False)
        client.delete_table(TableName=schema.name)


async def test_a_store_that_may_change_nothing_finds_the_deployed_tables_right(client: Any) -> None:
    env = secrets.token_hex(5)
    tables = [board.board, kifu.kifu, *live.TABLES]
    if not is_dynoxide(client):
        tables.append(drawing.drawing)
    whole = template(tables, env=env, rights=live.matrix, store_table=True)
    for made in whole["Resources"].values():
        if made["Type"] == "AWS::DynamoDB::Table":
            deploy(client, made["Properties"])
    endpoint = client.meta.endpoint_url
    async with await open_dynamodb(tables, endpoint=endpoint, region=REGION, env=env, manage=False) as store:
        room = live.Room(room_id="room-1")
        assert await store.restricted(live.matrix["CreateRoomFunction"]).put(room) == room


@pytest.mark.parametrize("env", ["dev", "prod"])
@pytest.mark.parametrize("table", DESIGNS, ids=lambda table: table.name)
def test_a_deployed_table_is_the_designs(client: Any, table: Table, env: str) -> None:
    deploy_and_compare(client, table, env)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables())
def test_any_table_can_be_deployed(client: Any, table: Table) -> None:
    deploy_and_compare(client, table, "dev")
