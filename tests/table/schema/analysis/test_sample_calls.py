"""Every access pattern can be tried out."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NewType
from uuid import UUID

import pytest
from msgspec import Meta, Struct

from tests.table.lint.findings import findings_of, message_of
from zataku.table import Entity, Key, Span, Table, binary
from zataku.table.schema.analysis.sample_calls import call_with_samples

GameId = NewType("GameId", str)
Token = NewType("Token", bytes)
Turn = NewType("Turn", int)


class Side(Enum):
    BLACK = "black"
    WHITE = "white"


class Cursor(Struct):
    at: int


def seen(annotation: Any, *default: Any, example: dict[str, Any] | None = None) -> list[Any]:
    """The arguments that a pattern with one parameter of this type is tried with."""
    table = Table("Things")
    values: list[Any] = []

    def asked(thing_name: Any = default[0] if default else None) -> Span:
        """Whatever is asked for."""
        values.append(thing_name)
        return table.partition("THING")

    if not default:
        asked.__defaults__ = None
    asked.__annotations__["thing_name"] = annotation
    call_with_samples(table.query(returns=Entity, example=example)(asked))
    return values


@pytest.mark.parametrize(
    ("annotation", "values"),
    [
        (str, ["thingname"]),
        (GameId, ["thingname"]),
        (Annotated[str, Meta(max_length=4)], ["thin"]),
        (Annotated[GameId, Meta(min_length=12)], ["thingnamexxx"]),
        (int, [1]),
        (Turn, [1]),
        (Annotated[int, Meta(ge=30, le=300)], [30]),
        (Annotated[int, Meta(lt=1)], [0]),
        (bytes, [b"thingname"]),
        (Token, [b"thingname"]),
        (Decimal, [Decimal(1)]),
        (float, [1.0]),
        (bool, [False, True]),
        (Literal["a", "b"], ["a", "b"]),
        (Side, [Side.BLACK, Side.WHITE]),
        (date, [date(2026, 2, 21)]),
        (str | None, ["thingname"]),
        (int | str, [1, "thingname"]),
        (list[Turn], [[1]]),
        (tuple[GameId, ...], [("thingname",)]),
    ],
    ids=str,
)
def test_arguments_follow_the_annotation(annotation: Any, values: list[Any]) -> None:
    assert seen(annotation) == values


@pytest.mark.parametrize("kind", [datetime, UUID, timedelta])
def test_arguments_of_richer_types(kind: type[Any]) -> None:
    (value,) = seen(kind)
    assert type(value) is kind


def test_a_default_is_tried_first_and_then_a_value() -> None:
    assert seen(str | None, None) == [None, "thingname"]
    assert seen(Cursor | None, None) == [None]


def test_parameters_with_defaults_are_tried_together_too() -> None:
    table = Table("Things")
    seen: list[tuple[date | None, date | None]] = []

    @table.query(returns=Entity)
    def asked(low: date | None = None, high: date | None = None) -> Span:
        """What lies between two days, or everything."""
        seen.append((low, high))
        return table.partition("THING")

    call_with_samples(asked)
    day = date(2026, 2, 21)
    assert seen == [(None, None), (day, None), (None, day), (day, day)]


def test_an_example_goes_before_everything() -> None:
    assert seen(Side, example={"thing_name": "given"}) == ["given"]


def things(function: Callable[..., Any], example: dict[str, Any] | None = None) -> Table:
    table = Table("Things")

    @table.entity(pk="THING#{thing}")
    class Thing(Entity, frozen=True, kw_only=True):
        """Something."""

        thing: GameId

    def asked(*given: Any, **named: Any) -> Span:
        return table.partition(f"THING#{function(*given, **named)}")

    asked.__name__, asked.__doc__ = "asked", "Whatever is asked for."
    asked.__wrapped__ = function  # type: ignore[attr-defined]
    asked.__annotations__ = function.__annotations__
    table.query(returns=Thing, example=example)(asked)
    return table


def test_a_pattern_that_cannot_be_tried_asks_for_an_example() -> None:
    def after(cursor: Cursor) -> int:
        return cursor.at

    assert findings_of(things(after)) == [("no-example", "asked")]
    assert "no sample is known for" in message_of(things(after))
    assert findings_of(things(after, {"cursor": Cursor(1)})) == []


def test_a_parameter_without_annotation_asks_for_an_example() -> None:
    def of(thing):  # type: ignore[no-untyped-def]
        return thing

    assert message_of(things(of)).endswith("the parameter thing has no annotation")
    assert findings_of(things(of, {"thing": "a"})) == []


def test_a_pattern_that_refuses_the_sample_argument() -> None:
    def checked(thing: str) -> str:
        if not thing.isdigit():
            raise ValueError("a thing has digits only")
        return thing

    assert message_of(things(checked)) == "asked cannot be tried out: ValueError: a thing has digits only"
    assert findings_of(things(checked, {"thing": "12"})) == []


def test_a_choice_that_is_refused_beside_one_that_is_taken() -> None:
    def chosen(side: Side, thing: str) -> str:
        if side is Side.WHITE:
            raise ValueError("black only")
        return thing

    assert findings_of(things(chosen)) == []


def test_a_read_of_one_item_is_tried_as_well() -> None:
    table = Table("Things", pk=binary("id"))

    @table.entity(pk="{token}")
    class Thing(Entity, frozen=True, kw_only=True):
        """Something with a key of bytes."""

        token: Token

    @table.item()
    def good(token: Token) -> Key[Thing]:
        """A thing by its token."""
        return Thing.key(token=token)

    @table.item()
    def misspelt(token: Token) -> Key[Thing]:
        """A thing by a field it does not have."""
        return Thing.key(tokn=token)

    assert findings_of(table) == [("no-example", "misspelt")]
    assert "Thing has no field 'tokn'" in message_of(table)
