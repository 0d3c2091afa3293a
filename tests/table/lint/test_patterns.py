"""Every query asks for keys that its results can have."""

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
Asking = Callable[..., Span]
FINDING = [("unanswerable-pattern", "asked")]


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

    def ask(self, asked: Asking, *returns: type[Any], example: dict[str, Any] | None = None) -> Table:
        asked.__name__, asked.__doc__ = "asked", "What the test asks for."
        kinds: Any = returns
        self.table.query(returns=kinds, example=example)(asked)
        return self.table


def test_a_range_that_differs_from_the_template() -> None:
    def moves(prefix: str) -> Table:
        board = Board()

        def asked(game: GameId) -> Span:
            return board.table.partition(f"GAME#{game}").begins_with(prefix)

        return board.ask(asked, board.move)

    assert findings_of(moves("MOVES#")) == FINDING
    assert "SK beginning with 'MOVES#', which no entity can have" in message_of(moves("MOVES#"))
    for prefix in ("MOVE#", "MO", "MOVE#0", "MOVE#012"):
        assert findings_of(moves(prefix)) == []
    assert findings_of(moves("MOVE#1234")) == FINDING


def test_a_partition_that_no_entity_has() -> None:
    def votes(pk: str) -> Table:
        board = Board()

        def asked(game: GameId, turn: int) -> Span:
            return board.table.partition(pk.format(game=game, turn=turn)).begins_with("VOTE#")

        return board.ask(asked, board.vote)

    assert findings_of(votes("GAMES#{game}#TURN#{turn}")) == FINDING
    assert findings_of(votes("GAME#{game}")) == FINDING
    assert findings_of(votes("GAME#{game}#TURN#{game}")) == FINDING
    assert findings_of(votes("GAME#{game}#TURN#{turn}")) == []


def test_keys_rendered_by_the_entity_itself() -> None:
    board = Board()

    def asked(game: GameId, turn: int) -> Span:
        return board.table.partition(board.vote.partition(game=game, turn=turn))

    assert findings_of(board.ask(asked, board.vote)) == []


def test_a_kind_that_cannot_be_in_the_span() -> None:
    def collection(*kinds: str) -> Table:
        board = Board()

        def asked(game: GameId) -> Span:
            return board.table.partition(f"GAME#{game}")

        return board.ask(asked, *[getattr(board, kind) for kind in kinds])

    assert findings_of(collection("game", "move")) == []
    assert findings_of(collection("game", "vote")) == FINDING
    assert "returns Vote, but asks Board for PK = 'GAME#game'" in message_of(collection("game", "vote"))


def test_a_kind_that_has_no_keys_of_the_index() -> None:
    board = Board()

    def asked(status: Status, game: GameId) -> Span:
        return board.listed.partition(f"LIST#{status}#{game}")

    assert message_of(board.ask(asked, board.move)) == "asked returns Move, which has no keys of GSI1."


def test_a_kind_of_another_table() -> None:
    board, other = Board(), Board()

    def asked(game: GameId) -> Span:
        return board.table.partition(f"GAME#{game}")

    assert message_of(board.ask(asked, other.move)) == "asked returns Move, which is no entity or view of Board."


class Spelling(Enum):
    ACTIVE = "ACTIVE"


def test_a_choice_that_the_field_does_not_have() -> None:
    def by(kind: Any, text: Callable[[Any], object] = str) -> Table:
        board = Board()

        def asked(status: Any, game: GameId) -> Span:
            return board.listed.partition(f"LIST#{text(status)}#{game}").begins_with("CREATED#")

        asked.__annotations__["status"] = kind
        return board.ask(asked, board.game)

    assert findings_of(by(Status)) == []
    assert findings_of(by(Literal["ACTIVE", "ENDED"])) == FINDING
    assert findings_of(by(Spelling)) == FINDING  # the text of a member is Spelling.ACTIVE
    assert findings_of(by(Spelling, lambda status: status.value)) == []


@pytest.mark.parametrize(
    ("narrow", "there"),
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
def test_ranges_of_sort_keys(narrow: Callable[[Span], Span], there: bool) -> None:
    board = Board()

    def asked(game: GameId) -> Span:
        return narrow(board.table.partition(f"GAME#{game}"))

    assert (FINDING[0] in findings_of(board.ask(asked, board.move))) is not there


@pytest.mark.parametrize(
    ("narrow", "there"),
    [
        (lambda span: span.before("META"), False),
        (lambda span: span.until("META"), True),
        (lambda span: span.after("META"), False),
        (lambda span: span.since("META"), True),
        (lambda span: span.between("META", "METB"), True),
        (lambda span: span.between("METB", "METC"), False),
    ],
)
def test_ranges_around_a_constant_sort_key(narrow: Callable[[Span], Span], there: bool) -> None:
    board = Board()

    def asked(game: GameId) -> Span:
        return narrow(board.table.partition(f"GAME#{game}"))

    assert (FINDING[0] in findings_of(board.ask(asked, board.game))) is not there


def test_any_number_may_be_the_key_that_is_a_number() -> None:
    board = Board()

    def asked(owner: UserId, low: int, high: Decimal) -> Span:
        return board.ranked.partition(owner).between(low, high)

    assert findings_of(board.ask(asked, board.move)) == []


def test_an_example_may_hold_the_separator_of_the_template() -> None:
    def of(example: dict[str, Any] | None) -> Table:
        board = Board()

        def asked(game: GameId = GameId("a#b")) -> Span:
            return board.table.partition(f"GAME#{game}").equals("META")

        return board.ask(asked, board.game, example=example)

    assert findings_of(of(None)) == FINDING
    assert findings_of(of({"game": "a#b"})) == []


def test_a_strong_read_of_a_global_index_is_no_answer() -> None:
    board = Board()

    @board.table.query(returns=board.move, strong=True)
    def asked(owner: UserId) -> Span:
        """What the test asks for."""
        return board.ranked.partition(owner)

    assert findings_of(board.table) == FINDING
    assert "never strongly consistent" in message_of(board.table)


STRANGER = [("stranger-in-span", "asked")]


def test_a_kind_in_the_span_that_the_query_does_not_return() -> None:
    board = Board()

    def asked(game: GameId) -> Span:
        return board.table.partition(f"GAME#{game}")

    table = board.ask(asked, board.game)
    assert findings_of(table) == STRANGER
    assert message_of(table) == "asked can read Move, which it does not return and could not decode."


def test_a_narrowed_range_holds_only_the_returned_kinds() -> None:
    board = Board()

    def asked(game: GameId) -> Span:
        return board.table.partition(f"GAME#{game}").begins_with("MOVE#")

    assert findings_of(board.ask(asked, board.move)) == []


def test_a_query_with_a_filter_is_not_checked_for_other_kinds() -> None:
    board = Board()

    def asked(game: GameId) -> Span:
        return board.table.partition(f"GAME#{game}").where(path(board.move, lambda move: move.turn).exists())

    assert findings_of(board.ask(asked, board.move)) == []
