"""Calls of access patterns with sample arguments, and the patterns that need an example."""

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


def sample_arguments(annotation: Any, *default: Any, example: dict[str, Any] | None = None) -> list[Any]:
    """The sample arguments for a pattern with one parameter of this type."""
    table = Table("Things")
    values: list[Any] = []

    def pattern(thing_name: Any = default[0] if default else None) -> Span:
        """Things by name."""
        values.append(thing_name)
        return table.partition("THING")

    if not default:
        pattern.__defaults__ = None
    pattern.__annotations__["thing_name"] = annotation
    call_with_samples(table.query(returns=Entity, example=example)(pattern))
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
def test_sample_arguments_follow_the_annotation(annotation: Any, values: list[Any]) -> None:
    assert sample_arguments(annotation) == values


@pytest.mark.parametrize("kind", [datetime, UUID, timedelta])
def test_sample_arguments_have_the_annotated_type(kind: type[Any]) -> None:
    (value,) = sample_arguments(kind)
    assert type(value) is kind


def test_the_default_is_tried_before_a_sample_value() -> None:
    assert sample_arguments(str | None, None) == [None, "thingname"]
    assert sample_arguments(Cursor | None, None) == [None]


def test_parameters_with_defaults_are_tried_in_all_combinations() -> None:
    table = Table("Things")
    arguments: list[tuple[date | None, date | None]] = []

    @table.query(returns=Entity)
    def pattern(low: date | None = None, high: date | None = None) -> Span:
        """Things between two days, or all of them."""
        arguments.append((low, high))
        return table.partition("THING")

    call_with_samples(pattern)
    day = date(2026, 2, 21)
    assert arguments == [(None, None), (day, None), (None, day), (day, day)]


def test_an_example_replaces_all_sample_values() -> None:
    assert sample_arguments(Side, example={"thing_name": "example"}) == ["example"]


def things(function: Callable[..., Any], example: dict[str, Any] | None = None) -> Table:
    table = Table("Things")

    @table.entity(pk="THING#{thing}")
    class Thing(Entity, frozen=True, kw_only=True):
        """A thing."""

        thing: GameId

    def pattern(*args: Any, **kwargs: Any) -> Span:
        return table.partition(f"THING#{function(*args, **kwargs)}")

    pattern.__name__, pattern.__doc__ = "pattern", "Things by key."
    pattern.__wrapped__ = function  # type: ignore[attr-defined]
    pattern.__annotations__ = function.__annotations__
    table.query(returns=Thing, example=example)(pattern)
    return table


def test_a_pattern_with_an_unsupported_parameter_type_needs_an_example() -> None:
    def after(cursor: Cursor) -> int:
        return cursor.at

    assert findings_of(things(after)) == [("no-example", "pattern")]
    assert "no sample is known for" in message_of(things(after))
    assert findings_of(things(after, {"cursor": Cursor(1)})) == []


def test_a_parameter_without_an_annotation_needs_an_example() -> None:
    def of(thing):  # type: ignore[no-untyped-def]
        return thing

    assert message_of(things(of)).endswith("the parameter thing has no annotation")
    assert findings_of(things(of, {"thing": "a"})) == []


def test_a_pattern_that_refuses_the_sample_needs_an_example() -> None:
    def checked(thing: str) -> str:
        if not thing.isdigit():
            raise ValueError("a thing has digits only")
        return thing

    assert message_of(things(checked)) == "pattern cannot be tried out: ValueError: a thing has digits only"
    assert findings_of(things(checked, {"thing": "12"})) == []


def test_a_pattern_that_accepts_one_of_several_samples_needs_no_example() -> None:
    def chosen(side: Side, thing: str) -> str:
        if side is Side.WHITE:
            raise ValueError("black only")
        return thing

    assert findings_of(things(chosen)) == []


def test_an_item_pattern_is_called_with_samples() -> None:
    table = Table("Things", pk=binary("id"))

    @table.entity(pk="{token}")
    class Thing(Entity, frozen=True, kw_only=True):
        """A thing with a binary key."""

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
