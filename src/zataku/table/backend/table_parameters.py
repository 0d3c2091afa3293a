"""A table's schema in DynamoDB's own shapes, as CreateTable, UpdateTable and CloudFormation share them."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from zataku.table.backend.table_schema import Capacity, IndexSchema, KeyAttribute, OnDemand, TableSchema

Parameters: TypeAlias = dict[str, Any]


def table_parameters(schema: TableSchema) -> Parameters:
    """Name, capacity, keys and indexes of a table, which CreateTable and a template write alike."""
    parameters: Parameters = {
        "TableName": schema.name,
        **capacity_parameters(schema.capacity),
        "AttributeDefinitions": attribute_definitions(
            (*schema.keys, *(key for index in schema.indexes for key in index.keys))
        ),
        "KeySchema": key_schema(schema.keys),
    }
    global_indexes = [index_parameters(index, schema.capacity) for index in schema.indexes if not index.local]
    local_indexes = [index_parameters(index) for index in schema.indexes if index.local]
    if global_indexes:
        parameters["GlobalSecondaryIndexes"] = global_indexes
    if local_indexes:
        parameters["LocalSecondaryIndexes"] = local_indexes
    return parameters


def index_parameters(index: IndexSchema, capacity: Capacity | None = None) -> Parameters:
    """An index; a global one has the capacity of its table."""
    projection: Parameters = {"ProjectionType": index.projection.kind}
    if index.projection.kind == "INCLUDE":
        projection["NonKeyAttributes"] = list(index.projection.attributes)
    units = {} if capacity is None else throughput(capacity)
    return {"IndexName": index.name, "KeySchema": key_schema(index.keys), "Projection": projection, **units}


def key_schema(keys: Iterable[KeyAttribute]) -> list[Parameters]:
    """The partition key and the sort key."""
    return [{"AttributeName": key.name, "KeyType": kind} for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)]


def attribute_definitions(keys: Iterable[KeyAttribute]) -> list[Parameters]:
    """The types of key attributes, each once. DynamoDB refuses the definition of any other attribute."""
    return [{"AttributeName": key.name, "AttributeType": key.type} for key in dict.fromkeys(keys)]


def capacity_parameters(capacity: Capacity) -> Parameters:
    """The billing mode of a table, with its units."""
    mode = "PAY_PER_REQUEST" if isinstance(capacity, OnDemand) else "PROVISIONED"
    return {"BillingMode": mode, **throughput(capacity)}


def throughput(capacity: Capacity, *, replaces_maxima: bool = False) -> Parameters:
    """The units of a table or global index. Maxima that are there already are removed only by an explicit -1."""
    if not isinstance(capacity, OnDemand):
        return {"ProvisionedThroughput": {"ReadCapacityUnits": capacity.reads, "WriteCapacityUnits": capacity.writes}}
    maxima = {"MaxReadRequestUnits": capacity.max_reads, "MaxWriteRequestUnits": capacity.max_writes}
    declared = {
        name: -1 if units is None else units for name, units in maxima.items() if replaces_maxima or units is not None
    }
    return {"OnDemandThroughput": declared} if declared else {}
