"""Numbers: canonical form, limits, sortable bytes, sizes and sums."""

from decimal import Decimal

import pytest
from hypothesis import given

from tests.table.strategies import decimals, numbers
from zataku.table.backend.errors import BadNumber
from zataku.table.backend.numbers import Number, added, canonical, size_of, sortable

LARGEST = Decimal("9." + "9" * 37 + "E+125")


@pytest.mark.parametrize(
    ("number", "stored"),
    [
        (1.0, 1),
        (Decimal("1.500"), Decimal("1.5")),
        (Decimal("-0"), 0),
        (-0.0, 0),
        (Decimal("0E-10"), 0),
        (Decimal("1E+3"), 1000),
        (0.1, Decimal("0.1")),
        (57.25, Decimal("57.25")),
        (1e22, 10**22),
        (Decimal("1E-130"), Decimal("1E-130")),
        (10**125, 10**125),
        (10**40, 10**40),
        (True, 1),
        (12345678901234567890123456789012345678, 12345678901234567890123456789012345678),
    ],
)
def test_each_number_has_one_stored_form(number: float | Decimal, stored: Number) -> None:
    form = canonical(number)
    assert (form, type(form), str(form)) == (stored, type(stored), str(stored))


@pytest.mark.parametrize("number", [LARGEST, LARGEST.copy_negate(), Decimal("1E-130"), Decimal("-1E-130")])
def test_the_largest_and_smallest_numbers_are_exact(number: Decimal) -> None:
    assert canonical(number) == number


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        (Decimal("sNaN"), "finite"),
        (10**38 + 1, "38 digits"),
        (Decimal("0." + "1" * 39), "38 digits"),
        (10**126, "range"),
        pytest.param(10**5000, "range", id="5001 digits"),
        (Decimal("1E+999999"), "range"),
        (Decimal("1E-131"), "range"),
        (Decimal("9.9E-131"), "range"),
        (Decimal("1E-999999"), "range"),
    ],
)
def test_a_number_outside_the_limits_is_refused_and_not_rounded(number: float | Decimal, message: str) -> None:
    with pytest.raises(BadNumber, match=message):
        canonical(number)


@given(numbers())
def test_the_stored_form_of_a_stored_number_is_itself(number: Number) -> None:
    form = canonical(number)
    assert (form, type(form), str(form)) == (number, type(number), str(number))


@given(numbers())
def test_exactly_the_whole_numbers_are_ints(number: Number) -> None:
    exponent = Decimal(number).as_tuple().exponent
    assert isinstance(number, int) == (exponent == 0)


def opposite(number: Number) -> Number:
    return canonical(Decimal(number).copy_negate())


def in_order(left: Number, right: Number) -> bool:
    return (sortable(left) < sortable(right)) == (left < right) and (sortable(left) == sortable(right)) == (
        left == right
    )


@given(numbers(), numbers())
def test_the_sortable_bytes_have_the_order_of_the_numbers(left: Number, right: Number) -> None:
    assert in_order(left, right)


@given(decimals())
def test_numbers_that_differ_in_one_digit_or_exponent_sort_by_value(number: Number) -> None:
    sign, digits, exponent = Decimal(number).as_tuple()
    assert isinstance(exponent, int)
    longer = Decimal((sign, (*digits, 1), exponent - 1))
    tenfold = Decimal((sign, digits, exponent + 1))
    for neighbour in (longer, tenfold, opposite(number), 0):
        assert in_order(number, neighbour)


def test_numbers_of_every_magnitude_sort_by_their_bytes() -> None:
    steps = ["1E-130", "1.1E-130", "9E-130", "1E-129", "0.001", "0.01", "0.099", "0.1", "0.11", "0.2", "0.9", "0.99"]
    steps += [
        "1",
        "1.01",
        "1.1",
        "2",
        "9",
        "9.9",
        "10",
        "10.1",
        "11",
        "99",
        "100",
        "101",
        "110",
        "1E+125",
        str(LARGEST),
    ]
    ladder = [opposite(Decimal(step)) for step in reversed(steps)] + [0] + [canonical(Decimal(s)) for s in steps]
    assert sorted(ladder, key=sortable) == ladder
    assert len({sortable(number) for number in ladder}) == len(ladder)


# Measured on Amazon DynamoDB at the 400 KB limit, where one byte decides whether an item is accepted.
@pytest.mark.parametrize(
    ("number", "size"),
    [
        ("0", 1),
        ("1", 2),
        ("12", 2),
        ("123", 3),
        ("1234", 3),
        ("12345678901234567890123456789012345678", 20),
        ("0042", 2),
        ("100", 2),
        ("1010", 3),
        ("0.0000001", 2),
        ("1E125", 2),
        ("1E-100", 2),
        ("1.5", 3),
        ("15", 2),
        ("1.2", 3),
        ("1.200", 3),
        ("1.234", 4),
        ("3.14159", 5),
        ("123456", 4),
        ("100.5", 4),
        ("0.15", 2),
        ("-42", 3),
        ("-0", 1),
    ],
)
def test_sizes_equal_those_measured_on_amazon_dynamodb(number: str, size: int) -> None:
    assert size_of(canonical(Decimal(number))) == size


@pytest.mark.parametrize(("number", "size"), [("27", 2), ("-27", 3), ("461", 3), ("1786461547", 6), ("-1E-130", 3)])
def test_sizes_equal_those_of_the_documented_examples(number: str, size: int) -> None:
    assert size_of(canonical(Decimal(number))) == size


@pytest.mark.parametrize(
    ("number", "size"),
    [("417591E+116", 4), ("417591E+117", 5), ("-417591E+116", 5), ("-417591E+117", 6), ("41759.1", 5), ("4175.91", 4)],
)
def test_digits_pair_up_from_the_decimal_point(number: str, size: int) -> None:
    assert size_of(canonical(Decimal(number))) == size


@given(decimals())
def test_no_number_takes_more_than_21_bytes(number: Number) -> None:
    digits = len(str(number).lstrip("-").split("E")[0].replace(".", "").strip("0"))
    assert (digits + 1) // 2 + 1 <= size_of(number) <= 21


def test_adding_keeps_every_digit() -> None:
    assert added(10**36, Decimal("0.1")) == Decimal("1000000000000000000000000000000000000.1")
    assert added(Decimal("0.1"), Decimal("0.2")) == Decimal("0.3")
    total = added(Decimal("0.5"), Decimal("0.5"))
    assert (total, type(total)) == (1, int)


@pytest.mark.parametrize(
    ("left", "right"),
    [(10**37, Decimal("0.1")), (10**125, Decimal("1E-130")), (9 * 10**125, 9 * 10**125)],
)
def test_a_sum_outside_the_limits_is_refused(left: Number, right: Number) -> None:
    with pytest.raises(BadNumber):
        added(left, right)


@given(numbers(), numbers())
def test_a_sum_is_exact_or_refused(left: Number, right: Number) -> None:
    try:
        total = added(left, right)
    except BadNumber:
        return
    assert added(total, opposite(left)) == right
