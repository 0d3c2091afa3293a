"""Item sizes computed in one pass equal those of `item_size`."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from zataku.table.backend.values import item_size, normalize
from zataku.table.embedded.rows import UpdatedRow, measure, measure_update

numbers = st.integers(-(10**37), 10**37) | st.integers(-20, 200).map(lambda n: n * 100) | st.floats(-1e9, 1e9, width=32)
scalars = st.none() | st.booleans() | st.text(max_size=20) | st.binary(max_size=20) | numbers | st.just(Decimal("1.50"))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=10), values, max_size=6))
def test_measuring_an_item_returns_its_stored_form_and_size(item: dict) -> None:
    stored = normalize(item)
    assert measure(item) == (stored, item_size(stored))


@given(
    st.dictionaries(st.sampled_from("abcdé"), values, max_size=5),
    st.dictionaries(st.sampled_from("abcdé"), values, max_size=3),
    st.frozensets(st.sampled_from("abcdé"), max_size=2),
)
def test_measuring_only_the_changed_attributes_gives_the_size_of_the_item(
    old: dict, new: dict, removed: frozenset[str]
) -> None:
    stored, size = measure(old)
    after = {name: value for name, value in (stored | new).items() if name not in removed}
    before = UpdatedRow(stored, size, b"", b"", frozenset(new) | removed)
    assert measure_update(after, before) == measure(after)
