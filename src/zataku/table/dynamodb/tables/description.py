"""Tables as the service describes them, in our own words."""

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
from zataku.table.dynamodb.client import Answer, Client

# Statuses in which an index can be read: while its capacity changes it goes on working.
_READABLE = ("ACTIVE", "UPDATING")


class Stored(Struct, frozen=True):
    """A table that is there. `recovery_offered` is False where the service has no point-in-time recovery."""

    schema: TableSchema
    status: str
    index_statuses: dict[str, str]
    index_capacities: dict[str, Capacity]
    sizes: list[Size]
    recovery_offered: bool = True

    @property
    def busy(self) -> bool:
        """True while an index comes or goes: the service changes one at a time."""
        return any(status not in _READABLE for status in self.index_statuses.values())

    def states(self, wanted: TableSchema) -> list[IndexState]:
        """How far the indexes of the design are; one that is not there yet is still to come."""
        found: list[IndexState] = []
        for index in wanted.indexes:
            ready = index.local or self.index_statuses.get(index.name) in _READABLE
            found.append(IndexState(wanted.name, index.name, "active" if ready else "creating"))
        return found


async def description(client: Client, name: str) -> Answer | None:
    """What the service says of a table, or None when there is none."""
    try:
        answer = await client.call("DescribeTable", TableName=name)
    except SchemaRefused:
        return None
    return cast("Answer", answer["Table"])


async def look(client: Client, name: str) -> Stored | None:
    """A table with all its settings, or None when there is none."""
    found = await description(client, name)
    if found is None:
        return None
    ttl = recovery = None
    if found["TableStatus"] not in ("CREATING", "DELETING"):
        ttl, recovery = await _time_to_live(client, name), await _recovery(client, name)
    return stored(found, ttl, recovery)


async def _time_to_live(client: Client, name: str) -> str | None:
    try:
        answer = await client.call("DescribeTimeToLive", TableName=name)
    except LacksCapability:
        return None
    told = answer.get("TimeToLiveDescription", {})
    return told.get("AttributeName") if told.get("TimeToLiveStatus") in ("ENABLED", "ENABLING") else None


async def _recovery(client: Client, name: str) -> bool | None:
    try:
        answer = await client.call("DescribeContinuousBackups", TableName=name)
    except LacksCapability:
        return None
    told = answer["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    return told.get("PointInTimeRecoveryStatus") == "ENABLED"


def stored(told: Answer, ttl: str | None, recovery: bool | None) -> Stored:
    """A table out of the service's description."""
    types: dict[str, Any] = {each["AttributeName"]: each["AttributeType"] for each in told["AttributeDefinitions"]}
    billing = told.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
    global_indexes: list[Answer] = told.get("GlobalSecondaryIndexes") or []
    local_indexes: list[Answer] = told.get("LocalSecondaryIndexes") or []
    pk, sk = _keys(told, types)
    stream: Answer = told.get("StreamSpecification") or {}
    key: Answer = told.get("SSEDescription") or {}
    schema = TableSchema(
        told["TableName"],
        pk,
        sk,
        tuple(
            [_index(each, types, local=False) for each in global_indexes]
            + [_index(each, types, local=True) for each in local_indexes]
        ),
        ttl,
        stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
        capacity_of(told, billing),
        bool(recovery),
        "managed" if key.get("Status") in ("ENABLED", "ENABLING", "UPDATING") else "owned",
        protected=bool(told.get("DeletionProtectionEnabled")),
    )
    return Stored(
        schema,
        told["TableStatus"],
        {each["IndexName"]: each.get("IndexStatus", "ACTIVE") for each in global_indexes},
        {each["IndexName"]: capacity_of(each, billing) for each in global_indexes},
        _sizes(told, [*global_indexes, *local_indexes]),
        recovery is not None,
    )


def _keys(told: Answer, types: dict[str, Any]) -> tuple[KeyAttribute, KeyAttribute | None]:
    named = {each["KeyType"]: each["AttributeName"] for each in told["KeySchema"]}
    pk = KeyAttribute(named["HASH"], types[named["HASH"]])
    return pk, KeyAttribute(named["RANGE"], types[named["RANGE"]]) if "RANGE" in named else None


def _index(told: Answer, types: dict[str, Any], *, local: bool) -> IndexSchema:
    pk, sk = _keys(told, types)
    return IndexSchema(told["IndexName"], pk, sk, _projection(told["Projection"]), local)


def _projection(told: Answer) -> Projection:
    match told.get("ProjectionType"):
        case "KEYS_ONLY":
            return KEYS_ONLY
        case "INCLUDE":
            return include(*told.get("NonKeyAttributes", ()))
        case _:
            return ALL


def capacity_of(told: Answer, billing: str) -> Capacity:
    """What a table or index may use."""
    if billing == "PAY_PER_REQUEST":
        most: Answer = told.get("OnDemandThroughput") or {}
        return OnDemand(_maximum(most.get("MaxReadRequestUnits")), _maximum(most.get("MaxWriteRequestUnits")))
    units: Answer = told.get("ProvisionedThroughput") or {}
    return Provisioned(units.get("ReadCapacityUnits", 0), units.get("WriteCapacityUnits", 0))


def _maximum(told: int | None) -> int | None:
    # -1 is the service's word for no maximum.
    return None if told is None or told < 0 else told


def _sizes(told: Answer, indexes: list[Answer]) -> list[Size]:
    table = told["TableName"]
    sizes = [Size(table, None, told.get("ItemCount", 0), told.get("TableSizeBytes", 0))]
    sizes += [Size(table, it["IndexName"], it.get("ItemCount", 0), it.get("IndexSizeBytes", 0)) for it in indexes]
    return sizes
