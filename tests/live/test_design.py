"""The tables of the document: names, keys, indexes, time to live, deletion, and the generated document."""

import pytest

from zataku.live.design import DEPARTURES, MATRIX, TABLES, TITLE, comments, connections, moderation, rooms
from zataku.table import Table
from zataku.table.design_catalogue import find_designs
from zataku.table.export import design_document, template
from zataku.table.lint import lint_all, max_item_size
from zataku.table.schema.table import required_capabilities

NAMES = ("Rooms", "Comments", "Connections", "Moderation")


@pytest.mark.parametrize("env", ["dev", "prod", "staging"])
def test_every_table_is_named_with_its_environment(env: str) -> None:
    assert [table.schema(env).name for table in TABLES] == [f"LiveComment-{name}-{env}" for name in NAMES]


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        (rooms, ["roomId"]),
        (comments, ["roomId", "commentId"]),
        (connections, ["connectionId"]),
        (moderation, ["roomId", "entry"]),
    ],
)
def test_keys_are_those_of_the_document(table: Table, keys: list[str]) -> None:
    assert [(key.name, key.type) for key in table.keys] == [(name, "S") for name in keys]


def test_indexes_are_those_of_the_document_and_of_the_departures() -> None:
    indexes = {
        (table.name, index.schema.name): ([key.name for key in index.schema.keys], index.schema.local)
        for table in TABLES
        for index in table.indexes.values()
    }
    assert indexes == {
        (rooms.name, "hostId-index"): (["hostId", "createdAt"], False),
        (rooms.name, "code-index"): (["code"], False),
        (comments.name, "seq-index"): (["roomId", "seq"], True),
        (comments.name, "senderId-index"): (["senderId"], False),
        (connections.name, "roomId-index"): (["roomId"], False),
        (connections.name, "owner-index"): (["owner", "timestamp"], False),
        (moderation.name, "senderId-index"): (["senderId"], False),
    }


@pytest.mark.parametrize(("env", "policy"), [("dev", "Delete"), ("staging", "Delete"), ("prod", "Retain")])
def test_only_the_tables_of_production_outlive_their_stack(env: str, policy: str) -> None:
    resources = template(TABLES, env=env, rights=MATRIX)["Resources"]
    tables = [it for it in resources.values() if it["Type"] == "AWS::DynamoDB::Table"]
    assert len(tables) == 4
    assert {it["DeletionPolicy"] for it in tables} == {policy}
    assert {it["Properties"]["BillingMode"] for it in tables} == {"PAY_PER_REQUEST"}


def test_only_connections_expire_and_nothing_is_streamed() -> None:
    assert {table.name: table.ttl for table in TABLES if table.ttl} == {connections.name: "ttl"}
    assert [table.stream for table in TABLES] == [None] * 4
    assert all("transactions" in required_capabilities(table) for table in TABLES)


def test_the_lint_has_no_findings_and_no_waivers() -> None:
    report = lint_all(TABLES)
    assert report.is_clean
    assert [waiver for table in TABLES for waiver in table.waivers] == []


def test_the_departures_name_the_largest_item_sizes() -> None:
    sizes = {it.entity.__name__: max_item_size(it).bytes for table in TABLES for it in table.bindings}
    figures = " ".join(departure.figure for departure in DEPARTURES)
    assert (sizes["Comment"], sizes["Room"]) == (2442, 865)
    assert "2,442 bytes" in figures
    assert "at most 865" in figures
    assert f"at most {sizes['Reactions']} bytes for each minute" in figures
    assert max(size for size in sizes.values() if size) < 4096


def test_the_document_shows_every_write_with_its_steps_and_every_departure() -> None:
    (design,) = [it for it in find_designs(["zataku.live.design"]) if TABLES[0] in it.tables][:1]
    text = design_document(design.tables, title=TITLE, departures=design.departures, rights=design.matrix)
    assert text.startswith(f"# {TITLE}\n")
    writes = sum(len(table.writes) for table in TABLES)
    steps = sum(text.count(f"\n{head}:\n  {verb}") for head, verb in (
        ("TransactWriteItems", "Put"), ("TransactWriteItems", "Update"), ("TransactWriteItems", "Delete"),
        ("PutItem", "Put"), ("UpdateItem", "Update"), ("DeleteItem", "Delete"),
    ))  # fmt: skip
    assert steps == writes == 22
    assert [
        departure.difference for departure in DEPARTURES if departure.difference.replace("|", "\\|") not in text
    ] == []
