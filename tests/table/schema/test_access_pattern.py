"""Access patterns: their registration, spans and key ranges, and the declarations that are refused."""

import pytest

from tests.table.boardgame import (
    Game,
    GameId,
    Move,
    board,
    by_day,
    by_position,
    by_status,
    by_votes,
    game,
    games_by_status,
    moves_of,
    rooms,
    status,
)
from zataku.table import BadKey, DesignError, Key, Span, StrongReadRefused, Table, WrongType, number
from zataku.table.backend.port import KeyRange


def test_calling_a_pattern_returns_a_query_with_its_name_and_entities() -> None:
    query = moves_of(GameId("g1"))
    assert query.name == "moves_of"
    assert query.returns == (Move,)
    assert query.span.pk == "GAME#g1"
    assert query.span.range == KeyRange("begins", "MOVE#")
    assert not query.strong


def test_a_pattern_is_registered_with_its_docstring() -> None:
    assert board.patterns["moves_of"] is moves_of
    assert moves_of.metadata.doc == "All moves of a game, in turn order."
    assert moves_of.__doc__ == "All moves of a game, in turn order."
    assert board.patterns["game"].metadata.strong


def test_a_strong_item_pattern_returns_a_strong_key() -> None:
    assert game(GameId("g1")).strong
    assert game(GameId("g1")) == Game.key(game_id="g1")


def test_newest_first_reverses_the_order() -> None:
    assert games_by_status("ACTIVE").span.backwards


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (by_status.partition("x").equals("a"), KeyRange("=", "a")),
        (by_status.partition("x").before("a"), KeyRange("<", "a")),
        (by_status.partition("x").until("a"), KeyRange("<=", "a")),
        (by_status.partition("x").after("a"), KeyRange(">", "a")),
        (by_status.partition("x").since("a"), KeyRange(">=", "a")),
        (by_status.partition("x").between("a", "b"), KeyRange("between", "a", "b")),
        (
            by_votes.partition("x").between(1, 2.50),
            KeyRange("between", 1, by_votes.partition("x").equals(2.5).range.low),
        ),  # type: ignore[union-attr]
        (by_position.partition("x").begins_with("D"), KeyRange("begins", "D")),
    ],
)
def test_each_range_method_sets_its_key_range(span: Span, expected: KeyRange) -> None:
    assert span.range == expected


def test_a_span_refuses_keys_of_a_wrong_type_or_size() -> None:
    with pytest.raises(WrongType, match="of type S, but was given a int"):
        board.partition(7)
    with pytest.raises(WrongType, match="of type N, but was given a str"):
        by_votes.partition("x").equals("7")
    with pytest.raises(WrongType, match="which has no beginning"):
        by_votes.partition("x").begins_with("7")
    with pytest.raises(BadKey, match="1 to 2048 bytes"):
        board.partition("x" * 2049)
    with pytest.raises(BadKey, match="1 to 2048 bytes"):
        board.partition("")
    with pytest.raises(BadKey, match="1 to 1024 bytes"):
        board.partition("x").equals("あ" * 342)
    with pytest.raises(WrongType):
        board.partition(True)


def test_a_span_refuses_a_second_range() -> None:
    with pytest.raises(DesignError, match="one range"):
        board.partition("x").after("a").before("b")


def test_a_partition_without_a_sort_key_refuses_a_range() -> None:
    with pytest.raises(DesignError, match="no sort key"):
        by_day.partition("x").equals("y")
    with pytest.raises(DesignError, match="no sort key"):
        rooms.partition("x").begins_with("y")


def test_filters_of_a_span_are_combined_with_and() -> None:
    span = board.partition("x").where(status.equals("ACTIVE")).where(status.exists())
    assert span.filter == (status.equals("ACTIVE") & status.exists()).expression


def test_a_strong_query_on_a_global_index_is_refused() -> None:
    table = Table("T", pk="pk", sk="sk")
    index = table.index("G", pk="g")

    @table.query(returns=Move, strong=True)
    def by_global_index() -> Span:
        """All of them."""
        return index.partition("x")

    with pytest.raises(StrongReadRefused, match="Read the base item strongly instead"):
        by_global_index()


def test_a_strong_query_on_a_local_index_is_allowed() -> None:
    table = Table("T", pk="pk", sk="sk")
    local = table.local_index("L", sk="l")

    @table.query(returns=Move, strong=True)
    def by_local_index() -> Span:
        """All of them."""
        return local.partition("x")

    assert by_local_index().strong


def test_a_pattern_without_a_docstring_is_refused() -> None:
    with pytest.raises(DesignError, match="has no docstring"):

        @board.query(returns=Move)
        def undocumented() -> Span:
            return board.partition("x")

    with pytest.raises(DesignError, match="has no docstring"):

        @board.item()
        def undocumented_item() -> Key[Game]:
            return Game.key(game_id="x")


def test_two_patterns_with_one_name_are_refused() -> None:
    def moves_of() -> Span:
        """Again."""
        return board.partition("x")

    with pytest.raises(DesignError, match="two access patterns named moves_of"):
        board.query(returns=Move)(moves_of)


def test_a_pattern_that_reads_another_table_is_refused() -> None:
    table = Table("T", pk=number("n"))

    @table.query(returns=Move)
    def of_another_table() -> Span:
        """Of another table."""
        return board.partition("x")

    with pytest.raises(DesignError, match="declared on T but reads VoteBoardGame"):
        of_another_table()
