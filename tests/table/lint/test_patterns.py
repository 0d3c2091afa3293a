"""The rules about access patterns: a query reads keys that its results can have, and returns all it can read."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, NewType

import pytest

from tests.table.lint.findings import findings_of, message_of
from zataku.table import Entity, InKey, Span, Table, number, path

GameId = NewType("GameId", str)
UserId = NewType("UserId", str)
Status = Literal["ACTIVE", "FINISHED"]
SpanFactory = Callable[..., Span]
FINDING = [("unanswerable-pattern", "query")]


class Board:
    """A small design with every kind of key, to which a test adds one query."""

    def __init__(self) -> None:
        self.table = table = Table("Board", sk="SK")
        self.listed = table.index("GSI1", pk="GSI1PK", sk="GSI1SK")
        self.ranked = table.index("GSI2", pk="OWNER", sk=number("turn"))

        @table.entity(
            pk="GAME#{game}", sk="META", index={"GSI1PK": "LIST#{status}#{game}", "GSI1SK": "CREATED#{created}"}
        )
        class Game(Entity, frozen=True, kw_only=True):
            """A game."""

            game: GameId
            status: Status
            created: date

        @table.entity(pk="GAME#{game}", sk="MOVE#{turn:03d}", index={"OWNER": "{owner}"})
        class Move(Entity, frozen=True, kw_only=True):
            """A move of a game."""

            game: GameId
            turn: int
            owner: UserId

        @table.entity(pk="GAME#{game}#TURN#{turn}", sk="VOTE#{user}")
        class Vote(Entity, frozen=True, kw_only=True):
            """A vote in a turn."""

            game: InKey[GameId]
            turn: int
            user: UserId

        self.game, self.move, self.vote = Game, Move, Vote

    def with_query(self, query: SpanFactory, *returns: type[Any], example: dict[str, Any] | None = None) -> Table:
        query.__name__, query.__doc__ = "query", "The query under test."
        entities: Any = returns
        self.table.query(returns=entities, example=example)(query)
        return self.table


def test_a_range_that_no_template_can_match_is_reported() -> None:
    def moves(prefix: str) -> Table:
        board = Board()

        def query(game: GameId) -> Span:
            return board.table.partition(f"GAME#{game}").begins_with(prefix)

        return board.with_query(query, board.move)

    assert findings_of(moves("MOVES#")) == FINDING
    assert "SK beginning with 'MOVES#', which no entity can have" in message_of(moves("MOVES#"))
    for prefix in ("MOVE#", "MO", "MOVE#0", "MOVE#012"):
        assert findings_of(moves(prefix)) == []
    assert findings_of(moves("MOVE#1234")) == FINDING


def test_a_partition_that_no_entity_has_is_reported() -> None:
    def votes(pk: str) -> Table:
        board = Board()

        def query(game: GameId, turn: int) -> Span:
            return board.table.partition(pk.format(game=game, turn=turn)).begins_with("VOTE#")

        return board.with_query(query, board.vote)

    assert findings_of(votes("GAMES#{game}#TURN#{turn}")) == FINDING
    assert findings_of(votes("GAME#{game}")) == FINDING
    assert findings_of(votes("GAME#{game}#TURN#{game}")) == FINDING
    assert findings_of(votes("GAME#{game}#TURN#{turn}")) == []


def test_a_partition_key_rendered_by_the_entity_is_accepted() -> None:
    board = Board()

    def query(game: GameId, turn: int) -> Span:
        return board.table.partition(board.vote.partition(game=game, turn=turn))

    assert findings_of(board.with_query(query, board.vote)) == []


def test_a_returned_entity_that_cannot_be_in_the_span_is_reported() -> None:
    def collection(*entities: str) -> Table:
        board = Board()

        def query(game: GameId) -> Span:
            return board.table.partition(f"GAME#{game}")

        return board.with_query(query, *[getattr(board, entity) for entity in entities])

    assert findings_of(collection("game", "move")) == []
    assert findings_of(collection("game", "vote")) == FINDING
    assert "returns Vote, but reads Board with PK = 'GAME#game'" in message_of(collection("game", "vote"))


def test_a_returned_entity_without_keys_of_the_index_is_reported() -> None:
    board = Board()

    def query(status: Status, game: GameId) -> Span:
        return board.listed.partition(f"LIST#{status}#{game}")

    assert message_of(board.with_query(query, board.move)) == "query returns Move, which has no keys of GSI1."


def test_a_returned_entity_of_another_table_is_reported() -> None:
    board, other = Board(), Board()

    def query(game: GameId) -> Span:
        return board.table.partition(f"GAME#{game}")

    table = board.with_query(query, other.move)
    assert message_of(table) == "query returns Move, which is not an entity or view of Board."


class StatusName(Enum):
    ACTIVE = "ACTIVE"


def test_an_argument_value_that_the_field_cannot_have_is_reported() -> None:
    def by(kind: Any, text: Callable[[Any], object] = str) -> Table:
        board = Board()

        def query(status: Any, game: GameId) -> Span:
            return board.listed.partition(f"LIST#{text(status)}#{game}").begins_with("CREATED#")

        query.__annotations__["status"] = kind
        return board.with_query(query, board.game)

    assert findings_of(by(Status)) == []
    assert findings_of(by(Literal["ACTIVE", "ENDED"])) == FINDING
    assert findings_of(by(StatusName)) == FINDING  # the text of a member is StatusName.ACTIVE
    assert findings_of(by(StatusName, lambda status: status.value)) == []


@pytest.mark.parametrize(
    ("narrow", "matches"),
    [
        (lambda span: span.between("MOVE#001", "MOVE#999"), True),
        (lambda span: span.between("MOVES", "MOVEZ"), False),
        (lambda span: span.between("A", "M"), False),
        (lambda span: span.after("MOVE#010"), True),
        (lambda span: span.after("MOVE$"), False),
        (lambda span: span.since("A"), True),
        (lambda span: span.before("MOVE#"), False),
        (lambda span: span.until("MOVE#100"), True),
        (lambda span: span.equals("MOVE#001"), True),
        (lambda span: span.equals("MOVE#1"), False),
    ],
)
def test_a_range_is_reported_unless_a_sort_key_can_match_it(narrow: Callable[[Span], Span], matches: bool) -> None:
    board = Board()

    def query(game: GameId) -> Span:
        return narrow(board.table.partition(f"GAME#{game}"))

    assert (FINDING[0] in findings_of(board.with_query(query, board.move))) is not matches


@pytest.mark.parametrize(
    ("narrow", "matches"),
    [
        (lambda span: span.before("META"), False),
        (lambda span: span.until("META"), True),
        (lambda span: span.after("META"), False),
        (lambda span: span.since("META"), True),
        (lambda span: span.between("META", "METB"), True),
        (lambda span: span.between("METB", "METC"), False),
    ],
)
def test_a_range_is_reported_unless_it_includes_the_constant_sort_key(
    narrow: Callable[[Span], Span], matches: bool
) -> None:
    board = Board()

    def query(game: GameId) -> Span:
        return narrow(board.table.partition(f"GAME#{game}"))

    assert (FINDING[0] in findings_of(board.with_query(query, board.game))) is not matches


def test_a_number_key_accepts_any_number() -> None:
    board = Board()

    def query(owner: UserId, low: int, high: Decimal) -> Span:
        return board.ranked.partition(owner).between(low, high)

    assert findings_of(board.with_query(query, board.move)) == []


def test_an_example_may_contain_the_separator_of_the_template() -> None:
    def of(example: dict[str, Any] | None) -> Table:
        board = Board()

        def query(game: GameId = GameId("a#b")) -> Span:
            return board.table.partition(f"GAME#{game}").equals("META")

        return board.with_query(query, board.game, example=example)

    assert findings_of(of(None)) == FINDING
    assert findings_of(of({"game": "a#b"})) == []


def test_a_strong_read_of_a_global_index_is_reported() -> None:
    board = Board()

    @board.table.query(returns=board.move, strong=True)
    def query(owner: UserId) -> Span:
        """The query under test."""
        return board.ranked.partition(owner)

    assert findings_of(board.table) == FINDING
    assert "never strongly consistent" in message_of(board.table)


UNEXPECTED_ENTITY = [("unexpected-entity", "query")]


def test_an_entity_in_the_span_that_is_not_returned_is_reported() -> None:
    board = Board()

    def query(game: GameId) -> Span:
        return board.table.partition(f"GAME#{game}")

    table = board.with_query(query, board.game)
    assert findings_of(table) == UNEXPECTED_ENTITY
    assert message_of(table) == "query can read Move, which it does not return and could not decode."


def test_a_range_that_holds_only_the_returned_entity_is_accepted() -> None:
    board = Board()

    def query(game: GameId) -> Span:
        return board.table.partition(f"GAME#{game}").begins_with("MOVE#")

    assert findings_of(board.with_query(query, board.move)) == []


def test_a_query_with_a_filter_is_not_checked_for_other_entities() -> None:
    board = Board()

    def query(game: GameId) -> Span:
        return board.table.partition(f"GAME#{game}").where(path(board.move, lambda move: move.turn).exists())

    assert findings_of(board.with_query(query, board.move)) == []
