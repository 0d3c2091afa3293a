"""The settings of the drawing game's table, as in its document."""

from typing import Any

import pytest

import zataku.drawing.writes  # noqa: F401 - declares the writes
from zataku.drawing.departures import DEPARTURES
from zataku.drawing.design import TITLE, esiritori
from zataku.table import ALL, KEYS_ONLY, NEW_AND_OLD, OnDemand, capacity_alarm, error_rate_alarm
from zataku.table.design_catalogue import find_designs
from zataku.table.export import design_document, template
from zataku.table.export.document.writes import sample_plan
from zataku.table.lint import lint, max_item_size


@pytest.mark.parametrize(("env", "name"), [("prod", "EsiritoriGame"), ("dev", "EsiritoriGame-dev")])
def test_the_table_is_named_as_in_the_document_and_by_its_environment(env: str, name: str):
    assert esiritori.schema(env).name == name


def test_the_table_has_the_settings_of_the_document():
    schema = esiritori.schema()
    assert (schema.pk.name, schema.sk and schema.sk.name) == ("PK", "SK")
    assert schema.ttl == "ttl"
    assert schema.stream == NEW_AND_OLD == "NEW_AND_OLD_IMAGES"
    assert schema.recovery
    assert isinstance(schema.capacity, OnDemand)
    assert esiritori.transactions


def test_the_table_has_the_indexes_of_the_document():
    indexes = {index.name: ([key.name for key in index.keys], index.projection) for index in esiritori.schema().indexes}
    assert indexes == {
        "GSI1-PlayerIndex": (["GSI1PK", "GSI1SK"], ALL),
        "GSI2-ActiveGameIndex": (["GSI2PK", "GSI2SK"], KEYS_ONLY),
    }


def test_the_table_has_exactly_the_alarms_of_the_document():
    assert esiritori.alarms == (
        capacity_alarm("read", percent=80, period=300, evaluations=2),
        error_rate_alarm(percent=5, period=300, evaluations=1),
    )


def test_the_table_is_retained_and_protected_in_production_only():
    assert esiritori.deletion_policy("prod") == "Retain"
    assert esiritori.schema("prod").protected
    assert esiritori.deletion_policy("dev") == "Delete"
    assert not esiritori.schema("dev").protected


def test_the_template_bills_by_request():
    resources: Any = template([esiritori], env="prod")["Resources"]
    properties = resources["EsiritoriGameTable"]["Properties"]
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True


def test_the_lint_finds_nothing_that_is_not_waived():
    report = lint(esiritori)
    assert list(report.findings) == []
    assert [waived.finding.rule for waived in report.waived] == ["hot-partition"]


def test_no_item_comes_near_400_kb():
    sizes = {binding.entity.__name__: max_item_size(binding).bytes or 0 for binding in esiritori.bindings}
    assert sizes == {
        "Game": 33_601,
        "Round": 29_096,
        "ChatMessage": 2_454,
        "Connection": 422,
        "Seat": 400,
        "Picture": 102_665,
        "Strokes": 102_723,
    }


def test_every_pattern_has_a_budget_and_every_write_shows_its_steps():
    patterns = [pattern.metadata for pattern in (*esiritori.patterns.values(), *esiritori.writes.values())]
    assert [metadata.name for metadata in patterns if metadata.budget is None] == []
    assert [name for name, write in esiritori.writes.items() if sample_plan(write) is None] == []


def test_every_departure_has_its_reason_and_a_figure():
    (design,) = find_designs(["zataku.drawing.design"], {})[-1:]
    assert design.departures == DEPARTURES
    assert all(
        departure.difference and departure.reason and any(map(str.isdigit, departure.figure))
        for departure in DEPARTURES
    )


def test_the_document_names_every_entity_and_pattern():
    text = design_document([esiritori], title=TITLE, departures=DEPARTURES)
    names = [binding.entity.__name__ for binding in esiritori.bindings]
    assert [name for name in (*names, *esiritori.patterns, *esiritori.writes) if name not in text] == []
