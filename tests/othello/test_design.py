"""The settings of the table and its design document."""

from zataku.othello.departures import DEPARTURES
from zataku.othello.design import board_game
from zataku.table import ALL, OnDemand
from zataku.table.design_catalogue import load_module
from zataku.table.export import design_document, template
from zataku.table.lint import lint
from zataku.table.schema.table import required_capabilities

load_module("zataku.othello.writes")


def test_the_table_has_the_documents_name_in_prod_and_a_suffix_elsewhere():
    assert board_game.schema().name == "VoteBoardGame"
    assert board_game.schema("staging").name == "VoteBoardGame-staging"


def test_keys_and_indexes_are_those_of_the_document():
    schema = board_game.schema()
    assert (schema.pk.name, schema.sk and schema.sk.name) == ("PK", "SK")
    assert [
        (index.name, index.pk.name, index.sk and index.sk.name, index.projection, index.local)
        for index in schema.indexes
    ] == [
        ("GSI1", "GSI1PK", "GSI1SK", ALL, False),
        ("GSI2", "GSI2PK", "GSI2SK", ALL, False),
    ]


def test_items_expire_by_expires_at():
    assert board_game.ttl == "expiresAt"
    assert all("expiresAt" in binding.attributes for binding in board_game.bindings)


def test_the_table_is_encrypted_with_the_key_that_aws_manages():
    properties = template([board_game], env="prod")["Resources"]["VoteBoardGameTable"]["Properties"]
    assert properties["SSESpecification"] == {"SSEEnabled": True}
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert board_game.capacity == OnDemand()


def test_the_table_is_retained_in_prod_only():
    assert [board_game.deletion_policy(env) for env in ("prod", "staging", "dev")] == ["Retain", "Delete", "Delete"]


def test_the_table_requires_transactions_and_ttl():
    assert required_capabilities(board_game) == {"transactions", "ttl"}


def test_the_document_sets_neither_stream_nor_recovery():
    assert board_game.stream is None
    assert not board_game.recovery


def test_every_kind_of_item_has_its_entity_type():
    assert {binding.tag_field for binding in board_game.bindings} == {"entityType"}
    assert [binding.tag for binding in board_game.bindings] == [
        "USER",
        "GAME",
        "MOVE",
        "CANDIDATE",
        "VOTE",
        "COMMENTARY",
    ]


def test_the_lint_finds_nothing_that_is_not_waived():
    report = lint(board_game).text()
    assert report.endswith("no findings, 1 waived.") or "\nno findings, 1 waived." in report


def test_every_departure_has_a_reason_and_a_figure():
    assert all(
        departure.difference and departure.reason and any(map(str.isdigit, departure.figure))
        for departure in DEPARTURES
    )


def test_the_document_shows_the_steps_of_every_write():
    document = design_document([board_game], title="Othello by vote")
    writes = document[document.index("### Writes") : document.index("### Sizes and costs")]
    assert writes.count("```text") == len(board_game.writes) == 15
    for name in ("contentI18n", "descriptionI18n"):
        assert f"`{name}`" in document
