"""Field paths: the conditions and edits they create, and the values they refuse."""

from decimal import Decimal
from typing import Annotated, Any

import pytest
from msgspec import Meta

from tests.table.boardgame import Clock, Game, Kifu, Move, Side, status, winner
from zataku.table import BadUpdate, Entity, Table, UnknownAttribute, WrongType, path, some
from zataku.table.backend import expression as ex

shelf = Table("Shelf", pk="id")


@shelf.entity(pk="{id}")
class Box(Entity, frozen=True, kw_only=True, rename="camel"):
    """A box with a field of every type."""

    id: str
    item_count: Annotated[int, Meta(ge=0)] = 0
    labels: list[str] = []
    owners: frozenset[str] | None = None
    notes: dict[str, int] = {}
    clocks: tuple[Clock, ...] = ()
    weight: Decimal | None = None
    weights: list[Decimal] = []
    clock: Clock | None = None


count = path(Box, lambda box: box.item_count)
labels = path(Box, lambda box: box.labels)
owners = path(Box, lambda box: some(box.owners))


def test_a_path_has_the_stored_attribute_names() -> None:
    assert count.route == ("itemCount",)
    assert path(Game, lambda game: some(game.clock).time_limit).route == ("clock", "timeLimit")
    assert path(Box, lambda box: box.clocks[2].byoyomi).route == ("clocks", 2, "byoyomi")
    assert path(Box, lambda box: box.notes["a"]).route == ("notes", "a")


def test_an_unknown_field_is_refused_with_the_list_of_fields() -> None:
    with pytest.raises(UnknownAttribute, match=r"no field 'stats'. It has: game_id, status"):
        path(Game, lambda game: game.stats)  # type: ignore[attr-defined]
    with pytest.raises(UnknownAttribute, match="has no fields"):
        path(Game, lambda game: game.status.upper)
    with pytest.raises(UnknownAttribute, match="has no member"):
        path(Game, lambda game: game.status[0])
    with pytest.raises(UnknownAttribute, match="must name a field"):
        path(Game, lambda game: 7)
    with pytest.raises(UnknownAttribute, match="inside a key only"):
        path(Kifu, lambda kifu: kifu.slug)


def test_every_condition_method_creates_its_expression() -> None:
    attribute = ex.Attribute(("itemCount",))
    three, five = ex.Literally(3), ex.Literally(5)
    assert count.equals(3).expression == ex.Compare(attribute, "=", three)
    assert count.not_equals(3).expression == ex.Compare(attribute, "<>", three)
    assert count.below(3).expression == ex.Compare(attribute, "<", three)
    assert count.at_most(3).expression == ex.Compare(attribute, "<=", three)
    assert count.above(3).expression == ex.Compare(attribute, ">", three)
    assert count.at_least(3).expression == ex.Compare(attribute, ">=", three)
    assert count.between(3, 5).expression == ex.Between(attribute, three, five)
    assert count.is_in(3, 5).expression == ex.OneOf(attribute, (three, five))
    assert count.exists().expression == ex.Exists(("itemCount",))
    assert count.missing().expression == ex.Missing(("itemCount",))
    assert count.has_type("N").expression == ex.HasType(("itemCount",), "N")
    assert status.begins_with("ACT").expression == ex.BeginsWith(("status",), ex.Literally("ACT"))
    assert labels.contains("x").expression == ex.Contains(("labels",), ex.Literally("x"))
    assert labels.size().below(3).expression == ex.Compare(ex.SizeOf(("labels",)), "<", three)
    assert labels.size().equals(3).expression == ex.Compare(ex.SizeOf(("labels",)), "=", three)
    assert labels.size().above(3).expression == ex.Compare(ex.SizeOf(("labels",)), ">", three)


def test_conditions_combine_with_and_or_and_not() -> None:
    left, right = count.equals(1), count.equals(2)
    assert (left & right).expression == ex.All((left.expression, right.expression))
    assert (left | right).expression == ex.Either((left.expression, right.expression))
    assert (~left).expression == ex.Not(left.expression)


def test_a_condition_cannot_be_used_as_a_bool() -> None:
    with pytest.raises(TypeError, match="Combine conditions with &"):
        _ = count.equals(1) and count.equals(2)


def test_every_edit_method_creates_its_action() -> None:
    empty = ex.IfMissing(("labels",), ex.Literally([]))
    assert count.set(3).action == ex.Assign(("itemCount",), ex.Literally(3))
    assert count.set_if_missing(3).action == ex.Assign(("itemCount",), ex.IfMissing(("itemCount",), ex.Literally(3)))
    assert count.add(-2).action == ex.Increase(("itemCount",), -2)
    assert path(Box, lambda box: box.weight).add(1).action == ex.Increase(("weight",), 1)
    assert labels.append("a", "b").action == ex.Assign(("labels",), ex.Joined(empty, ex.Literally(["a", "b"])))
    assert labels.prepend("a").action == ex.Assign(("labels",), ex.Joined(ex.Literally(["a"]), empty))
    assert owners.include("a").action == ex.Include(("owners",), frozenset({"a"}))
    assert owners.exclude("a").action == ex.Exclude(("owners",), frozenset({"a"}))
    assert path(Box, lambda box: box.clock).remove().action == ex.Drop(("clock",))


def test_setting_none_removes_the_attribute_unless_the_field_stores_nulls() -> None:
    assert path(Box, lambda box: box.clock).set(None).action == ex.Drop(("clock",))
    assert winner.set(None).action == ex.Assign(("winner",), ex.Literally(None))
    assert path(Game, lambda game: some(game.clock).flag).set(None).action == ex.Assign(
        ("clock", "flag"), ex.Literally(None)
    )


def test_structs_and_enums_are_encoded_as_in_the_entity() -> None:
    edit = path(Box, lambda box: box.clock).set(Clock(60))
    assert edit.action == ex.Assign(("clock",), ex.Literally({"timeLimit": 60, "flag": None}))
    assert path(Move, lambda move: move.side).equals(Side.WHITE).expression == ex.Compare(
        ex.Attribute(("side",)), "=", ex.Literally("WHITE")
    )


def test_values_that_violate_their_field_are_refused() -> None:
    with pytest.raises(WrongType, match=r"Box.item_count: Expected `int` >= 0"):
        count.set(-1)
    with pytest.raises(WrongType, match=r"Game.status: Invalid enum value"):
        status.set("LOST")  # type: ignore[arg-type]
    with pytest.raises(WrongType, match="Box.labels"):
        labels.append(7)  # type: ignore[arg-type]
    for field in (labels, path(Box, lambda box: box.weights)):
        with pytest.raises(WrongType, match="not a number"):
            field.add(1)
    with pytest.raises(WrongType, match="at least one member"):
        owners.include()
    with pytest.raises(WrongType, match="1 to 100 values"):
        count.is_in()
    with pytest.raises(WrongType, match="1 to 100 values"):
        count.is_in(*range(101))


def test_none_is_not_stored_for_a_field_that_is_left_out() -> None:
    weight = path(Box, lambda box: box.weight)
    assert weight.set(None).action == ex.Drop(("weight",))
    with pytest.raises(WrongType, match=r"Box\.weight is left out when it is None"):
        weight.set_if_missing(None)
    assert winner.set_if_missing(None).action == ex.Assign(("winner",), ex.IfMissing(("winner",), ex.Literally(None)))


@pytest.mark.parametrize("by", ["1", None, True, [1]])
def test_only_a_number_can_be_added(by: Any) -> None:
    with pytest.raises(WrongType, match=r"is not a number, so it cannot be added to Box\.item_count"):
        count.add(by)


def test_a_list_cannot_be_a_member_of_a_set() -> None:
    members: Any = ["a"]
    with pytest.raises(WrongType, match="holds strings, numbers or bytes"):
        owners.include(members)


def test_a_required_field_cannot_be_removed() -> None:
    with pytest.raises(BadUpdate, match="the field is required"):
        status.remove()
