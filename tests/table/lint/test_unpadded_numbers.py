"""The rule about numbers in sort keys: they must be padded with zeros."""

from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NewType, Optional

import pytest
from msgspec import Meta, defstruct

from tests.table.lint.findings import findings_of, message_of
from zataku.table import Entity, Table, derived, number

GameId = NewType("GameId", str)
Turn = NewType("Turn", int)


class Level(IntEnum):
    EASY = 1
    HARD = 10


class Side(Enum):
    BLACK = 1
    WHITE = 2


def moves(kind: Any, sk: str = "MOVE#{turn}") -> Table:
    table = Table("Board", sk="SK")
    move = defstruct(
        "Move", [("game", GameId), ("turn", kind, 1)], bases=(Entity,), namespace={"__doc__": "A move."}, frozen=True
    )
    table.entity(pk="GAME#{game}", sk=sk)(move)
    return table


@pytest.mark.parametrize(
    "kind",
    [
        int,
        Decimal,
        Turn,
        Annotated[int, Meta(ge=1)],
        Annotated[int, Meta(ge=1, le=10)],
        Annotated[Turn, Meta(ge=-9, le=9)],
        Optional[int],  # noqa: UP045 - Optional is represented differently at runtime
        str | int,
        Level,
        Literal[9, 10],
    ],
    ids=str,
)
def test_a_number_without_padding_is_reported(kind: Any) -> None:
    assert findings_of(moves(kind)) == [("unpadded-number", "Move.SK")]
    assert "holds turn without padding" in message_of(moves(kind))


@pytest.mark.parametrize(
    "kind",
    [
        str,
        Annotated[int, Meta(ge=0, le=9)],
        Annotated[int, Meta(ge=10**12, lt=10**13)],
        Side,
        Literal[1, 2],
        Literal["9", "10"],
    ],
    ids=str,
)
def test_a_type_that_sorts_correctly_without_padding_is_allowed(kind: Any) -> None:
    assert findings_of(moves(kind)) == []


def test_padding_resolves_the_finding() -> None:
    assert findings_of(moves(int)) == [("unpadded-number", "Move.SK")]
    assert findings_of(moves(int, "MOVE#{turn:03d}")) == []


def test_a_number_key_needs_no_padding() -> None:
    table = Table("Ranks", sk=number("rank"))

    @table.entity(pk="GAME#{game}", sk="{rank}")
    class Rank(Entity, frozen=True, kw_only=True):
        """A place in a ranking."""

        game: GameId
        rank: int

    assert findings_of(table) == []


def turns(*, swap: bool, turn: str = "{turn}") -> Table:
    table = Table("Board", sk="SK")
    if swap:
        table.index("SwapIndex", pk="SK", sk="PK")

    @table.entity(pk=f"GAME#{{game}}#TURN#{turn}", sk="VOTE#{voter}")
    class Vote(Entity, frozen=True, kw_only=True):
        """A vote for a move."""

        game: GameId
        turn: int
        voter: GameId

    return table


def test_a_number_in_a_partition_key_is_reported_when_an_index_sorts_by_it() -> None:
    assert findings_of(turns(swap=False)) == []
    assert findings_of(turns(swap=True)) == [("unpadded-number", "Vote.PK")]
    assert "the sort key of SwapIndex" in message_of(turns(swap=True))
    assert findings_of(turns(swap=True, turn="{turn:03d}")) == []


def chat(sk: str) -> Table:
    table = Table("Chat", sk="SK")
    table.index("GSI1", pk="GSI1PK", sk="GSI1SK")

    @table.entity(pk="GAME#{game}", sk="CHAT", index={"GSI1PK": "GAME#{game}", "GSI1SK": sk})
    class Message(Entity, frozen=True, kw_only=True):
        """A chat message."""

        game: GameId
        at: int

        @derived("at")
        def minute(self) -> int | None:
            return self.at // 60

    return table


@pytest.mark.parametrize(("unpadded", "padded"), [("AT#{at}", "AT#{at:013d}"), ("AT#{minute}", "AT#{minute:011d}")])
def test_an_unpadded_number_in_an_index_sort_key_is_reported(unpadded: str, padded: str) -> None:
    assert findings_of(chat(unpadded)) == [("unpadded-number", "Message.GSI1SK")]
    assert findings_of(chat(padded)) == []
