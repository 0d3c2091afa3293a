"""Tables created from a template on a DynamoDB server match the design."""

import secrets
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.designs import board, drawing, kifu, live, measures, ranking
from tests.support.dynamodb_servers import ServerName, has_fixed_examples, shared_server
from tests.table.export.table_strategies import tables
from zataku.table import OnDemand, Table, open_dynamodb
from zataku.table.backend.table_schema import TableSchema
from zataku.table.export import template

REGION = "eu-central-1"
DESIGNS = [board.board, drawing.drawing, drawing.steady, kifu.kifu, measures.measures, ranking.ranking, *live.TABLES]


@pytest.fixture(scope="module", params=["dynoxide", "ministack"])
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    name: ServerName = request.param
    client = boto3.client(
        "dynamodb",
        endpoint_url=shared_server(name).endpoint,
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )
    yield client
    client.close()


def deploy(client: Any, properties: dict[str, Any]) -> None:
    """Create a table from its properties as CloudFormation does: most in one call, the others in two more."""
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
    """Dynoxide has no continuous backups and does not report on-demand maxima, so these are not compared."""
    return client.meta.endpoint_url == shared_server("dynoxide").endpoint


def compare(client: Any, schema: TableSchema) -> None:
    description = client.describe_table(TableName=schema.name)["Table"]
    types = {
        attribute["AttributeName"]: attribute["AttributeType"] for attribute in description["AttributeDefinitions"]
    }

    def keys(described: dict[str, Any]) -> list[tuple[str, str]]:
        return [(key["AttributeName"], types[key["AttributeName"]]) for key in described["KeySchema"]]

    assert keys(description) == [(key.name, key.type) for key in schema.keys]
    for kind, local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True)):
        stored = {index["IndexName"]: index for index in description.get(kind, [])}
        declared = {index.name: index for index in schema.indexes if index.local is local}
        assert stored.keys() == declared.keys()
        for name, index in declared.items():
            projection = stored[name]["Projection"]
            assert keys(stored[name]) == [(key.name, key.type) for key in index.keys]
            assert projection["ProjectionType"] == index.projection.kind
            assert tuple(sorted(projection.get("NonKeyAttributes", []))) == index.projection.attributes
    assert description.get("StreamSpecification", {}).get("StreamViewType") == schema.stream
    if isinstance(schema.capacity, OnDemand):
        assert description["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
        if not is_dynoxide(client):
            compare_maxima(description, schema.capacity)
    else:
        units = description["ProvisionedThroughput"]
        capacity = (units["ReadCapacityUnits"], units["WriteCapacityUnits"])
        assert capacity == (schema.capacity.reads, schema.capacity.writes)
    assert description["DeletionProtectionEnabled"] is schema.protected
    ttl = client.describe_time_to_live(TableName=schema.name)["TimeToLiveDescription"]
    assert ttl.get("AttributeName") == schema.ttl
    if not is_dynoxide(client):
        backups = client.describe_continuous_backups(TableName=schema.name)["ContinuousBackupsDescription"]
        status = backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"]
        assert status == ("ENABLED" if schema.recovery else "DISABLED")


def compare_maxima(description: dict[str, Any], capacity: OnDemand) -> None:
    """Compare the maxima of the table and of each global index; -1 and an absent value both mean none."""
    for resource in (description, *description.get("GlobalSecondaryIndexes", [])):
        throughput = resource.get("OnDemandThroughput", {})
        maxima = [throughput.get(name, -1) for name in ("MaxReadRequestUnits", "MaxWriteRequestUnits")]
        assert maxima == [-1 if units is None else units for units in (capacity.max_reads, capacity.max_writes)]


def deploy_and_compare(client: Any, table: Table, env: str) -> None:
    schema = table.schema(env)
    (resource, *_) = template([table], env=env)["Resources"].values()
    try:
        deploy(client, resource["Properties"])
        compare(client, schema)
    finally:
        client.update_table(TableName=schema.name, DeletionProtectionEnabled=False)
        client.delete_table(TableName=schema.name)


async def test_an_unmanaged_store_opens_on_the_deployed_tables(client: Any) -> None:
    env = secrets.token_hex(5)
    tables = [board.board, kifu.kifu, *live.TABLES]
    if not is_dynoxide(client):
        tables.append(drawing.drawing)
    rendered = template(tables, env=env, rights=live.matrix, store_table=True)
    for resource in rendered["Resources"].values():
        if resource["Type"] == "AWS::DynamoDB::Table":
            deploy(client, resource["Properties"])
    endpoint = client.meta.endpoint_url
    async with await open_dynamodb(tables, endpoint=endpoint, region=REGION, env=env, manage=False) as store:
        room = live.Room(room_id="room-1")
        assert await store.restricted(live.matrix["CreateRoomFunction"]).put(room) == room


@pytest.mark.parametrize("env", ["dev", "prod"])
@pytest.mark.parametrize("table", DESIGNS, ids=lambda table: table.name)
def test_a_deployed_table_matches_the_design(client: Any, table: Table, env: str) -> None:
    deploy_and_compare(client, table, env)


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=has_fixed_examples(),
)
@given(table=tables())
def test_any_table_can_be_deployed(client: Any, table: Table) -> None:
    deploy_and_compare(client, table, "dev")
