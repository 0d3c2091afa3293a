"""Table, indexes and generated document of the design."""

import re

import pytest

from zataku.kifu.departures import DEPARTURES
from zataku.kifu.entities import kifu_table
from zataku.table import ALL, OnDemand, include
from zataku.table.design_catalogue import find_designs
from zataku.table.export import design_document, template
from zataku.table.export.document.writes import sample_plan
from zataku.table.lint import lint
from zataku.table.schema.table import required_capabilities

WITH_SHARE = include("cgsi_pk", "clsi_sk", "share")


def test_the_keys_and_indexes_are_those_of_the_document():
    assert [(key.name, key.type) for key in kifu_table.keys] == [("pk", "S"), ("sk", "S")]
    indexes = {
        name: (index.schema.local, index.schema.pk.name, index.schema.sk.name, index.schema.projection)
        for name, index in kifu_table.indexes.items()
    }
    assert indexes == {
        "SwapIndex": (False, "sk", "pk", ALL),
        "CommonGSI": (False, "cgsi_pk", "sk", ALL),
        "CommonLSI": (True, "pk", "clsi_sk", include("cgsi_pk", "clsi_sk")),
        "CreatedIndex": (True, "pk", "created", WITH_SHARE),
        "LatestAccessIndex": (True, "pk", "latest_access", WITH_SHARE),
        "LatestUpdateIndex": (True, "pk", "latest_update", WITH_SHARE),
    }


@pytest.mark.parametrize(("env", "name"), [("prod", "ShogiProject"), ("dev", "ShogiProject-dev")])
def test_the_table_name_ends_in_the_environment_outside_prod(env: str, name: str):
    assert kifu_table.schema(env).name == name


def test_the_table_settings_are_those_of_the_document():
    schema = kifu_table.schema()
    assert (schema.ttl, schema.stream, schema.capacity) == ("expired", "NEW_AND_OLD_IMAGES", OnDemand())
    assert (schema.recovery, schema.encryption) == (False, "owned")
    assert required_capabilities(kifu_table) == {"transactions", "streams", "ttl", "local-indexes"}
    assert (kifu_table.deletion_policy("prod"), kifu_table.deletion_policy("dev")) == ("Retain", "Delete")


def test_the_template_retains_the_table_in_prod():
    resource = template([kifu_table], env="prod")["Resources"]["ShogiProjectTable"]
    assert resource["DeletionPolicy"] == "Retain"
    assert resource["Properties"]["TimeToLiveSpecification"] == {"AttributeName": "expired", "Enabled": True}
    assert len(resource["Properties"]["LocalSecondaryIndexes"]) == 4
    assert len(resource["Properties"]["GlobalSecondaryIndexes"]) == 2


def test_the_design_has_no_finding_without_a_waiver():
    report = lint(kifu_table)
    assert report.findings == ()
    assert report.unused == ()
    assert [(waived.finding.rule, waived.finding.subject) for waived in report.waived] == [("item-too-large", "Record")]


def test_every_departure_has_a_reason_and_a_figure():
    for departure in DEPARTURES:
        assert departure.reason.endswith(".")
        assert re.search(r"\d", departure.figure)


def test_every_write_shows_its_steps():
    assert [name for name, write in kifu_table.writes.items() if sample_plan(write) is None] == []


def test_the_generated_document_has_all_keys_of_the_design():
    (design,) = find_designs(["zataku.kifu.design"], {})[-1:]
    text = design_document(design.tables, title=design.title, departures=design.departures)
    for word in (
        *("kifu#uname#<username>", "kid#<kifu_id>", "kifu#scode#<share_code>", "slug#<slug>", "tname#<name>"),
        *("users#<username>", "tag#uname#<username>", "tid#<tag_id>", "tag#kid#<kifu_id>", "analysis#<analysis_id>"),
        *("kallowed#kid#<kifu_id>", "uallowed#uname#<owner>", "analysis#uname#<username>", "aid#<analysis_id>"),
        *("first_or_second", "memo", "public", "share", "kifu_max", "tag_max", "status", "response", "expired"),
        *("SwapIndex", "CommonGSI", "CommonLSI", "CreatedIndex", "LatestAccessIndex", "LatestUpdateIndex"),
        *("Departures", "Waivers"),
    ):
        assert word in text
