"""The properties of a DynamoDB table, as a template and as CreateTable know them."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from zataku.table.backend.table_schema import Capacity, IndexSchema, KeyAttribute, OnDemand, TableSchema

Properties: TypeAlias = dict[str, Any]


def table_properties(schema: TableSchema, tags: dict[str, str]) -> Properties:
    """Everything that a table's schema says."""
    properties: Properties = {
        "TableName": schema.name,
        "BillingMode": "PAY_PER_REQUEST" if isinstance(schema.capacity, OnDemand) else "PROVISIONED",
        **_throughput(schema.capacity),
        "AttributeDefinitions": _definitions(schema),
        "KeySchema": _key_schema(schema.keys),
    }
    distant = [_index(index) | _throughput(schema.capacity) for index in schema.indexes if not index.local]
    local = [_index(index) for index in schema.indexes if index.local]
    if distant:
        properties["GlobalSecondaryIndexes"] = distant
    if local:
        properties["LocalSecondaryIndexes"] = local
    if schema.ttl is not None:
        properties["TimeToLiveSpecification"] = {"AttributeName": schema.ttl, "Enabled": True}
    if schema.stream is not None:
        properties["StreamSpecification"] = {"StreamViewType": schema.stream}
    properties["PointInTimeRecoverySpecification"] = {"PointInTimeRecoveryEnabled": schema.recovery}
    if schema.encryption == "managed":
        properties["SSESpecification"] = {"SSEEnabled": True}
    properties["DeletionProtectionEnabled"] = schema.protected
    properties["Tags"] = [{"Key": key, "Value": value} for key, value in tags.items()]
    return properties


def _definitions(schema: TableSchema) -> list[Properties]:
    """Key attributes only: others are not declared to DynamoDB, and one too many is refused."""
    keys = (*schema.keys, *(key for index in schema.indexes for key in index.keys))
    return [{"AttributeName": key.name, "AttributeType": key.type} for key in dict.fromkeys(keys)]


def _key_schema(keys: Iterable[KeyAttribute]) -> list[Properties]:
    return [{"AttributeName": key.name, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)]


def _index(index: IndexSchema) -> Properties:
    projection: Properties = {"ProjectionType": index.projection.kind}
    if index.projection.kind == "INCLUDE":
        projection["NonKeyAttributes"] = list(index.projection.attributes)
    return {"IndexName": index.name, "KeySchema": _key_schema(index.keys), "Projection": projection}


def _throughput(capacity: Capacity) -> Properties:
    """What a table and each of its global indexes may use."""
    if not isinstance(capacity, OnDemand):
        units = {"ReadCapacityUnits": capacity.reads, "WriteCapacityUnits": capacity.writes}
        return {"ProvisionedThroughput": units}
    maxima = {"MaxReadRequestUnits": capacity.max_reads, "MaxWriteRequestUnits": capacity.max_writes}
    declared = {name: units for name, units in maxima.items() if units is not None}
    return {"OnDemandThroughput": declared} if declared else {}
