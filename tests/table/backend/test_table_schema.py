"""Schemas of tables and indexes: keys, projections and defaults."""

from zataku.table.backend.table_schema import (
    ALL,
    KEYS_ONLY,
    IndexSchema,
    KeyAttribute,
    OnDemand,
    Projection,
    TableSchema,
    include,
)

PK, SK = KeyAttribute("PK"), KeyAttribute("SK")
BY_STATUS = IndexSchema("GSI1", KeyAttribute("GSI1PK"), KeyAttribute("GSI1SK"))
BOARD = TableSchema("VoteBoardGame", PK, SK, indexes=(BY_STATUS,))


def test_a_table_has_one_or_two_keys_in_order() -> None:
    assert BOARD.keys == (PK, SK)
    assert TableSchema("Users", PK).keys == (PK,)


def test_an_index_has_one_or_two_keys_in_order() -> None:
    assert [key.name for key in BY_STATUS.keys] == ["GSI1PK", "GSI1SK"]
    assert IndexSchema("ByScore", KeyAttribute("score", "N")).keys == (KeyAttribute("score", "N"),)


def test_a_key_is_a_string_by_default() -> None:
    assert KeyAttribute("PK").type == "S"


def test_an_index_that_projects_all_attributes_lists_none() -> None:
    assert BOARD.projected(BY_STATUS) is None


def test_an_index_always_holds_the_keys_of_table_and_index() -> None:
    keys = {"PK", "SK", "GSI1PK", "GSI1SK"}
    narrow = IndexSchema("GSI1", KeyAttribute("GSI1PK"), KeyAttribute("GSI1SK"), KEYS_ONLY)
    wider = IndexSchema("GSI1", KeyAttribute("GSI1PK"), KeyAttribute("GSI1SK"), include("status", "PK"))
    assert BOARD.projected(narrow) == keys
    assert BOARD.projected(wider) == keys | {"status"}


def test_an_index_without_sort_key_on_a_table_without_one_holds_two_keys() -> None:
    table = TableSchema("Users", PK)
    assert table.projected(IndexSchema("ByMail", KeyAttribute("mail"), projection=KEYS_ONLY)) == {"PK", "mail"}


def test_the_order_in_which_attributes_are_included_does_not_matter() -> None:
    assert include("b", "a") == include("a", "b") == Projection("INCLUDE", ("a", "b"))


def test_tables_are_compared_by_content() -> None:
    assert TableSchema("VoteBoardGame", PK, SK, indexes=(BY_STATUS,)) == BOARD
    assert hash(TableSchema("VoteBoardGame", PK, SK, indexes=(BY_STATUS,))) == hash(BOARD)
    assert TableSchema("VoteBoardGame", PK, SK) != BOARD
    assert TableSchema("VoteBoardGame", PK, KeyAttribute("SK", "N"), indexes=(BY_STATUS,)) != BOARD


def test_a_table_is_encrypted_on_demand_and_without_stream_by_default() -> None:
    assert (BOARD.encryption, BOARD.capacity, BOARD.stream, BOARD.ttl, BOARD.recovery) == (
        "owned",
        OnDemand(),
        None,
        None,
        False,
    )
    assert (BY_STATUS.projection, BY_STATUS.local) == (ALL, False)
