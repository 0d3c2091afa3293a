"""Values: types, stored form, nesting limit and sizes."""

from collections import OrderedDict
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType

import pytest
from hypothesis import given

from tests.table.strategies import exactly, items, texts, values
from zataku.table.backend.errors import BadInput, WrongType
from zataku.table.backend.limits import NESTING
from zataku.table.backend.values import Item, Value, item_size, key_type_of, nesting_depth, normalize, size_of, type_of


class Stone(StrEnum):
    BLACK = "black"


class Side(int, Enum):
    FIRST = 1


class Rank(IntEnum):
    SHODAN = 1


class Tag(bytes):
    pass


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "NULL"),
        (True, "BOOL"),
        (1, "N"),
        (Decimal("0.5"), "N"),
        ("1", "S"),
        ("", "S"),
        (b"1", "B"),
        ([], "L"),
        ({}, "M"),
        (frozenset({"a"}), "SS"),
        (frozenset({1, Decimal("0.5")}), "NS"),
        (frozenset({b"a"}), "BS"),
    ],
)
def test_every_value_has_one_type(value: Value, kind: str) -> None:
    assert type_of(value) == kind


@pytest.mark.parametrize("value", [1.5, (1,), {1}, object(), frozenset(), frozenset({"a", 1}), frozenset({None})])
def test_a_value_that_is_not_in_stored_form_has_no_type(value: object) -> None:
    with pytest.raises(WrongType):
        type_of(value)


def test_only_strings_numbers_and_bytes_are_keys() -> None:
    assert [key_type_of(value) for value in ("a", 1, Decimal("0.5"), b"a")] == ["S", "N", "N", "B"]
    assert [key_type_of(value) for value in (True, None, [], {}, frozenset({"a"}), 1.5)] == [None] * 6


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ((1, 2), [1, 2]),
        (57.25, Decimal("57.25")),
        ({"a": 1.0}, {"a": 1}),
        ({1, 2.0}, frozenset({1, 2})),
        (OrderedDict(a=(True,)), {"a": [True]}),
        (MappingProxyType({"a": None}), {"a": None}),
        (Stone.BLACK, "black"),
        ({Stone.BLACK: {Stone.BLACK}}, {"black": frozenset({"black"})}),
        (Side.FIRST, 1),
        (Rank.SHODAN, 1),
        (Tag(b"a"), b"a"),
    ],
)
def test_normalize_returns_the_stored_form(value: object, stored: Value) -> None:
    form = normalize(value)
    assert form == stored
    assert str(form) == str(stored)
    assert type_of(form) == type_of(stored)


@pytest.mark.parametrize(
    "value",
    [object(), {1: "a"}, set(), {"a", 1}, {("a",)}, {None}, {True, 2}, {frozenset({1})}, bytearray(b"a"), 1j],
)
def test_a_value_of_an_unsupported_type_is_refused(value: object) -> None:
    with pytest.raises(WrongType):
        normalize(value)


@pytest.mark.parametrize("value", ["\ud834", ["a\udd1e"], {"\ud834": 1}, {"\ud834"}])
def test_a_lone_surrogate_is_refused(value: object) -> None:
    with pytest.raises(WrongType, match="whole characters"):
        normalize(value)


@given(items())
def test_the_stored_form_of_a_stored_value_is_itself(item: Item) -> None:
    assert exactly(normalize(item)) == exactly(item)


def nested(levels: int, innermost: Value) -> Value:
    value = innermost
    for _ in range(levels - 1):
        value = {"n": value} if levels % 2 else [value]
    return value


@pytest.mark.parametrize("innermost", ["leaf", frozenset({1}), [], {}])
def test_a_value_has_at_most_32_levels_including_the_attribute(innermost: Value) -> None:
    deepest = nested(NESTING, innermost)
    assert normalize(deepest) == deepest
    assert nesting_depth(deepest) == NESTING
    with pytest.raises(BadInput, match="32 levels"):
        normalize(nested(NESTING + 1, innermost))


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (None, 1),
        (True, 1),
        ("", 0),
        ("abc", 3),
        ("é", 2),
        ("e\u0301", 3),
        ("日本", 6),
        ("𝄞", 4),
        ("a\0b", 3),
        (b"\x00\xff", 2),
        ([], 3),
        ({}, 3),
        (["aa"], 3 + 1 + 2),
        ({"k": "v"}, 3 + 1 + 1 + 1),
        ([[]], 3 + 1 + 3),
        (frozenset({"a", "bc"}), 3),
        (frozenset({1, 100}), 4),
        (frozenset({b"a", b"bcd"}), 4),
    ],
)
def test_sizes_follow_the_published_rules(value: Value, size: int) -> None:
    assert size_of(value) == size


def test_the_size_of_a_book_equals_that_of_the_aws_labs_calculator() -> None:
    book = {
        "Id": 101,
        "Title": "Book 101 Title",
        "ISBN": "111-1111111111",
        "Authors": ["Author1"],
        "Price": 2,
        "Dimensions": "8.5 x 11.0 x 0.5",
        "PageCount": 500,
        "InPublication": True,
        "ProductCategory": "Book",
    }
    assert item_size(book) == 137


def test_the_size_of_a_person_equals_that_of_a_public_calculator() -> None:
    person = {
        "id": "f0ba8d6c",
        "fullName": "Zac Charles",
        "isAdmin": True,
        "favouriteNumber": Decimal("-1E-130"),
        "foods": frozenset({"pizza", "burger"}),
    }
    assert item_size(person) == 71


def test_attribute_names_are_measured_in_utf_8_bytes() -> None:
    assert item_size({"手番": "先手"}) == 12


@given(values(), values())
def test_a_list_takes_three_bytes_and_one_more_per_member(first: Value, second: Value) -> None:
    assert size_of([first, second]) == 3 + 1 + size_of(first) + 1 + size_of(second)


@given(texts(), values())
def test_an_item_takes_the_bytes_of_its_names_and_values(name: str, value: Value) -> None:
    assert item_size({name: value}) == len(name.encode()) + size_of(value)
