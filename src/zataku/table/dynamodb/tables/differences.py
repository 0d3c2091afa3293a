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
from zataku.table.backend.table_schema import Capacity, IndexSchema, OnDemand, TableSchema
from zataku.table.dynamodb.tables.description import TableDescription

_MANAGED_KEY: Parameters = {"Enabled": True, "SSEType": "KMS"}


class Difference(Struct, frozen=True):
    """One setting that differs from the design: what differs, what would be done, and the call that does it.

    `is_index_change` marks changes of indexes, which the service makes one at a time. The store works without one that
    is not `required`. One that `removes` deletes something stored, or has the service delete it: opening a store never
    makes it, `zataku store apply` does.
    """

    message: str
    action: str
    operation: str
    parameters: Parameters
    is_index_change: bool = False
    required: bool = True
    removes: bool = False


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
                "turn on point-in-time recovery",
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
                "protect it against deletion",
                "UpdateTable",
                {"TableName": declared.name, "DeletionProtectionEnabled": True},
            )
        )
    if declared.encryption == "managed" and stored.schema.encryption != "managed":
        changes.append(
            Difference(
                f"{declared.name} is not encrypted with the account's own key.",
                "encrypt it with the account's own key",
                "UpdateTable",
                {"TableName": declared.name, "SSESpecification": _MANAGED_KEY},
            )
        )
    return changes + _indexes(stored.schema, declared)


def _indexes(stored: TableSchema, declared: TableSchema) -> list[Difference]:
    before = {index.name: index for index in stored.indexes if not index.local}
    after = {index.name: index for index in declared.indexes if not index.local}
    changes = [
        _index_removal(stored, declared, index, after.get(name))
        for name, index in before.items()
        if after.get(name) != index
    ]
    # An index that has changed is created once the old one is deleted.
    for name, index in after.items():
        if name not in before:
            parameters = _index_update(declared, {"Create": index_parameters(index, declared.capacity)})
            parameters["AttributeDefinitions"] = attribute_definitions((*declared.keys, *index.keys))
            message = f"The index {name} of {declared.name} is missing."
            changes.append(
                Difference(message, f"create the index {name}", "UpdateTable", parameters, is_index_change=True)
            )
    return changes


def _index_removal(
    stored: TableSchema, declared: TableSchema, before: IndexSchema, after: IndexSchema | None
) -> Difference:
    """The deletion of an index that the design lacks or declares otherwise."""
    name = before.name
    if after is None:
        difference, action = "is not in the design", f"delete the index {name}"
    else:
        difference, action = "has other keys or attributes", f"delete the index {name} and build it again"
    return Difference(
        f"The index {name} of {declared.name} {difference}.",
        action,
        "UpdateTable",
        _index_update(declared, {"Delete": {"IndexName": name}}),
        is_index_change=True,
        required=after is not None and not _holds(stored, before, declared, after),
        removes=True,
    )


def _holds(stored: TableSchema, before: IndexSchema, declared: TableSchema, after: IndexSchema) -> bool:
    """True when a stored index has everything that is read from the declared one."""
    held, needed = stored.projected(before), declared.projected(after)
    return before.keys == after.keys and (held is None or (needed is not None and held >= needed))


def _index_update(table: TableSchema, update: Parameters) -> Parameters:
    return {"TableName": table.name, "GlobalSecondaryIndexUpdates": [update]}


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
    wanted = _describe(declared.capacity)
    message, action = f"{declared.name} has another capacity than {wanted}.", f"set the capacity to {wanted}"
    # Local implementations have no maxima; all of them have the other settings of capacity.
    required = not (isinstance(before, OnDemand) and isinstance(declared.capacity, OnDemand))
    return [Difference(message, action, "UpdateTable", {"TableName": declared.name} | parameters, required=required)]


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
    action = "turn off the stream" if declared.stream is None else f"replace the stream by one of {declared.stream}"
    if stored.stream is None:
        setting = {"StreamEnabled": True, "StreamViewType": declared.stream}
        action = f"turn on a stream of {declared.stream}"
    # A stream with both images has what any other has; without one in the design, nothing reads it.
    has_enough = declared.stream is None or stored.stream == "NEW_AND_OLD_IMAGES"
    return [
        Difference(
            message,
            action,
            "UpdateTable",
            {"TableName": declared.name, "StreamSpecification": setting},
            required=not has_enough,
            removes=stored.stream is not None,
        )
    ]


def _time_to_live(stored: TableSchema, declared: TableSchema) -> list[Difference]:
    if stored.ttl == declared.ttl:
        return []
    message = f"The time to live of {declared.name} is {stored.ttl or 'off'}, not {declared.ttl or 'off'}."
    if declared.ttl is None:
        action = "turn off time to live"
    else:
        action = f"have the service delete items when their {declared.ttl} has passed"
    setting = {"Enabled": stored.ttl is None, "AttributeName": stored.ttl or declared.ttl}
    return [
        Difference(
            message,
            action,
            "UpdateTimeToLive",
            {"TableName": declared.name, "TimeToLiveSpecification": setting},
            # Reads leave expired items out by themselves.
            required=declared.ttl is None,
            removes=declared.ttl is not None,
        )
    ]
