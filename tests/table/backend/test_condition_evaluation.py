"""Conditions evaluated on items: types, comparisons, functions, and invalid conditions."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.table.strategies import items, texts, values
from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import ABSENT, check_expression, equal, find, holds
from zataku.table.backend.errors import BadInput, WrongType
from zataku.table.backend.values import Item, Value

A, B = ex.Attribute(("a",)), ex.Attribute(("b",))
SIGNS: tuple[ex.Comparison, ...] = ("=", "<>", "<", "<=", ">", ">=")


def value(literal: Value) -> ex.Literally:
    return ex.Literally(literal)


def signs_that_hold(left: Value, right: Value) -> set[str]:
    return {sign for sign in SIGNS if holds(ex.Compare(A, sign, value(right)), {"a": left})}


def test_a_route_leads_through_maps_and_lists() -> None:
    item: Item = {"players": [{"name": "Aki"}, {"name": "Ben"}], "turn": None}
    assert find(item, ("players", 1, "name")) == "Ben"
    assert find(item, ("turn",)) is None
    for route in [("players", 2), ("players", -1), ("players", "0"), ("turn", "side"), ("missing",), ("players", 0, 0)]:
        assert find(item, route) is ABSENT


@pytest.mark.parametrize(
    ("left", "right", "signs"),
    [
        (1, 1, "= <= >="),
        (1, Decimal("1.5"), "<> < <="),
        (Decimal("-1E-130"), 0, "<> < <="),
        (10, 9, "<> > >="),
        ("10", "9", "<> < <="),
        ("a", "B", "<> > >="),
        ("", "a", "<> < <="),
        ("a", "a\0", "<> < <="),
        ("e\u0301", "é", "<> < <="),
        (b"\x7f", b"\x80", "<> < <="),
        (b"", b"", "= <= >="),
        ("1", 1, "<>"),
        (b"1", "1", "<>"),
        (True, 1, "<>"),
        (True, True, "="),
        (False, True, "<>"),
        (None, None, "="),
        (None, "", "<>"),
        ([1, Decimal("2.5")], [1, Decimal("2.5")], "="),
        ([1, 2], [2, 1], "<>"),
        ([True], [1], "<>"),
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}, "="),
        ({"x": 1}, {"x": 1, "y": None}, "<>"),
        (frozenset({1, 2}), frozenset({2, Decimal(1)}), "="),
        (frozenset({"1"}), frozenset({1}), "<>"),
        (frozenset({"a"}), ["a"], "<>"),
    ],
)
def test_comparisons_hold_within_one_type_only(left: Value, right: Value, signs: str) -> None:
    assert signs_that_hold(left, right) == set(signs.split())


def test_strings_sort_by_their_utf_8_bytes() -> None:
    # U+FFFF comes before any astral character in UTF-8, after it in UTF-16.
    assert signs_that_hold("\uffff", "𝄞") == {"<>", "<", "<="}


def test_a_missing_attribute_differs_from_everything_and_equals_nothing() -> None:
    assert [sign for sign in SIGNS if holds(ex.Compare(A, sign, value(1)), {})] == ["<>"]
    assert [sign for sign in SIGNS if holds(ex.Compare(value(1), sign, A), {})] == ["<>"]
    assert [sign for sign in SIGNS if holds(ex.Compare(A, sign, B), {})] == ["<>"]


def test_two_attributes_of_an_item_can_be_compared() -> None:
    assert holds(ex.Compare(A, "<", B), {"a": 1, "b": 2})
    assert not holds(ex.Compare(A, "<", B), {"a": False, "b": True})


@pytest.mark.parametrize(
    ("low", "middle", "high", "within"),
    [
        (1, 1, 3, True),
        (1, 3, 3, True),
        (1, Decimal("3.1"), 3, False),
        ("a", "b", "c", True),
        (1, "2", 3, False),
        (1, 2, "3", False),
        (3, 2, 1, False),
        (False, True, True, False),
    ],
)
def test_between_includes_both_ends_of_one_type(low: Value, middle: Value, high: Value, within: bool) -> None:
    item = {"a": low, "b": high, "middle": middle}
    assert holds(ex.Between(ex.Attribute(("middle",)), A, B), item) is within


def test_between_fails_when_an_operand_is_missing() -> None:
    between = ex.Between(A, value(1), B)
    assert not holds(between, {"a": 2})
    assert not holds(between, {"b": 3})
    assert holds(ex.Not(between), {})


def test_one_of_compares_type_and_value() -> None:
    options = (value("1"), value(None), B)
    assert holds(ex.OneOf(A, options), {"a": None})
    assert holds(ex.OneOf(A, options), {"a": [1], "b": [1]})
    assert not holds(ex.OneOf(A, options), {"a": 1})
    assert not holds(ex.OneOf(A, options), {})
    assert not holds(ex.OneOf(A, (B,)), {})


def test_a_null_attribute_exists() -> None:
    assert holds(ex.Exists(("a",)), {"a": None})
    assert not holds(ex.Missing(("a",)), {"a": None})
    assert holds(ex.Missing(("a", "b")), {"a": 1})
    assert holds(ex.Missing(("a", 3)), {"a": [1]})


def test_has_type_matches_only_its_own_type() -> None:
    examples: dict[str, Value] = {"S": "", "N": 0, "B": b"", "BOOL": False, "NULL": None, "L": [], "M": {}}
    examples |= {"SS": frozenset({"a"}), "NS": frozenset({1}), "BS": frozenset({b"a"})}
    for kind, example in examples.items():
        matching = {other for other in examples if holds(ex.HasType(("a",), other), {"a": example})}  # type: ignore[arg-type]
        assert matching == {kind}
    assert not holds(ex.HasType(("a",), "NULL"), {})


@pytest.mark.parametrize(
    ("whole", "prefix", "begins"),
    [
        ("MOVE#001", "MOVE#", True),
        ("MOVE#001", "", True),
        ("move", "MOVE", False),
        ("é", "e", False),
        ("e\u0301", "e", True),
        (b"\x00\x01", b"\x00", True),
        ("1", b"1", False),
        (["MOVE#"], "MOVE#", False),
        (None, "", False),
    ],
)
def test_strings_and_bytes_begin_with_a_prefix_of_their_own_type(whole: Value, prefix: Value, begins: bool) -> None:
    assert holds(ex.BeginsWith(("a",), value(prefix)), {"a": whole}) is begins


@pytest.mark.parametrize(
    ("whole", "part", "contains"),
    [
        ("banana", "nan", True),
        ("banana", "", True),
        ("banana", "NAN", False),
        (b"abcd", b"bc", True),
        ("abc", b"b", False),
        ([1, "2"], "2", True),
        ([1, "2"], 2, False),
        ([1], True, False),
        ([[1], {"k": 1}], [1], True),
        ([[1], {"k": 1}], {"k": Decimal(1)}, True),
        ([None], None, True),
        (["banana"], "nan", False),
        ([frozenset({"a"})], frozenset({"a"}), True),
        (frozenset({"a", "b"}), "a", True),
        (frozenset({1, 2}), Decimal("2.0"), True),
        (frozenset({1}), "1", False),
        ({"k": 1}, "k", False),
        (1, 1, False),
        (None, None, False),
    ],
)
def test_strings_contain_parts_and_collections_contain_members(whole: Value, part: Value, contains: bool) -> None:
    assert holds(ex.Contains(("a",), value(part)), {"a": whole}) is contains


def test_contains_accepts_another_attribute_as_operand() -> None:
    assert holds(ex.Contains(("a",), B), {"a": [3], "b": 3})
    assert holds(ex.Contains(("a",), ex.SizeOf(("b",))), {"a": [3], "b": "xyz"})
    assert not holds(ex.Contains(("a",), B), {"a": [None]})


@pytest.mark.parametrize(
    ("measured", "size"),
    [
        ("", 0),
        ("abc", 3),
        ("é𝄞", 3),
        ("日本", 2),
        (b"\x00\xff", 2),
        ([], 0),
        ([1, [2, 3]], 2),
        ({"a": 1}, 1),
        (frozenset({1, 2}), 2),
    ],
)
def test_the_size_of_a_string_counts_utf_16_units_and_of_a_collection_its_members(measured: Value, size: int) -> None:
    assert holds(ex.Compare(ex.SizeOf(("a",)), "=", value(size)), {"a": measured})


@pytest.mark.parametrize("item", [{}, {"a": 1}, {"a": True}, {"a": None}])
def test_a_value_without_a_size_compares_like_a_missing_attribute(item: Item) -> None:
    assert [sign for sign in SIGNS if holds(ex.Compare(ex.SizeOf(("a",)), sign, value(0)), item)] == ["<>"]


@given(values(), values(), values())
def test_equality_is_an_equivalence_relation(first: Value, second: Value, third: Value) -> None:
    assert equal(first, first)
    assert equal(first, second) == equal(second, first)
    if equal(first, second) and equal(second, third):
        assert equal(first, third)


@given(texts(), texts())
def test_exactly_one_of_less_equal_greater_holds_of_two_strings(left: str, right: str) -> None:
    assert len(signs_that_hold(left, right) & {"<", "=", ">"}) == 1


operands = st.one_of(
    st.sampled_from([A, B, ex.Attribute(("a", 0)), ex.Attribute(("b", "c")), ex.SizeOf(("a",)), ex.SizeOf(("b",))]),
    st.builds(ex.Literally, values()),
)
routes = st.sampled_from([("a",), ("b",), ("a", 0), ("b", "c")])
leaves: st.SearchStrategy[Any] = st.one_of(
    st.builds(ex.Compare, operands, st.sampled_from(SIGNS), operands),
    st.builds(ex.Between, operands, operands, operands),
    st.builds(ex.OneOf, operands, st.lists(operands, min_size=1, max_size=3).map(tuple)),
    st.builds(ex.Exists, routes),
    st.builds(ex.Contains, routes, operands),
    st.builds(ex.BeginsWith, routes, st.builds(ex.Literally, texts())),
    st.builds(ex.HasType, routes, st.sampled_from(["S", "N", "L", "M", "SS"])),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(ex.Not, inner),
        st.builds(ex.All, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(ex.Either, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@given(conditions, items())
def test_a_condition_or_its_negation_holds(condition: ex.Expression, item: Item) -> None:
    assert holds(ex.Not(condition), item) is not holds(condition, item)


@given(conditions, conditions, items())
def test_the_negation_of_a_conjunction_is_a_disjunction_of_negations(
    first: ex.Expression, second: ex.Expression, item: Item
) -> None:
    neither = ex.Either((ex.Not(first), ex.Not(second)))
    assert holds(ex.Not(ex.All((first, second))), item) == holds(neither, item)


@pytest.mark.parametrize(
    ("condition", "error"),
    [
        (ex.All(()), BadInput),
        (ex.Not(ex.Either(())), BadInput),
        (ex.OneOf(A, ()), BadInput),
        (ex.OneOf(A, tuple(value(n) for n in range(101))), BadInput),
        (ex.Compare(A, "<", value(True)), WrongType),
        (ex.Compare(value([]), ">=", A), WrongType),
        (ex.Compare(A, "=", A), BadInput),
        (ex.Between(A, value(3), value(1)), BadInput),
        (ex.Between(A, value(1), value("3")), WrongType),
        (ex.Between(A, value(None), value(None)), WrongType),
        (ex.BeginsWith(("a",), value(1)), WrongType),
        (ex.Contains(("a",), A), BadInput),
    ],
)
def test_an_invalid_condition_is_refused(condition: ex.Expression, error: type[BadInput]) -> None:
    for wrapped in (condition, ex.Not(condition), ex.All((ex.Exists(("a",)), condition))):
        with pytest.raises(error):
            check_expression(wrapped)


def test_valid_conditions_are_accepted() -> None:
    check_expression(ex.Compare(A, "=", value(True)))
    check_expression(ex.Compare(A, "<", B))
    check_expression(ex.Between(A, value("a"), value("a")))
    check_expression(ex.Between(A, value(3), B))
    check_expression(ex.OneOf(A, tuple(value(n) for n in range(100))))
    check_expression(ex.Contains(("a",), value([])))
