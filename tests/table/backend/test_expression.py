"""Expressions are immutable values that compare by content and survive serialization."""

from decimal import Decimal

import msgspec
import pytest

from zataku.table.backend import expression as ex

OPEN = ex.Compare(ex.Attribute(("status",)), "=", ex.Literally("OPEN"))
FREE = ex.Missing(("winner",))


def test_conditions_are_compared_by_content() -> None:
    assert ex.Compare(ex.Attribute(("status",)), "=", ex.Literally("OPEN")) == OPEN
    assert ex.Compare(ex.Attribute(("status",)), "<>", ex.Literally("OPEN")) != OPEN
    assert ex.Exists(("winner",)) != FREE


def test_a_condition_is_immutable() -> None:
    with pytest.raises(AttributeError):
        OPEN.sign = "<>"  # pyright: ignore[reportAttributeAccessIssue]


def test_a_condition_of_scalars_is_hashable() -> None:
    assert len({OPEN, ex.Compare(ex.Attribute(("status",)), "=", ex.Literally("OPEN")), FREE}) == 2


def test_both_joins_the_conditions_that_are_not_none() -> None:
    assert ex.both(None, None) is None
    assert ex.both(OPEN, None) is OPEN
    assert ex.both(None, FREE) is FREE
    assert ex.both(OPEN, FREE) == ex.All((OPEN, FREE))


@pytest.mark.parametrize(
    "condition",
    [
        OPEN,
        FREE,
        ex.Not(ex.Either((OPEN, ex.All((FREE, ex.HasType(("players", 0), "M")))))),
        ex.Between(ex.SizeOf(("moves",)), ex.Literally(1), ex.Literally(60)),
        ex.OneOf(ex.Attribute(("turn", "side")), (ex.Literally("black"), ex.Literally("white"))),
        ex.BeginsWith(("SK",), ex.Literally("MOVE#")),
        ex.Contains(("tags",), ex.Literally("final")),
    ],
)
def test_a_condition_survives_serialization(condition: ex.Expression) -> None:
    encoded = msgspec.json.encode(condition)
    assert msgspec.json.decode(encoded, type=ex.Expression) == condition


@pytest.mark.parametrize(
    "action",
    [
        ex.Assign(("score",), ex.Sum(ex.IfMissing(("score",), ex.Literally(0)), ex.Literally(10))),
        ex.Assign(("log",), ex.Joined(ex.Attribute(("log",)), ex.Literally(["A1"]))),
        ex.Assign(("copy",), ex.Attribute(("players", 0, "name"))),
        ex.Drop(("players", 2)),
        ex.Increase(("votes",), 1),
        ex.Include(("seen",), frozenset({"a"})),
        ex.Exclude(("seen",), frozenset({"a"})),
    ],
)
def test_an_action_survives_serialization(action: ex.Action) -> None:
    encoded = msgspec.json.encode(action)
    decoded = msgspec.json.decode(encoded, type=ex.Action)
    assert type(decoded) is type(action)
    assert decoded.route == action.route


def test_an_amount_is_the_same_as_an_integer_or_a_decimal() -> None:
    assert ex.Increase(("votes",), 1) == ex.Increase(("votes",), Decimal(1))
