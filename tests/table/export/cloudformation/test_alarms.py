"""CloudWatch alarms of a template, as the design document of the drawing game requires them."""

from typing import Any

import pytest

from tests.support.designs import drawing
from zataku.table import (
    DesignError,
    OnDemand,
    Provisioned,
    Table,
    capacity_alarm,
    error_rate_alarm,
    throttle_alarm,
)
from zataku.table.export import template


def alarms(table: Table) -> dict[str, dict[str, Any]]:
    resources = template([table], env="prod")["Resources"].values()
    alarms = [resource["Properties"] for resource in resources if resource["Type"] == "AWS::CloudWatch::Alarm"]
    return {properties["AlarmName"].removeprefix(f"{table.name}-"): properties for properties in alarms}


def test_reads_alarm_at_eighty_per_cent_of_the_maximum_twice_in_a_row() -> None:
    alarm = alarms(drawing.drawing)["read-capacity"]
    assert (alarm["Period"], alarm["EvaluationPeriods"], alarm["Statistic"]) == (300, 2, "Sum")
    # 80 % of 500 units a second for 300 seconds.
    assert alarm["Threshold"] == 120_000
    assert alarm["Dimensions"] == [{"Name": "TableName", "Value": {"Ref": "EsiritoriGameTable"}}]


def test_each_global_index_has_its_own_capacity_alarm() -> None:
    alarm = alarms(drawing.drawing)["read-capacity-GSI1-PlayerIndex"]
    assert alarm["Dimensions"][1] == {"Name": "GlobalSecondaryIndexName", "Value": "GSI1-PlayerIndex"}
    assert alarm["Threshold"] == 120_000


def test_the_threshold_of_a_small_maximum_is_rounded_up() -> None:
    table = Table("Tiny", capacity=OnDemand(max_writes=1), alarms=[capacity_alarm("write", percent=33, period=60)])
    assert alarms(table)["write-capacity"]["Threshold"] == 20


def test_provisioned_capacity_alarms_at_the_maximum_or_the_fixed_units() -> None:
    scaled = Table("Growing", capacity=Provisioned(5, 5, max_reads=100), alarms=[capacity_alarm("read", period=60)])
    fixed = Table("Steady", capacity=Provisioned(5, 5), alarms=[capacity_alarm("read", period=60)])
    assert alarms(scaled)["read-capacity"]["Threshold"] == 100 * 60 * 80 // 100
    assert alarms(fixed)["read-capacity"]["Threshold"] == 5 * 60 * 80 // 100


def rate(alarm: dict[str, Any], figures: dict[tuple[str, str], float]) -> float:
    """The value of the alarm's expression for some figures; metrics without a figure have no data."""
    names: dict[str, Any] = {"FILL": lambda value, fill: fill if value is None else value}
    for query in alarm["Metrics"]:
        if "MetricStat" in query:
            metric = query["MetricStat"]["Metric"]
            operation = next(item["Value"] for item in metric["Dimensions"] if item["Name"] == "Operation")
            names[query["Id"]] = figures.get((metric["MetricName"], operation))
    names["IF"] = lambda condition, yes, no: yes() if condition else no()
    expressions = {query["Id"]: query["Expression"] for query in alarm["Metrics"] if "Expression" in query}
    for name in ("failed", "served"):
        names[name] = eval(expressions[name], names)  # noqa: S307 - the expression is ours
    condition, yes, no = expressions["rate"].removeprefix("IF(").removesuffix(")").split(", ")
    return eval(yes if eval(condition, names) else no, names)  # noqa: S307 - the expression is ours


def test_the_error_rate_is_failed_requests_over_all_requests() -> None:
    alarm = alarms(drawing.drawing)["reads-error-rate"]
    assert (alarm["Threshold"], alarm["EvaluationPeriods"]) == (5, 1)
    assert {query["MetricStat"]["Period"] for query in alarm["Metrics"] if "MetricStat" in query} == {300}
    assert rate(alarm, {}) == 0
    assert rate(alarm, {("SuccessfulRequestLatency", "Query"): 95.0, ("SystemErrors", "Query"): 5.0}) == 5
    served = {("SuccessfulRequestLatency", "GetItem"): 60.0, ("SuccessfulRequestLatency", "BatchGetItem"): 20.0}
    assert rate(alarm, {**served, ("ThrottledRequests", "GetItem"): 15.0, ("SystemErrors", "Query"): 5.0}) == 20
    assert rate(alarm, {("ThrottledRequests", "Query"): 1.0}) == 100


def test_requests_are_counted_by_samples_and_errors_by_sum() -> None:
    queries = alarms(drawing.drawing)["writes-error-rate"]["Metrics"]
    metrics = [query["MetricStat"] for query in queries if "MetricStat" in query]
    statistics = {(metric["Metric"]["MetricName"], metric["Stat"]) for metric in metrics}
    assert statistics == {
        ("SystemErrors", "Sum"),
        ("ThrottledRequests", "Sum"),
        ("SuccessfulRequestLatency", "SampleCount"),
    }


def test_no_alarm_has_more_metrics_than_cloudwatch_allows() -> None:
    for alarm in alarms(drawing.drawing).values():
        queries = alarm.get("Metrics", [])
        assert sum("MetricStat" in query for query in queries) <= 10
        assert sum("Expression" in query for query in queries) <= 10


def test_every_operation_but_scan_has_an_error_rate_alarm() -> None:
    watched = {
        dimension["Value"]
        for name, alarm in alarms(drawing.drawing).items()
        if name.endswith("error-rate")
        for query in alarm["Metrics"]
        if "MetricStat" in query
        for dimension in query["MetricStat"]["Metric"]["Dimensions"]
        if dimension["Name"] == "Operation"
    }
    assert watched == {
        *("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"),
        *("TransactGetItems", "TransactWriteItems", "BatchWriteItem"),
    }


def test_throttle_alarms_fire_above_the_number_of_events() -> None:
    by_name = alarms(drawing.drawing)
    read, write = by_name["read-throttles"], by_name["write-throttles"]
    assert (read["MetricName"], read["Threshold"], read["ComparisonOperator"]) == (
        "ReadThrottleEvents",
        0,
        "GreaterThanThreshold",
    )
    assert (write["MetricName"], write["Threshold"]) == ("WriteThrottleEvents", 10)


def test_missing_data_does_not_breach_and_a_topic_is_notified_when_given() -> None:
    for alarm in alarms(drawing.drawing).values():
        assert alarm["TreatMissingData"] == "notBreaching"
        assert alarm["AlarmActions"] == {
            "Fn::If": ["HasAlarmTopic", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]
        }


def test_a_capacity_alarm_without_a_maximum_is_refused() -> None:
    with pytest.raises(DesignError, match=r"no maximum to measure by. Declare OnDemand\(max_reads=...\)"):
        Table("Endless", capacity=OnDemand(max_writes=5), alarms=[capacity_alarm("read")])


def test_two_alarms_of_one_kind_are_refused() -> None:
    with pytest.raises(DesignError, match="two alarms of one kind"):
        Table("Twice", alarms=[throttle_alarm("read"), throttle_alarm("read", events=5)])


def test_alarms_that_cloudwatch_would_reject_are_refused() -> None:
    for declare in (
        lambda: capacity_alarm("read", percent=0),
        lambda: capacity_alarm("read", percent=101),
        lambda: capacity_alarm("read", period=90),
        lambda: error_rate_alarm(evaluations=0),
        lambda: error_rate_alarm(period=3600, evaluations=25),
        lambda: error_rate_alarm(of=()),
        lambda: throttle_alarm("write", events=-1),
    ):
        with pytest.raises(DesignError):
            declare()
