"""Arbitrary numbers, values and items as a table may hold them."""

from decimal import Decimal

from hypothesis import strategies as st

from zataku.table.backend.numbers import Number, canonical
from zataku.table.backend.values import Item, Value


@st.composite
def decimals(draw: st.DrawFn) -> Number:
    """Any number of a table: up to 38 digits, from 1E-130 to 9.9E+125, negative ones too."""
    digits = draw(st.integers(1, 38).flatmap(lambda count: st.integers(10 ** (count - 1), 10**count - 1)))
    magnitude = draw(st.one_of(st.integers(-130, 125), st.integers(-5, 5)))
    sign = draw(st.sampled_from((0, 1)))
    text = str(digits)
    return canonical(Decimal((sign, tuple(map(int, text)), magnitude - len(text) + 1)))


def numbers() -> st.SearchStrategy[Number]:
    """Numbers of every kind: small ones, the edges of machine integers, decimals, exact values of floats."""
    edges = st.sampled_from([edge + step for edge in (0, 2**31, 2**53, 2**63, 2**64, -(2**63)) for step in (-1, 0, 1)])
    fractions = st.floats(-1e100, 1e100, allow_subnormal=False).filter(lambda f: not f or abs(f) > 1e-100)
    return st.one_of(st.integers(-1000, 1000), edges, decimals(), fractions.map(canonical))


def texts() -> st.SearchStrategy[str]:
    """Strings with the difficult cases of Unicode except lone surrogates."""
    difficult = st.sampled_from(
        ["", "\0", "a\0b", "é", "e\u0301", "が", "か\u3099", "𝄞", "\uffff", "👩‍🎨", "1", "True"]
    )
    return st.one_of(difficult, st.text(max_size=12))


def scalars(number: st.SearchStrategy[Number] | None = None) -> st.SearchStrategy[Value]:
    """Any value that contains no other; `number` gives the numbers among them."""
    return st.one_of(st.none(), st.booleans(), numbers() if number is None else number, texts(), st.binary(max_size=12))


def sets(number: st.SearchStrategy[Number] | None = None) -> st.SearchStrategy[Value]:
    """Sets of each of the three types, never empty."""
    members = (texts(), numbers() if number is None else number, st.binary())
    return st.one_of(*(st.frozensets(kind, min_size=1, max_size=5) for kind in members))


def values(number: st.SearchStrategy[Number] | None = None) -> st.SearchStrategy[Value]:
    """Any value, nested lists and maps included."""
    return st.recursive(
        st.one_of(scalars(number), sets(number)),
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts(), inner, max_size=4)),
        max_leaves=12,
    )


def items() -> st.SearchStrategy[Item]:
    """Any item."""
    return st.dictionaries(st.one_of(st.sampled_from("abcd"), texts()), values(), max_size=6)


def exactly(value: Value) -> object:
    """The value with its types spelt out, so that True is not 1 and 1 is not Decimal(1)."""
    if isinstance(value, dict):
        return {name: exactly(part) for name, part in value.items()}
    if isinstance(value, list):
        return [exactly(part) for part in value]
    if isinstance(value, frozenset):
        return frozenset(exactly(member) for member in value)
    return type(value).__name__, str(value)
