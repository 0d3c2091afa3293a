"""Bounds as conditions: a condition holds exactly where the edited item can be read back."""

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from zataku.table import (
    BadNumber,
    BadUpdate,
    Edit,
    Entity,
    ItemUnreadable,
    Table,
    UnknownAttribute,
    WrongType,
    path,
    some,
)
from zataku.table.backend import expression as ex
from zataku.table.backend.condition_evaluation import broken_bound, check_expression, holds
from zataku.table.backend.expression_strings import Expressions
from zataku.table.backend.update_evaluation import apply_update
from zataku.table.schema.entity import binding_of
from zataku.table.store import write_requests

crates = Table("Crates", pk="id")


@crates.entity(pk="{id}")
class Crate(Entity, frozen=True, kw_only=True):
    """Bounds of every kind on small values, so that they are often met."""

    id: str = "x"
    whole: Annotated[int, Meta(ge=-3, le=3)] | None = None
    inner: Annotated[int, Meta(gt=-3, lt=3)] | None = None
    real: Annotated[float, Meta(gt=-1.5, lt=1.5)] | None = None
    tenths: Annotated[float, Meta(ge=0.1, le=0.3)] | None = None
    halves: Annotated[float, Meta(ge=0, multiple_of=0.5)] | None = None
    exact_tenths: Annotated[float, Meta(multiple_of=0.1)] | None = None
    large: Annotated[float, Meta(gt=0, le=1e300)] | None = None
    mixed: Annotated[int, Meta(ge=0)] | Annotated[float, Meta(le=5)] | None = None
    items: Annotated[list[int], Meta(min_length=1, max_length=3)] | None = None
    members: Annotated[frozenset[str], Meta(max_length=3)] | None = None
    team: Annotated[frozenset[str], Meta(min_length=2, max_length=4)] | None = None
    names: Annotated[dict[Annotated[str, Meta(max_length=2)], int], Meta(min_length=1, max_length=3)] | None = None
    pair: tuple[int, str] | None = None


whole = path(Crate, lambda it: some(it.whole))
inner = path(Crate, lambda it: some(it.inner))
real = path(Crate, lambda it: some(it.real))
tenths = path(Crate, lambda it: some(it.tenths))
halves = path(Crate, lambda it: some(it.halves))
exact_tenths = path(Crate, lambda it: some(it.exact_tenths))
large = path(Crate, lambda it: some(it.large))
mixed = path(Crate, lambda it: some(it.mixed))
items = path(Crate, lambda it: some(it.items))
members = path(Crate, lambda it: some(it.members))
team = path(Crate, lambda it: some(it.team))

letters = st.sampled_from("abcdef")
small = st.integers(-7, 7)
reals = st.sampled_from([-3.0, -1.5, -0.5, -0.1, 0.0, 0.1, 0.2, 0.3, 1.25, 1.4999999999999998, 1.5])


def sets(least: int, most: int) -> st.SearchStrategy[frozenset[str] | None]:
    return st.none() | st.frozensets(letters, min_size=least, max_size=most)


stored_crates = st.builds(
    Crate,
    whole=st.none() | st.integers(-3, 3),
    inner=st.none() | st.integers(-2, 2),
    real=st.none() | st.sampled_from([-1.4999999999999998, -0.5, 0.0, 1.25, 1.4999999999999998]),
    tenths=st.none() | st.sampled_from([0.1, 0.2, 0.3]),
    halves=st.none() | st.sampled_from([0.0, 0.5, 2.0]),
    mixed=st.none() | st.sampled_from([0, 2, 5]),
    items=st.none() | st.lists(small, min_size=1, max_size=3),
    members=st.none() | st.frozensets(letters, min_size=1, max_size=3),
    team=sets(2, 4),
    names=st.none() | st.dictionaries(letters, small, min_size=1, max_size=3),
)

member_lists = st.lists(letters, min_size=1, max_size=3, unique=True)
exact_edits = st.one_of(
    st.builds(whole.add, small),
    st.builds(inner.add, small),
    st.builds(real.add, reals),
    st.builds(tenths.add, reals),
    st.builds(halves.add, st.sampled_from([-1.0, -0.5, 0.5])),
    st.builds(lambda values: items.append(*values), st.lists(small, max_size=3)),
    st.builds(lambda values: items.prepend(*values), st.lists(small, max_size=3)),
    st.builds(lambda values: members.include(*values), member_lists),
    st.builds(lambda values: members.exclude(*values), member_lists),
    st.builds(lambda values: team.include(*values), member_lists),
)
name_edits = st.dictionaries(letters, st.booleans(), min_size=1, max_size=4)


def fits(item: dict[str, Any]) -> bool:
    """True when the item is read back."""
    try:
        binding_of(Crate).decode(item)
    except ItemUnreadable:
        return False
    return True


def condition_and_result(crate: Crate, *edits: Edit[Crate]) -> tuple[bool, dict[str, Any]]:
    write = write_requests.update(crates.schema(), Crate.key(id="x"), edits, None, 0.0)
    item = binding_of(Crate).encode(crate)
    assert write.condition is not None
    return holds(write.condition, item), apply_update(write.actions, item)


@given(stored_crates, exact_edits)
def test_an_edit_passes_exactly_where_its_result_can_be_read(crate: Crate, edit: Edit[Crate]) -> None:
    passes, result = condition_and_result(crate, edit)
    assert passes == fits(result)


@given(stored_crates, st.frozensets(letters, min_size=1, max_size=4))
def test_excluding_members_passes_where_the_rest_can_be_read_and_is_not_empty(
    crate: Crate, excluded: frozenset[str]
) -> None:
    passes, result = condition_and_result(crate, team.exclude(*excluded))
    assert passes == (fits(result) and (crate.team is None or "team" in result))


@given(stored_crates.filter(lambda crate: crate.names is not None), name_edits)
def test_edits_of_several_members_of_a_map_never_leave_its_bounds(crate: Crate, changes: dict[str, bool]) -> None:
    edits: list[Edit[Crate]] = []
    for name, removes in changes.items():
        member = path(Crate, lambda it, name=name: some(it.names)[name])
        edits.append(member.remove() if removes else member.set(0))
    passes, result = condition_and_result(crate, *edits)
    # Additions and removals in one update are not set off against each other.
    assert not passes or fits(result)
    if len(set(changes.values())) == 1:
        assert passes == fits(result)


@given(stored_crates, st.frozensets(letters, min_size=1, max_size=6), st.booleans())
def test_many_members_at_once_never_leave_the_bounds(crate: Crate, chosen: frozenset[str], includes: bool) -> None:
    if includes and len(chosen) > 4:
        return
    edit = team.include(*chosen) if includes else team.exclude(*chosen)
    passes, result = condition_and_result(crate, edit)
    assert not passes or fits(result)


@given(st.floats(-1e20, 1e20), st.floats(-1e20, 1e20))
def test_a_sum_of_floats_is_always_read_back(start: float, by: float) -> None:
    try:
        passes, result = condition_and_result(Crate(large=abs(start) or 1.0), large.add(by))
    except BadNumber:
        return  # More than 38 digits: every store refuses to round.
    assert passes == fits(result)


def test_limits_that_no_table_can_hold_are_rounded_into_its_range() -> None:
    for by in (-1, 1, 1e-130, -1e-130, 9e125, -9e125):
        ((_, edit),) = large.add(by).bounded
        condition = edit.condition()
        if condition is not None:
            check_expression(condition)
            Expressions().condition(condition)


def test_a_bound_is_named_only_when_nothing_else_fails() -> None:
    write = write_requests.update(
        crates.schema(), Crate.key(id="x"), [whole.add(1), inner.add(5)], whole.at_most(2), 0.0
    )
    within = broken_bound(write.condition, {"id": "x", "whole": 2, "inner": 0})
    assert within is not None
    assert (within.entity, within.field, within.bound, within.operation) == ("Crate", "inner", "gt=-3, lt=3", "add")
    assert broken_bound(write.condition, {"id": "x", "whole": 3, "inner": 0}) is None
    assert broken_bound(write.condition, {"id": "x", "whole": 0, "inner": -3}) is None
    assert broken_bound(None, {}) is None


def test_unbounded_edits_have_no_condition_of_their_own() -> None:
    assert [edit.condition() for _, edit in whole.add(1).bounded] != [None]
    for edit in (mixed.set(1), path(Crate, lambda it: some(it.pair)).set((1, "a"))):
        assert edit.bounded == ()


def test_the_longest_condition_fits_dynamodbs_limit_of_4_kb() -> None:
    edits = [team.include("a", "b", "c", "d"), members.include("a", "b", "c"), whole.add(1), items.append(1)]
    write = write_requests.update(crates.schema(), Crate.key(id="x"), edits, None, 0.0)
    assert write.condition is not None
    assert len(Expressions().condition(write.condition)) < 4096


@pytest.mark.parametrize(
    "edit",
    [
        lambda: whole.add(0.5),
        lambda: halves.add(0.25),
        lambda: exact_tenths.add(0.1),
        lambda: items.append(1, 2, 3, 4),
        lambda: items.append("text"),
        lambda: members.include(1),
        lambda: members.include("a", "b", "c", "d"),
        lambda: members.append("a"),
        lambda: items.include(1),
        lambda: path(Crate, lambda it: some(it.pair)).append(1),
        lambda: path(Crate, lambda it: some(it.pair)[1]).set(5),
        lambda: path(Crate, lambda it: some(it.names)["long"]),
    ],
)
def test_an_edit_that_can_never_fit_is_refused_at_once(edit: Any) -> None:
    with pytest.raises(WrongType):
        edit()


@pytest.mark.parametrize("by", [10**38 - 1, -(10**38) + 1, 10**125])
def test_a_multiple_with_as_many_digits_as_a_table_holds_is_checked(by: int) -> None:
    assert halves.add(by).action == ex.Increase(("halves",), by)


def test_a_position_of_a_tuple_has_its_own_type_and_cannot_be_removed() -> None:
    second = path(Crate, lambda it: some(it.pair)[1])
    assert second.set("text").action.route == ("pair", 1)
    with pytest.raises(BadUpdate, match="required"):
        second.remove()
    with pytest.raises(UnknownAttribute, match="no position 2"):
        path(Crate, lambda it: some(it.pair)[2])  # type: ignore[misc]
