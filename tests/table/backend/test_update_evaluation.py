"""Updates applied to items: assignments, removals, sums, lists, sets and invalid paths."""

from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.table.strategies import exactly, items, numbers, sets, values
from zataku.table.backend import expression as ex
from zataku.table.backend.errors import BadInput, BadNumber, BadUpdate, TableError
from zataku.table.backend.limits import NESTING
from zataku.table.backend.update_evaluation import apply_update, check_overlaps, deep_copy
from zataku.table.backend.values import Item, Value


def put(*route: str | int, to: Value) -> ex.Assign:
    return ex.Assign(route, ex.Literally(to))


def drop(*route: str | int) -> ex.Drop:
    return ex.Drop(route)


def test_values_are_assigned_at_the_top_level_and_in_nested_values() -> None:
    item: Item = {"a": 1, "m": {"x": [1, 2]}}
    assert apply_update((put("a", to=2), put("b", to=None)), item) == {"a": 2, "b": None, "m": {"x": [1, 2]}}
    assert apply_update((put("m", "y", to=3), put("m", "x", 0, to=9)), item) == {"a": 1, "m": {"x": [9, 2], "y": 3}}


def test_every_operand_is_read_from_the_item_before_the_update() -> None:
    swap = (ex.Assign(("a",), ex.Attribute(("b",))), ex.Assign(("b",), ex.Attribute(("a",))))
    assert apply_update(swap, {"a": 1, "b": 2}) == {"a": 2, "b": 1}
    counted = (put("a", to=100), ex.Assign(("b",), ex.Sum(ex.Attribute(("a",)), ex.Literally(1))), drop("c"))
    assert apply_update(counted, {"a": 1, "c": 0}) == {"a": 100, "b": 2}


def test_an_index_past_the_end_of_a_list_appends() -> None:
    assert apply_update((put("a", 5, to="x"),), {"a": [0, 1]}) == {"a": [0, 1, "x"]}
    assert apply_update((put("a", 0, to="x"),), {"a": []}) == {"a": ["x"]}


def test_several_indexes_past_the_end_append_in_ascending_order() -> None:
    assert apply_update((put("a", 9, to="nine"), put("a", 5, to="five")), {"a": [0]}) == {"a": [0, "five", "nine"]}
    assert apply_update((put("a", 10, to="ten"), put("a", 9, to="nine")), {"a": []}) == {"a": ["nine", "ten"]}


def test_removed_list_indexes_refer_to_the_list_before_the_update() -> None:
    tools: Item = {"tools": ["Chisel", "Hammer", "Nails", "Screwdriver", "Hacksaw"]}
    assert apply_update((drop("tools", 1), drop("tools", 2)), tools) == {"tools": ["Chisel", "Screwdriver", "Hacksaw"]}
    assert apply_update((drop("tools", 4), drop("tools", 0), drop("tools", 99)), tools) == {
        "tools": ["Hammer", "Nails", "Screwdriver"]
    }
    tens: Item = {"a": list(range(12))}
    assert apply_update((drop("a", 2), drop("a", 10)), tens) == {"a": [0, 1, 3, 4, 5, 6, 7, 8, 9, 11]}


def test_assigned_and_removed_list_indexes_refer_to_the_list_before_the_update() -> None:
    assert apply_update((drop("a", 0), put("a", 1, to="x")), {"a": [0, 1, 2]}) == {"a": ["x", 2]}
    assert apply_update((drop("a", 0), put("a", 7, to="x")), {"a": [0, 1]}) == {"a": [1, "x"]}


def test_a_removed_list_index_is_never_that_of_an_element_which_the_update_appends() -> None:
    assert apply_update((drop("a", 0), put("a", 2, to="x")), {"a": []}) == {"a": ["x"]}
    assert apply_update((drop("a", 1), put("a", 7, to="x")), {"a": [0]}) == {"a": [0, "x"]}


def test_removing_a_missing_value_changes_nothing() -> None:
    assert apply_update((drop("missing"), drop("m", "missing"), drop("l", 3)), {"m": {}, "l": [1]}) == {
        "m": {},
        "l": [1],
    }


@pytest.mark.parametrize(
    "action",
    [
        put("missing", "x", to=1),
        put("missing", 0, to=1),
        put("n", "x", to=1),
        put("m", 0, to=1),
        put("l", "x", to=1),
        put("m", "missing", "x", to=1),
        drop("missing", "x"),
        drop("n", 0),
        drop("m", "missing", "x"),
        ex.Increase(("missing", "x"), 1),
        ex.Include(("missing", "x"), frozenset({"a"})),
        ex.Exclude(("missing", "x"), frozenset({"a"})),
        ex.Assign(("x",), ex.Attribute(("missing",))),
        ex.Assign(("x",), ex.Attribute(("l", 9))),
    ],
)
def test_a_path_through_a_missing_value_is_refused(action: ex.Action) -> None:
    with pytest.raises(BadUpdate):
        apply_update((action,), {"n": 1, "m": {}, "l": [1]})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (put("a", to=1), drop("a")),
        (put("a", to=1), put("a", to=1)),
        (put("a", "b", to=1), drop("a")),
        (ex.Increase(("a", 0, "n"), 1), put("a", 0, to={})),
        (ex.Include(("s",), frozenset({"a"})), ex.Exclude(("s",), frozenset({"b"}))),
    ],
)
def test_overlapping_paths_are_refused_in_either_order(first: ex.Action, second: ex.Action) -> None:
    for actions in ((first, second), (second, first)):
        with pytest.raises(BadUpdate, match="overlap"):
            check_overlaps(actions)


@pytest.mark.parametrize("action", [put("l", -1, to=1), drop("l", -1), put("m", "l", -2, to=1)])
def test_a_negative_list_index_is_refused(action: ex.Action) -> None:
    with pytest.raises(BadUpdate, match="counts from the end"):
        check_overlaps((action,))


def test_neighbouring_paths_do_not_overlap() -> None:
    neighbours = (put("a", "b", to=1), put("a", "bc", to=2), put("ab", to=3))
    check_overlaps(neighbours)
    assert apply_update(neighbours, {"a": {}}) == {
        "a": {"b": 1, "bc": 2},
        "ab": 3,
    }


def test_one_attribute_cannot_be_a_map_and_a_list() -> None:
    with pytest.raises(BadUpdate):
        apply_update((put("a", "b", to=1), put("a", 0, to=1)), {"a": {}})


def test_adding_to_a_missing_number_starts_at_zero() -> None:
    assert apply_update((ex.Increase(("n",), 5),), {}) == {"n": 5}
    assert apply_update((ex.Increase(("m", "n"), Decimal("0.5")),), {"m": {"n": 1}}) == {"m": {"n": Decimal("1.5")}}
    assert apply_update((ex.Increase(("n",), Decimal("-0.5")),), {"n": Decimal("0.5")}) == {"n": 0}


def test_sums_keep_all_38_digits_or_are_refused() -> None:
    total = ex.Assign(("n",), ex.Sum(ex.Attribute(("n",)), ex.Literally(10**36)))
    assert apply_update((total,), {"n": Decimal("0.1")}) == {"n": Decimal("1000000000000000000000000000000000000.1")}
    assert apply_update((ex.Increase(("n",), 10**36),), {"n": Decimal("0.1")}) == apply_update(
        (total,), {"n": Decimal("0.1")}
    )
    with pytest.raises(BadNumber):
        apply_update((ex.Increase(("n",), 10**37),), {"n": Decimal("0.12")})


@pytest.mark.parametrize(
    "action",
    [
        ex.Increase(("text",), 1),
        ex.Increase(("null",), 1),
        ex.Assign(("x",), ex.Sum(ex.Attribute(("text",)), ex.Literally(1))),
        ex.Assign(("x",), ex.Sum(ex.Literally(True), ex.Literally(1))),
        ex.Assign(("x",), ex.Joined(ex.Attribute(("strings",)), ex.Literally([1]))),
        ex.Assign(("x",), ex.Joined(ex.Literally([1]), ex.Attribute(("text",)))),
        ex.Include(("strings",), frozenset({1})),
        ex.Include(("list",), frozenset({"a"})),
        ex.Exclude(("strings",), frozenset({b"a"})),
        ex.Exclude(("null",), frozenset({"a"})),
    ],
)
def test_an_action_on_a_value_of_the_wrong_type_is_refused(action: ex.Action) -> None:
    with pytest.raises(BadUpdate):
        apply_update((action,), {"text": "1", "null": None, "list": ["a"], "strings": frozenset({"a"})})


def test_if_missing_returns_an_existing_null() -> None:
    assign = ex.Assign(("x",), ex.IfMissing(("a", "b"), ex.Literally("default")))
    assert apply_update((assign,), {"a": {"b": None}})["x"] is None
    assert apply_update((assign,), {"a": 1})["x"] == "default"


def test_lists_can_be_joined_at_either_end() -> None:
    log = ex.IfMissing(("log",), ex.Literally([]))
    assert apply_update((ex.Assign(("log",), ex.Joined(log, ex.Literally(["b"]))),), {}) == {"log": ["b"]}
    assert apply_update((ex.Assign(("log",), ex.Joined(ex.Literally(["b"]), log)),), {"log": ["a"]}) == {
        "log": ["b", "a"]
    }


def test_include_and_exclude_change_a_set_and_an_empty_set_is_removed() -> None:
    grown = apply_update((ex.Include(("s",), frozenset({"b", "c"})),), {"s": frozenset({"a", "b"})})
    assert grown == {"s": frozenset("abc")}
    assert apply_update((ex.Include(("s",), frozenset({1})),), {}) == {"s": frozenset({1})}
    assert apply_update((ex.Exclude(("s",), frozenset({"a", "z"})),), grown) == {"s": frozenset("bc")}
    assert apply_update((ex.Exclude(("s",), frozenset("abc")),), grown) == {}
    assert apply_update((ex.Exclude(("s",), frozenset("abc")),), {}) == {}
    assert apply_update((ex.Exclude(("m", "s"), frozenset("a")),), {"m": {"s": frozenset("a")}}) == {"m": {}}


def test_removing_an_empty_set_from_a_list_does_not_shift_other_assignments() -> None:
    item: Item = {"l": [frozenset("a"), 1]}
    assert apply_update((ex.Exclude(("l", 0), frozenset("a")), put("l", 1, to=2)), item) == {"l": [2]}


def test_an_update_cannot_nest_deeper_than_32_levels() -> None:
    value: Value = "leaf"
    for _ in range(NESTING - 2):
        value = [value]
    assert apply_update((put("m", "deep", to=value),), {"m": {}})["m"]["deep"] == value
    with pytest.raises(BadInput, match="32 levels"):
        apply_update((put("m", "deep", to=[value]),), {"m": {}})
    with pytest.raises(BadInput, match="32 levels"):
        apply_update((ex.Assign(("m", "copy"), ex.Attribute(("v",))),), {"m": {}, "v": [value]})


def test_an_update_without_actions_returns_a_copy() -> None:
    item: Item = {"m": {"l": [1]}}
    copy = apply_update((), item)
    assert copy == item
    assert copy["m"]["l"] is not item["m"]["l"]


routes = st.sampled_from([("a",), ("b",), ("c",), ("a", 0), ("a", 2), ("a", 7), ("b", "x"), ("c", "x", 1)])
literals = st.builds(ex.Literally, values())
plain = st.one_of(literals, st.builds(ex.Attribute, routes), st.builds(ex.IfMissing, routes, literals))
actions: st.SearchStrategy[Any] = st.one_of(
    st.builds(ex.Assign, routes, st.one_of(plain, st.builds(ex.Sum, plain, plain), st.builds(ex.Joined, plain, plain))),
    st.builds(ex.Drop, routes),
    st.builds(ex.Increase, routes, numbers()),
    st.builds(ex.Include, routes, sets()),
    st.builds(ex.Exclude, routes, sets()),
)


def container_ids(value: Value) -> set[int]:
    """The identities of all lists and maps in a value."""
    if isinstance(value, dict):
        return {id(value)}.union(*map(container_ids, value.values()))
    if isinstance(value, list):
        return {id(value)}.union(*map(container_ids, value))
    return set()


@given(st.lists(actions, max_size=3).map(tuple), items())
def test_an_update_never_changes_its_argument(changes: tuple[ex.Action, ...], item: Item) -> None:
    before = deepcopy(item)
    literals_used = [
        action.value.value for action in changes if isinstance(getattr(action, "value", None), ex.Literally)
    ]
    try:
        after = apply_update(changes, item)
    except TableError:
        after = {}
    assert exactly(item) == exactly(before)
    assert not container_ids(after) & container_ids(item)
    assert not any(container_ids(after) & container_ids(value) for value in literals_used)


@given(values())
def test_a_deep_copy_is_equal_and_shares_no_container(value: Value) -> None:
    copy = deep_copy(value)
    assert exactly(copy) == exactly(value)
    assert not container_ids(copy) & container_ids(value)
