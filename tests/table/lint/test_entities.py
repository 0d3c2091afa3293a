"""Rules about entities: the maximum item size is never underestimated, and every entity has a docstring."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NewType
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct, defstruct

from tests.table.lint.findings import findings_of, message_of
from tests.table.strategies import numbers
from zataku.table import Entity, InKey, Nullable, Table, derived
from zataku.table.backend.values import item_size
from zataku.table.lint import max_item_size
from zataku.table.schema.entity import binding_of

Id = NewType("Id", str)
Token = NewType("Token", bytes)
Text = Annotated[str, Meta(max_length=10)]
FINDING = [("item-too-large", "Thing")]


def things(kind: Any) -> Table:
    table = Table("Things", pk="key")
    thing = defstruct(
        "Thing", [("id", Id), ("field", kind, None)], bases=(Entity,), namespace={"__doc__": "One."}, frozen=True
    )
    table.entity(pk="THING#{id}")(thing)
    return table


def max_value_size(kind: Any) -> int | None:
    """The maximum bytes of the field's value, without its name."""
    size = max_item_size(things(kind).bindings[0]).by_field["field"]
    return None if size is None else size - len("field")


class Side(Enum):
    BLACK = "black"
    WHITE = "白"


class Turn(Struct, frozen=True, rename="camel", tag="turn"):
    answer: Text
    guessed_by: Annotated[list[Id], Meta(max_length=2)]


class Recursive(Struct, frozen=True):
    inner: "Recursive | None" = None


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (Text, 40),
        (Annotated[bytes, Meta(max_length=10)], 10),
        (Annotated[str, Meta(pattern="^[A-H][1-8]$")], 3),
        (Annotated[str, Meta(pattern="^[ぁ-ゖー]+$", max_length=50)], 150),
        (Id, 2048),
        (Annotated[Id, Meta(max_length=36)], 144),
        (Token, 2048),
        (NewType("Picture", Annotated[bytes, Meta(max_length=5000)]), 5000),
        (int, 21),
        (float | None, 21),
        (Decimal, 21),
        (bool, 1),
        (Literal["a", "abc"], 3),
        (Literal[7, 777], 3),
        (Side, 5),
        (date, 10),
        (UUID, 36),
        (Annotated[list[int], Meta(max_length=10)], 3 + 10 * 22),
        (Annotated[tuple[Text, ...], Meta(max_length=2)], 3 + 2 * 41),
        (tuple[int, bool], 3 + 22 + 2),
        (Annotated[frozenset[Text], Meta(max_length=3)], 120),
        (frozenset[Literal["a", "bb"]], 4),
        (Annotated[dict[Text, int], Meta(max_length=2)], 3 + 2 * (1 + 40 + 21)),
        (dict[Literal["ja", "ko"], Text], 3 + 2 * (1 + 2 + 40)),
        (Turn, 3 + (1 + 4 + 4) + (1 + 6 + 40) + (1 + 9 + 3 + 2 * 2049)),
        (Text | int | Annotated[list[bool], Meta(max_length=100)], 3 + 100 * 2),
    ],
    ids=str,
)
def test_a_type_has_its_maximum_value_size(kind: Any, size: int) -> None:
    assert max_value_size(kind) == size
    assert findings_of(things(kind)) == []


@pytest.mark.parametrize(
    ("kind", "unlimited"),
    [
        (str, "field"),
        (str | None, "field"),
        (bytes, "field"),
        (list[Turn], "field"),
        (Annotated[list[str], Meta(max_length=3)], "field[]"),
        (list[str], "field, field[]"),
        (Annotated[dict[Text, str], Meta(max_length=3)], "field[]"),
        (dict[Text, int], "field"),
        (tuple[int, str], "field[1]"),
        (Recursive, "field.inner"),
        (Any, "field"),
        (dict, "field"),
        (Annotated[str, Meta(pattern="^a+$")], "field"),
    ],
    ids=str,
)
def test_a_field_without_a_limit_is_reported(kind: Any, unlimited: str) -> None:
    assert max_value_size(kind) is None
    assert findings_of(things(kind)) == FINDING
    assert message_of(things(kind)) == f"Thing has no largest size, because there is no limit to {unlimited}."


def test_an_item_that_can_exceed_400_kilobytes_is_reported() -> None:
    def pictures(count: int) -> Table:
        return things(Annotated[list[Annotated[bytes, Meta(max_length=100 * 1024)]], Meta(max_length=count)])

    assert findings_of(pictures(10)) == FINDING
    assert "Thing can have 1,02" in message_of(pictures(10))
    assert "The most is in field (1,024,018)" in message_of(pictures(10))
    assert findings_of(pictures(3)) == []


def test_an_item_of_exactly_400_kilobytes_is_allowed() -> None:
    def of(length: int) -> Table:
        return things(Annotated[bytes, Meta(max_length=length)])

    rest = 400 * 1024 - (max_item_size(of(0).bindings[0]).bytes or 0)
    assert findings_of(of(rest)) == []
    assert findings_of(of(rest + 1)) == FINDING


def test_an_unlimited_text_in_a_key_is_bounded_by_the_key() -> None:
    table = Table("Things", pk="key", sk="sort")

    @table.entity(pk="THING#{name}", sk="{part}")
    class Thing(Entity, frozen=True, kw_only=True):
        """A thing with parts."""

        name: str
        part: str
        number: int

    assert max_item_size(binding_of(Thing)).by_field == {
        "name": 4 + 2048,
        "part": 4 + 1024,
        "number": 6 + 21,
        "key": 3 + 2048,
        "sort": 4 + 1024,
    }


def test_a_key_that_is_also_a_field_counts_once() -> None:
    table = Table("Rooms", pk="roomId")

    @table.entity(pk="{room_id}")
    class Room(Entity, frozen=True, kw_only=True, rename="camel", tag="ROOM"):
        """A room."""

        room_id: Annotated[Id, Meta(max_length=36)]

    assert max_item_size(binding_of(Room)).by_field == {"room_id": 6 + 144, "type": 4 + 4}


# Hypothesis fills these fields up to their limits.

table = Table("Everything", pk="pk", sk="sk", ttl="expires")
table.index("GSI1", pk="gpk", sk="gsk")
table.index("ByTurn", pk="lookup", sk="sk")


class Seat(Struct, frozen=True, kw_only=True, rename="camel"):
    seat_name: Text
    ready: bool
    points: Decimal | None = None
    left_at: Nullable[datetime] = None


@table.entity(
    pk="GAME#{game}",
    sk="{kind}#{turn:03d}#{day}",
    index={"gpk": "SIDE#{side}#{score}", "gsk": "{label}", "lookup": "{ident}"},
)
class AllTypes(Entity, frozen=True, kw_only=True, rename="camel", tag="FULL", tag_field="entityType"):
    """An entity with a field of every type."""

    game: InKey[Annotated[Id, Meta(max_length=36)]]
    kind: Annotated[str, Meta(min_length=1, max_length=20, pattern="^[a-zé]+$")]
    turn: Annotated[int, Meta(ge=0, le=999)]
    day: date
    side: Side | None = None
    score: int | None = None
    ident: UUID
    at: datetime
    lasting: timedelta
    ratio: float
    exact: Decimal
    picture: Annotated[bytes, Meta(max_length=50)]
    winner: Nullable[Literal["AI", "COLLECTIVE"]] = None
    seats: Annotated[list[Seat], Meta(max_length=3)]
    pair: tuple[Text, bool]
    words: Annotated[dict[Text, Text], Meta(max_length=2)]
    levels: Annotated[frozenset[int], Meta(max_length=3)] = frozenset()

    @derived("turn")
    def label(self) -> Annotated[str, Meta(max_length=8)] | None:
        return f"T{self.turn}" if self.turn else None


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
zones = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(timezones=st.one_of(st.just(UTC), zones))
whole = st.integers(-(10**38) + 1, 10**38 - 1)
# msgspec decodes a decimal from a float or from its digits; a table can hold either.
exact = numbers().map(Decimal)
seats = st.builds(
    Seat,
    seat_name=texts,
    ready=st.booleans(),
    points=st.one_of(st.none(), exact),
    left_at=st.one_of(st.none(), moments),
)
entities = st.builds(
    AllTypes,
    game=st.text("abcé日😀", min_size=1, max_size=36).map(Id),
    kind=st.text("abcé", min_size=1, max_size=20),
    turn=st.integers(0, 999),
    day=st.dates(),
    side=st.one_of(st.none(), st.sampled_from(Side)),
    score=st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    ident=st.uuids(),
    at=moments,
    lasting=st.timedeltas(timedelta(days=-36500), timedelta(days=36500)),
    ratio=st.floats(-1e100, 1e100).filter(lambda number: not number or abs(number) > 1e-100),
    exact=exact,
    picture=st.binary(max_size=50),
    winner=st.sampled_from([None, "AI", "COLLECTIVE"]),
    seats=st.lists(seats, max_size=3),
    pair=st.tuples(texts, st.booleans()),
    words=st.dictionaries(texts, texts, max_size=2),
    levels=st.frozensets(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=3),
)


@given(entities)
def test_no_item_exceeds_its_maximum_size(entity: AllTypes) -> None:
    binding = binding_of(AllTypes)
    size = max_item_size(binding)
    item = binding.encode(entity)
    assert size.bytes is not None
    assert item_size(item) <= size.bytes
    names = {field.attribute: name for name, field in binding.fields.items()}
    for attribute, value in item.items():
        max_bytes = size.by_field[names.get(attribute, attribute)]
        assert max_bytes is not None
        assert item_size({attribute: value}) <= max_bytes


def test_the_maximum_size_can_be_reached() -> None:
    sizes = Table("Sizes", pk="pk")

    @sizes.entity(pk="P#{name}")
    class Exact(Entity, frozen=True, kw_only=True, tag="EXACT"):
        """An item that can reach its maximum size."""

        name: Text
        kind: Literal["a", "longest"]
        seats: Annotated[list[Text], Meta(max_length=2)]

    full = Exact(name="😀" * 10, kind="longest", seats=["😀" * 10, "😀" * 10])
    binding = binding_of(Exact)
    assert item_size(binding.encode(full)) == max_item_size(binding).bytes


def games(docstring: str | None) -> Table:
    table = Table("Games")

    class Game(Entity, frozen=True, kw_only=True):
        game: Id

    Game.__doc__ = docstring
    table.entity(pk="{game}")(Game)
    return table


def test_an_entity_without_a_docstring_is_reported() -> None:
    assert findings_of(games(None)) == [("undocumented", "Game")]
    assert findings_of(games("  ")) == [("undocumented", "Game")]
    assert findings_of(games("A game.")) == []
