"""Tables as the service describes them, parsed into schemas."""

from typing import Any, cast

from msgspec import Struct

from zataku.table.backend.errors import LacksCapability, SchemaRefused
from zataku.table.backend.port import IndexState, Size
from zataku.table.backend.table_schema import (
    ALL,
    KEYS_ONLY,
    Capacity,
    IndexSchema,
    KeyAttribute,
    OnDemand,
    Projection,
    Provisioned,
    TableSchema,
    include,
)
from zataku.table.dynamodb.client import Client, Response

# An index can be read while its capacity changes.
_READABLE_STATUSES = ("ACTIVE", "UPDATING")


class TableDescription(Struct, frozen=True):
    """An existing table. `recovery_offered` is False where the service has no point-in-time recovery."""

    schema: TableSchema
    status: str
    index_statuses: dict[str, str]
    index_capacities: dict[str, Capacity]
    sizes: list[Size]
    recovery_offered: bool = True

    @property
    def is_changing_index(self) -> bool:
        """True while an index is created or deleted: the service changes one at a time."""
        return any(status not in _READABLE_STATUSES for status in self.index_statuses.values())

    def index_states(self, design: TableSchema) -> list[IndexState]:
        """States of the design's indexes; one that does not exist yet counts as being created."""
        states: list[IndexState] = []
        for index in design.indexes:
            is_ready = index.local or self.index_statuses.get(index.name) in _READABLE_STATUSES
            states.append(IndexState(design.name, index.name, "active" if is_ready else "creating"))
        return states


async def describe_table(client: Client, name: str) -> Response | None:
    """The service's description of a table, or None when it does not exist."""
    try:
        response = await client.call("DescribeTable", TableName=name)
    except SchemaRefused:
        return None
    return cast("Response", response["Table"])


async def describe_settings(client: Client, name: str) -> TableDescription | None:
    """A table with time to live and recovery, or None when it does not exist."""
    description = await describe_table(client, name)
    if description is None:
        return None
    ttl = recovery = None
    if description["TableStatus"] not in ("CREATING", "DELETING"):
        ttl, recovery = await _time_to_live(client, name), await _recovery(client, name)
    return parse_description(description, ttl, recovery)


async def _time_to_live(client: Client, name: str) -> str | None:
    try:
        response = await client.call("DescribeTimeToLive", TableName=name)
    except LacksCapability:
        return None
    description = response.get("TimeToLiveDescription", {})
    return description.get("AttributeName") if description.get("TimeToLiveStatus") in ("ENABLED", "ENABLING") else None


async def _recovery(client: Client, name: str) -> bool | None:
    try:
        response = await client.call("DescribeContinuousBackups", TableName=name)
    except LacksCapability:
        return None
    description = response["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    return description.get("PointInTimeRecoveryStatus") == "ENABLED"


def parse_description(description: Response, ttl: str | None, recovery: bool | None) -> TableDescription:
    """The table of a description."""
    types: dict[str, Any] = {
        attribute["AttributeName"]: attribute["AttributeType"] for attribute in description["AttributeDefinitions"]
    }
    billing = description.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
    global_indexes: list[Response] = description.get("GlobalSecondaryIndexes") or []
    local_indexes: list[Response] = description.get("LocalSecondaryIndexes") or []
    pk, sk = _keys(description, types)
    stream: Response = description.get("StreamSpecification") or {}
    key: Response = description.get("SSEDescription") or {}
    schema = TableSchema(
        description["TableName"],
        pk,
        sk,
        tuple(
            [_index(index, types, local=False) for index in global_indexes]
            + [_index(index, types, local=True) for index in local_indexes]
        ),
        ttl,
        stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
        capacity_of(description, billing),
        bool(recovery),
        "managed" if key.get("Status") in ("ENABLED", "ENABLING", "UPDATING") else "owned",
        protected=bool(description.get("DeletionProtectionEnabled")),
    )
    return TableDescription(
        schema,
        description["TableStatus"],
        {index["IndexName"]: index.get("IndexStatus", "ACTIVE") for index in global_indexes},
        {index["IndexName"]: capacity_of(index, billing) for index in global_indexes},
        _sizes(description, [*global_indexes, *local_indexes]),
        recovery is not None,
    )


def _keys(description: Response, types: dict[str, Any]) -> tuple[KeyAttribute, KeyAttribute | None]:
    named = {key["KeyType"]: key["AttributeName"] for key in description["KeySchema"]}
    pk = KeyAttribute(named["HASH"], types[named["HASH"]])
    return pk, KeyAttribute(named["RANGE"], types[named["RANGE"]]) if "RANGE" in named else None


def _index(description: Response, types: dict[str, Any], *, local: bool) -> IndexSchema:
    pk, sk = _keys(description, types)
    return IndexSchema(description["IndexName"], pk, sk, _projection(description["Projection"]), local)


def _projection(description: Response) -> Projection:
    match description.get("ProjectionType"):
        case "KEYS_ONLY":
            return KEYS_ONLY
        case "INCLUDE":
            return include(*description.get("NonKeyAttributes", ()))
        case _:
            return ALL


def capacity_of(description: Response, billing: str) -> Capacity:
    """The capacity of a table or index."""
    if billing == "PAY_PER_REQUEST":
        maxima: Response = description.get("OnDemandThroughput") or {}
        return OnDemand(_maximum(maxima.get("MaxReadRequestUnits")), _maximum(maxima.get("MaxWriteRequestUnits")))
    units: Response = description.get("ProvisionedThroughput") or {}
    return Provisioned(units.get("ReadCapacityUnits", 0), units.get("WriteCapacityUnits", 0))


def _maximum(units: int | None) -> int | None:
    # The service writes -1 for no maximum.
    return None if units is None or units < 0 else units


def _sizes(description: Response, indexes: list[Response]) -> list[Size]:
    table = description["TableName"]
    sizes = [Size(table, None, description.get("ItemCount", 0), description.get("TableSizeBytes", 0))]
    sizes += [
        Size(table, index["IndexName"], index.get("ItemCount", 0), index.get("IndexSizeBytes", 0)) for index in indexes
    ]
    return sizes
