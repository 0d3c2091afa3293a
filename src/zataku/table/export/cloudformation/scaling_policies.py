"""Scalable targets and scaling policies of provisioned capacity."""

from collections.abc import Iterator
from typing import Any

from zataku.table.backend.table_schema import Provisioned
from zataku.table.export.cloudformation.resources import NamedResource, design_name, logical_id, reference, table_id
from zataku.table.schema.table import Table


def scaling_resources(table: Table, env: str) -> Iterator[NamedResource]:
    """A scalable target with its policy for the table and each global index, where a maximum is declared."""
    capacity = table.capacity
    if not isinstance(capacity, Provisioned):
        return
    units = {"Read": (capacity.reads, capacity.max_reads), "Write": (capacity.writes, capacity.max_writes)}
    indexes = [index.schema.name for index in table.indexes.values() if not index.schema.local]
    for index in (None, *indexes):
        for direction, (minimum, maximum) in units.items():
            if maximum is None:
                continue
            name = f"{design_name(table)}-{index or ''}-{direction}"
            target = logical_id(name, "Scaling")
            yield target, _target(table, index, direction, minimum, maximum)
            policy_name = f"{table.schema(env).name}-{index or 'table'}-{direction.lower()}"
            yield logical_id(name, "ScalingPolicy"), _policy(policy_name, target, direction, capacity.target)


def _target(table: Table, index: str | None, direction: str, minimum: int, maximum: int) -> dict[str, Any]:
    kind = "table" if index is None else "index"
    resource_id = f"table/${{{table_id(table)}}}" + ("" if index is None else f"/index/{index}")
    return {
        "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
        "Properties": {
            "ServiceNamespace": "dynamodb",
            "ResourceId": {"Fn::Sub": resource_id},
            "ScalableDimension": f"dynamodb:{kind}:{direction}CapacityUnits",
            "MinCapacity": minimum,
            "MaxCapacity": maximum,
        },
    }


def _policy(name: str, target: str, direction: str, percent: int) -> dict[str, Any]:
    metric = {"PredefinedMetricType": f"DynamoDB{direction}CapacityUtilization"}
    return {
        "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
        "Properties": {
            "PolicyName": name,
            "PolicyType": "TargetTrackingScaling",
            "ScalingTargetId": reference(target),
            "TargetTrackingScalingPolicyConfiguration": {
                "PredefinedMetricSpecification": metric,
                "TargetValue": percent,
            },
        },
    }
