"""Differences between an existing table and its design, each with the call that removes it."""

from msgspec import Struct

from zataku.table.backend.table_parameters import (
    Parameters,
    attribute_definitions,
    capacity_parameters,
    index_parameters,
    table_parameters,
    throughput,
)
from zataku.table.backend.table_schema import Capacity, OnDemand, TableSchema
from zataku.table.dynamodb.tables.description import TableDescription

_MANAGED_KEY: Parameters = {"Enabled": True, "SSEType": "KMS"}


class Difference(Struct, frozen=True):
    """One setting that differs from the design.

    `is_index_change` marks changes of indexes, which the service makes one at a time. One that is not `required` may be
    refused by a service without the setting: the store works without it.
    """

    message: str
    operation: str
    parameters: Parameters
    is_index_change: bool = False
    required: bool = True


def creation_parameters(table: TableSchema) -> Parameters:
    """The parameters of CreateTable. Encryption with a key of DynamoDB's own is the default."""
    parameters = table_parameters(table) | {"DeletionProtectionEnabled": table.protected}
    if table.encryption == "managed":
        parameters["SSESpecification"] = _MANAGED_KEY
    if table.stream is not None:
        parameters["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream}
    return parameters


def differences(stored: TableDescription, declared: TableSchema) -> list[Difference]:
    """All differences, in the order in which they can be removed.

    A protection that is on although the design does not declare it stays on.
    """
    changes = _capacity(stored, declared) + _stream(stored.schema, declared) + _time_to_live(stored.schema, declared)
    if declared.recovery and not stored.schema.recovery and stored.recovery_offered:
        changes.append(
            Difference(
                f"{declared.name} has no point-in-time recovery.",
                "UpdateContinuousBackups",
                {
                    "TableName": declared.name,
                    "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
                },
            )
        )
    if declared.protected and not stored.schema.protected:
        changes.append(
            Difference(
                f"{declared.name} is not protected against deletion.",
                "UpdateTable",
                {"TableName": declared.name, "DeletionProtectionEnabled": True},
            )
        )
    if declared.encryption == "managed" and stored.schema.encryption != "managed":
        changes.append(
            Difference(
                f"{declared.name} is not encrypted with the account's own key.",
                "UpdateTable",
                {"TableName": declared.name, "SSESpecification": _MANAGED_KEY},
            )
        )
    return changes + _indexes(stored.schema, declared)


def _indexes(stored: TableSchema, declared: TableSchema) -> list[Difference]:
    before = {index.name: index for index in stored.indexes if not index.local}
    after = {index.name: index for index in declared.indexes if not index.local}
    changes = [
        _index_change(
            declared,
            f"The index {name} of {declared.name} "
            f"{'has other keys or attributes' if name in after else 'is not in the design'}.",
            {"Delete": {"IndexName": name}},
        )
        for name, index in before.items()
        if after.get(name) != index
    ]
    # An index that has changed is created once the old one is deleted.
    for name, index in after.items():
        if name not in before:
            change = _index_change(
                declared,
                f"The index {name} of {declared.name} is missing.",
                {"Create": index_parameters(index, declared.capacity)},
            )
            change.parameters["AttributeDefinitions"] = attribute_definitions((*declared.keys, *index.keys))
            changes.append(change)
    return changes


def _index_change(table: TableSchema, message: str, update: Parameters) -> Difference:
    parameters = {"TableName": table.name, "GlobalSecondaryIndexUpdates": [update]}
    return Difference(message, "UpdateTable", parameters, is_index_change=True)


def _is_sufficient(stored: Capacity, declared: Capacity) -> bool:
    """True when nothing needs to change. With scaling any number of units between both limits is right."""
    if isinstance(stored, OnDemand) or isinstance(declared, OnDemand):
        return stored == declared
    reads = declared.reads <= stored.reads <= (declared.max_reads or declared.reads)
    return reads and declared.writes <= stored.writes <= (declared.max_writes or declared.writes)


def _capacity(stored: TableDescription, declared: TableSchema) -> list[Difference]:
    parameters: Parameters = {}
    before = stored.schema.capacity
    if not _is_sufficient(before, declared.capacity):
        parameters |= throughput(declared.capacity, replaces_maxima=isinstance(before, OnDemand))
        if type(before) is not type(declared.capacity):
            parameters |= capacity_parameters(declared.capacity)
    existing = {index.name for index in declared.indexes} & stored.index_capacities.keys()
    updates = [
        {"Update": {"IndexName": name} | throughput(declared.capacity, replaces_maxima=isinstance(capacity, OnDemand))}
        for name, capacity in sorted(stored.index_capacities.items())
        if name in existing and not _is_sufficient(capacity, declared.capacity)
    ]
    # Without a maximum on either side nothing changes for an index.
    updates = [update for update in updates if len(update["Update"]) > 1]
    if updates:
        parameters["GlobalSecondaryIndexUpdates"] = updates
    if not parameters:
        return []
    message = f"{declared.name} has another capacity than {_describe(declared.capacity)}."
    # Local implementations have no maxima; all of them have the other settings of capacity.
    required = not (isinstance(before, OnDemand) and isinstance(declared.capacity, OnDemand))
    return [Difference(message, "UpdateTable", {"TableName": declared.name} | parameters, required=required)]


def _describe(capacity: Capacity) -> str:
    if isinstance(capacity, OnDemand):
        return f"on demand, at most {capacity.max_reads or 'any'} reads and {capacity.max_writes or 'any'} writes"
    return f"{capacity.reads} reads and {capacity.writes} writes a second"


# A stream or time to live has to be switched off before it can get another setting.


def _stream(stored: TableSchema, declared: TableSchema) -> list[Difference]:
    if stored.stream == declared.stream:
        return []
    message = f"The stream of {declared.name} is {stored.stream or 'off'}, not {declared.stream or 'off'}."
    setting: Parameters = {"StreamEnabled": False}
    if stored.stream is None:
        setting = {"StreamEnabled": True, "StreamViewType": declared.stream}
    return [Difference(message, "UpdateTable", {"TableName": declared.name, "StreamSpecification": setting})]


def _time_to_live(stored: TableSchema, declared: TableSchema) -> list[Difference]:
    if stored.ttl == declared.ttl:
        return []
    message = f"The time to live of {declared.name} is {stored.ttl or 'off'}, not {declared.ttl or 'off'}."
    setting = {"Enabled": stored.ttl is None, "AttributeName": stored.ttl or declared.ttl}
    return [Difference(message, "UpdateTimeToLive", {"TableName": declared.name, "TimeToLiveSpecification": setting})]
