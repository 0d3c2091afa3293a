"""The CloudWatch alarms of a table.

| alarm | what it compares |
| --- | --- |
| capacity | The sum of the units used in a period with the maximum a second × the seconds of the period × the per cent. |
| error rate | System errors and throttled requests with all requests, which are those and the successful ones. |
| throttles | The number of throttled reads or writes in a period. |

DynamoDB counts errors and requests for each operation separately, and an alarm may use ten metrics, so the error rate
is one alarm for each group of three operations. UserErrors is not used: it is one metric for the whole account and
region. A table without requests sends no data, which counts as not breaching.
"""  # noqa: E501 - a table row is one line

from collections.abc import Iterator
from typing import Any, TypeAlias

from msgspec import Struct

from zataku.table.backend.table_schema import Capacity
from zataku.table.schema.alarm import (
    Alarm,
    CapacityAlarm,
    Direction,
    ErrorRateAlarm,
    Operations,
    ThrottleAlarm,
    max_units,
)
from zataku.table.schema.table import Table

Properties: TypeAlias = dict[str, Any]

OPERATIONS: dict[Operations, tuple[str, str, str]] = {
    "reads": ("GetItem", "BatchGetItem", "Query"),
    "writes": ("PutItem", "UpdateItem", "DeleteItem"),
    "transactions": ("TransactGetItems", "TransactWriteItems", "BatchWriteItem"),
}
_CONSUMED: dict[Direction, str] = {"read": "ConsumedReadCapacityUnits", "write": "ConsumedWriteCapacityUnits"}
_THROTTLED: dict[Direction, str] = {"read": "ReadThrottleEvents", "write": "WriteThrottleEvents"}


class CloudWatchAlarm(Struct, frozen=True):
    """One CloudWatch alarm: its name among those of the table, its description, its properties."""

    name: str
    description: str
    properties: Properties


class _Target(Struct, frozen=True):
    """What alarms are about: a table by its full name or a reference to it, its global indexes and its capacity."""

    table: Any
    indexes: tuple[str, ...]
    capacity: Capacity


def cloudwatch_alarms(table: Table, name: Any) -> Iterator[CloudWatchAlarm]:
    """The CloudWatch alarms of a table, which `name` names or refers to."""
    indexes = tuple(index.schema.name for index in table.indexes.values() if not index.schema.local)
    target = _Target(name, indexes, table.capacity)
    for alarm in table.alarms:
        match alarm:
            case CapacityAlarm():
                yield from _capacity(target, alarm)
            case ThrottleAlarm():
                yield from _throttles(target, alarm)
            case ErrorRateAlarm():
                for group in alarm.of:
                    yield _error_rate(target, alarm, group)


def _capacity(target: _Target, alarm: CapacityAlarm) -> Iterator[CloudWatchAlarm]:
    maximum = max_units(target.capacity, alarm.of)
    assert maximum is not None  # A table without a maximum is refused when it declares the alarm.
    # Whole units, rounded up, so that a small maximum does not fire one unit early.
    threshold = -(-maximum * alarm.period * alarm.percent // 100)
    for index in (None, *target.indexes):
        yield CloudWatchAlarm(
            f"{alarm.of}-capacity" + _suffix(index),
            f"Of the {maximum:,} {alarm.of} units a second that {_resource_text(index)} may use, "
            f"{alarm.percent} % are used: {threshold:,} in {_duration_text(alarm)}.",
            {
                "Namespace": "AWS/DynamoDB",
                "MetricName": _CONSUMED[alarm.of],
                "Dimensions": _dimensions(target, index),
                "Statistic": "Sum",
                "Period": alarm.period,
                "EvaluationPeriods": alarm.evaluations,
                "Threshold": threshold,
                "ComparisonOperator": "GreaterThanOrEqualToThreshold",
                "TreatMissingData": "notBreaching",
            },
        )


def _throttles(target: _Target, alarm: ThrottleAlarm) -> Iterator[CloudWatchAlarm]:
    for index in (None, *target.indexes):
        yield CloudWatchAlarm(
            f"{alarm.of}-throttles" + _suffix(index),
            _throttle_text(alarm, _resource_text(index)),
            {
                "Namespace": "AWS/DynamoDB",
                "MetricName": _THROTTLED[alarm.of],
                "Dimensions": _dimensions(target, index),
                "Statistic": "Sum",
                "Period": alarm.period,
                "EvaluationPeriods": alarm.evaluations,
                "Threshold": alarm.events,
                "ComparisonOperator": "GreaterThanThreshold",
                "TreatMissingData": "notBreaching",
            },
        )


def _error_rate(target: _Target, alarm: ErrorRateAlarm, group: Operations) -> CloudWatchAlarm:
    names = OPERATIONS[group]
    metrics: list[Properties] = []
    for at, operation in enumerate(names, 1):
        dimensions = [*_dimensions(target, None), {"Name": "Operation", "Value": operation}]
        metrics += [
            _metric(f"faults{at}", "SystemErrors", "Sum", dimensions, alarm.period),
            _metric(f"throttled{at}", "ThrottledRequests", "Sum", dimensions, alarm.period),
            _metric(f"served{at}", "SuccessfulRequestLatency", "SampleCount", dimensions, alarm.period),
        ]
    positions = range(1, len(names) + 1)
    failed = " + ".join(f"FILL(faults{at}, 0) + FILL(throttled{at}, 0)" for at in positions)
    served = " + ".join(f"FILL(served{at}, 0)" for at in positions)
    return CloudWatchAlarm(
        f"{group}-error-rate",
        f"{alarm.percent} % or more of the requests {', '.join(names[:-1])} and {names[-1]} fail "
        f"in {_duration_text(alarm)}.",
        {
            "Metrics": [
                {
                    "Id": "rate",
                    "Expression": "IF(failed + served > 0, 100 * failed / (failed + served), 0)",
                    "Label": "Failed requests in per cent",
                    "ReturnData": True,
                },
                {"Id": "failed", "Expression": failed, "Label": "Failed requests", "ReturnData": False},
                {"Id": "served", "Expression": served, "Label": "Successful requests", "ReturnData": False},
                *metrics,
            ],
            "EvaluationPeriods": alarm.evaluations,
            "Threshold": alarm.percent,
            "ComparisonOperator": "GreaterThanOrEqualToThreshold",
            "TreatMissingData": "notBreaching",
        },
    )


def _metric(name: str, metric: str, statistic: str, dimensions: list[Properties], period: int) -> Properties:
    return {
        "Id": name,
        "MetricStat": {
            "Metric": {"Namespace": "AWS/DynamoDB", "MetricName": metric, "Dimensions": dimensions},
            "Period": period,
            "Stat": statistic,
        },
        "ReturnData": False,
    }


def _dimensions(target: _Target, index: str | None) -> list[Properties]:
    table = [{"Name": "TableName", "Value": target.table}]
    return table if index is None else [*table, {"Name": "GlobalSecondaryIndexName", "Value": index}]


def _suffix(index: str | None) -> str:
    return "" if index is None else f"-{index}"


def _resource_text(index: str | None) -> str:
    return "the table" if index is None else f"the index {index}"


def _throttle_text(alarm: ThrottleAlarm, resource: str) -> str:
    if alarm.events == 0:
        return f"Any {alarm.of} of {resource} is throttled in {_duration_text(alarm)}."
    return f"More than {alarm.events:,} {alarm.of}s of {resource} are throttled in {_duration_text(alarm)}."


def _duration_text(alarm: Alarm) -> str:
    period = f"{alarm.period} seconds"
    return period if alarm.evaluations == 1 else f"{period}, {alarm.evaluations} times one after another"
