"""The quick measure of an item says what the slow one says."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from zataku.table.embedded.rows import measured
from zataku.table.values import item_size, normalised

numbers = st.integers(-(10**37), 10**37) | st.integers(-20, 200).map(lambda n: n * 100) | st.floats(-1e9, 1e9, width=32)
scalars = st.none() | st.booleans() | st.text(max_size=20) | st.binary(max_size=20) | numbers | st.just(Decimal("1.50"))
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner))


@given(st.dictionaries(st.text(max_size=10), values, max_size=6))
def test_an_item_is_measured_as_the_rules_say(item: dict) -> None:
    stored = normalised(item)
    assert measured(item) == (stored, item_size(stored))
