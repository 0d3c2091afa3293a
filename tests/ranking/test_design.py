"""The settings of the table, its indexes and its document."""

from zataku.ranking.departures import DEPARTURES
from zataku.ranking.design import Histogram, NameClaim, Profile, RosterPart, Snapshot, ranking
from zataku.table import NEW_AND_OLD, OnDemand, include
from zataku.table.design_catalogue import find_designs
from zataku.table.export import design_document
from zataku.table.export.document.writes import sample_plan
from zataku.table.lint import lint, max_item_size
from zataku.table.schema.entity import binding_of


def test_the_table_has_the_name_of_the_document_with_the_environment_outside_production():
    assert ranking.schema().name == "Hanwol_Bot_DEV_Single_Table"
    assert ranking.schema("staging").name == "Hanwol_Bot_DEV_Single_Table-staging"


def test_the_table_has_the_keys_of_the_document():
    schema = ranking.schema()
    assert [(key.name, key.type) for key in schema.keys] == [("PK", "S"), ("SK", "S")]


def test_the_indexes_are_those_of_the_document():
    indexes = {
        index.name: (index.pk.name, index.sk and (index.sk.name, index.sk.type), index.projection)
        for index in ranking.schema().indexes
    }
    assert indexes == {
        "GSI_Official_Level_Rank": ("SK", ("Level_Rank", "N"), include("Name", "Level")),
        "GSI_Official_Power_Rank": ("SK", ("Power_Rank", "N"), include("Name", "Power")),
        "GSI_Internal_Level": ("SK", ("Level", "N"), include("Name")),
        "GSI_Internal_Power": ("SK", ("Power", "N"), include("Name")),
        "GSI_Find_User_By_Name": ("Name_Lower", ("SK", "S"), include("Name")),
    }


def test_nothing_expires_and_every_change_is_in_the_stream():
    schema = ranking.schema()
    assert (schema.ttl, schema.stream) == (None, NEW_AND_OLD)


def test_the_table_is_on_demand_and_retained_in_production():
    assert ranking.capacity == OnDemand()
    assert (ranking.deletion_policy("prod"), ranking.deletion_policy("dev")) == ("Retain", "Delete")


def test_the_attributes_are_those_of_the_document_and_the_declared_ones():
    def attributes(entity: type) -> set[str]:
        return {field.attribute for field in binding_of(entity).stored}

    added = {"FirstDay", "CurrentDay", "ValuesAt", "ClosingDay", "ClosingName", "ClosingLevel", "ClosingPower"}
    assert attributes(Profile) == {"Name", "Name_Lower", "CurrentLevel", "CurrentPower"} | added
    assert attributes(Snapshot) == {"Name", "Level", "Power", "Level_Rank", "Power_Rank"}
    differences = " ".join(departure.difference for departure in DEPARTURES)
    assert all(f"`{name}`" in differences for name in added)


def test_the_lint_finds_nothing_that_is_not_waived():
    report = lint(ranking)
    assert report.is_clean
    hot = {f"Snapshot.{name}" for name in ranking.indexes if name != "GSI_Find_User_By_Name"}
    assert {waived.waiver.subject for waived in report.waived} == hot | {"Day.PK"}


def test_no_item_comes_near_the_largest_size():
    sizes = {
        entity: max_item_size(binding_of(entity)).bytes
        for entity in (Profile, Snapshot, NameClaim, RosterPart, Histogram)
    }
    assert sizes[Snapshot] == 326
    assert sizes[Histogram] == 156_095
    assert sizes[RosterPart] == 252_140
    assert all(size is not None and size < 409_600 for size in sizes.values())


def test_the_document_has_every_step_departure_and_access_pattern():
    (design,) = find_designs(["zataku.ranking.design"], {})
    document = design_document(design.tables, title=design.title, introduction=design.doc, departures=design.departures)
    assert design.departures == DEPARTURES
    assert all(departure.figure and departure.figure in document for departure in DEPARTURES)
    assert all(sample_plan(write) is not None for write in ranking.writes.values())
    assert all(mark in document for mark in "①②③④⑤")
