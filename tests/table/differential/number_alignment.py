"""Numbers whose size dynoxide counts differently, and strategies without them.

DynamoDB keeps a number as pairs of decimal digits that are aligned with the decimal point: 120 is 01|20, two pairs,
although it has two significant digits. AWS documents the size only as "approximately (1 byte per two significant
digits) + (1 byte)" (Developer Guide, "DynamoDB item sizes and formats"). dynalite, whose rules were fitted to the
service, adds a byte for an even number of digits of which the first has an even power of ten, and one for a minus, as
`numbers.size_of` does. dynoxide drops the zeros first and pairs what is left: -417591E+117 has 5 bytes there, 6 here.

The difference shows only where it takes an item over the edge of a unit. Calls without such numbers keep the
comparison of units exact; a sum that becomes one is removed from both stores.
"""

from decimal import Decimal
from typing import Any, cast

from hypothesis import strategies as st

from tests.table import strategies as any_values
from zataku.table.backend.numbers import Number, canonical
from zataku.table.backend.values import Value


def is_counted_alike(number: Number) -> bool:
    """True when dynoxide counts as many bytes: the digits pair up, or there are digits on both sides of the point."""
    if not number:
        return True
    _, digits, exponent = Decimal(number).normalize().as_tuple()
    assert isinstance(exponent, int)
    if -len(digits) < exponent < 0:
        return True
    return len(digits) % 2 == 1 or exponent % 2 == 0


def holds_other_sizes(value: Value) -> bool:
    """True when a number in the value, at any depth, is counted differently."""
    if isinstance(value, dict):
        return any(map(holds_other_sizes, value.values()))
    if isinstance(value, list | frozenset):
        return any(map(holds_other_sizes, cast("list[Any]", value)))
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return False
    return not is_counted_alike(value)


def _counted_alike(number: Number) -> Number:
    """The number, or ten times or a tenth of it where dynoxide would count it differently."""
    if is_counted_alike(number):
        return number
    return canonical(Decimal(number).scaleb(-1 if Decimal(number).adjusted() > 0 else 1))


NUMBERS = any_values.numbers().map(_counted_alike).filter(is_counted_alike)


def numbers() -> st.SearchStrategy[Number]:
    """Numbers of every kind that both stores count alike."""
    return NUMBERS


def scalars() -> st.SearchStrategy[Value]:
    """Any value that contains no other."""
    return any_values.scalars(NUMBERS)


def sets() -> st.SearchStrategy[Value]:
    """Sets of each of the three types, never empty."""
    return any_values.sets(NUMBERS)


def values() -> st.SearchStrategy[Value]:
    """Any value, nested lists and maps included."""
    return any_values.values(NUMBERS)
