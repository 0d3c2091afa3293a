"""Bounds of fields: no edit stores a value that its entity refuses."""

from functools import reduce
from operator import or_
from re import escape

import pytest
from msgspec.structs import replace

from tests.contract.conftest import OpenStore
from tests.support.designs.stock import (
    Duty,
    Keepers,
    Shelf,
    Stock,
    above,
    count,
    crew,
    dozen,
    first,
    fourth,
    free,
    labels,
    level,
    limit,
    pair,
    people,
    price_a,
    price_b,
    price_c,
    rows,
    second,
    stocks,
    tags,
    team,
    third,
    wide,
)
from tests.support.store_reads import run_transaction
from zataku.table import BadInput, ConditionFailed, Edit, OutOfBounds, Store, TransactionCancelled, WrongType, path
from zataku.table.schema.plan import Plan, update

KEY = Stock.key(shop="s", name="rice")
TEA = Stock.key(shop="s", name="tea")
FULL = frozenset({"a", "b", "c"})

REFUSED: dict[str, tuple[Stock, tuple[Edit[Stock], ...], str, str]] = {
    "below ge": (Stock(count=0), (count.add(-1),), "count", "ge=0, le=10"),
    "above le": (Stock(count=9), (count.add(2),), "count", "ge=0, le=10"),
    "at gt": (Stock(above=1), (above.add(-1),), "above", "gt=0, lt=10"),
    "at lt": (Stock(above=9), (above.add(1),), "above", "gt=0, lt=10"),
    "a float below ge": (Stock(level=-1.25), (level.add(-0.5),), "level", "ge=-1.5, le=1.5"),
    "a float above le": (Stock(level=1.25), (level.add(0.5),), "level", "ge=-1.5, le=1.5"),
    "a missing number counts as 0": (Stock(), (limit.add(5),), "limit", "ge=10"),
    "a nested number": (Stock(shelf=Shelf(free=0)), (free.add(-1),), "shelf.free", "ge=0, le=9"),
    "append": (Stock(labels=["a", "b", "c"]), (labels.append("d"),), "labels", "max_length=3"),
    "append several": (Stock(labels=["a", "b"]), (labels.append("c", "d"),), "labels", "max_length=3"),
    "prepend": (Stock(labels=["a", "b", "c"]), (labels.prepend("d"),), "labels", "max_length=3"),
    "append to a nested list": (Stock(shelf=Shelf(rows=[1, 2])), (rows.append(3),), "shelf.rows", "max_length=2"),
    "append too few to nothing": (Stock(), (pair.append(1),), "pair", "min_length=2"),
    "include": (Stock(tags=FULL), (tags.include("d"),), "tags", "max_length=3"),
    "include two, one of them stored": (Stock(tags=FULL), (tags.include("a", "d"),), "tags", "max_length=3"),
    "include too few in nothing": (Stock(), (team.include("a"),), "team", "min_length=2, max_length=4"),
    "exclude": (Stock(team=frozenset("ab")), (team.exclude("a"),), "team", "min_length=2, max_length=4"),
    "exclude two": (Stock(team=FULL), (team.exclude("a", "b"),), "team", "min_length=2, max_length=4"),
    "a new name in a map": (Stock(prices={"a": 1, "b": 2}), (price_c.set(3),), "prices", "min_length=1, max_length=2"),
    "two new names": (Stock(), (price_b.set(2), price_c.add(3)), "prices", "min_length=1, max_length=2"),
    "the last name of a map": (Stock(), (price_a.remove(),), "prices", "min_length=1, max_length=2"),
    "both names of a map": (
        Stock(prices={"a": 1, "b": 2}),
        (price_a.remove(), price_b.remove()),
        "prices",
        "min_length=1, max_length=2",
    ),
    "past the end of a list": (Stock(queue=[1, 2, 3]), (fourth.set(4),), "queue", "min_length=1, max_length=3"),
    "the last of a list": (Stock(), (first.remove(),), "queue", "min_length=1, max_length=3"),
    "a version": (Stock(version=1000), (count.set(1),), "version", "le=1000"),
}

ACCEPTED: dict[str, tuple[Stock, tuple[Edit[Stock], ...], Stock]] = {
    "to ge": (Stock(count=1), (count.add(-1),), Stock(count=0)),
    "to le": (Stock(count=9), (count.add(1),), Stock(count=10)),
    "next to gt": (Stock(above=2), (above.add(-1),), Stock(above=1)),
    "next to lt": (Stock(above=8), (above.add(1),), Stock(above=9)),
    "a float to le": (Stock(level=1.25), (level.add(0.25),), Stock(level=1.5)),
    "a multiple": (Stock(dozen=12), (dozen.add(-24),), Stock(dozen=-12)),
    "a missing number": (Stock(), (limit.add(10),), Stock(limit=10)),
    "a nested number": (Stock(), (free.add(-9),), Stock(shelf=Shelf(free=0))),
    "append to the end": (Stock(labels=["a"]), (labels.append("b", "c"),), Stock(labels=["a", "b", "c"])),
    "append fewer than min_length": (Stock(pair=(1, 2)), (pair.append(3),), Stock(pair=(1, 2, 3))),
    "append to nothing": (Stock(), (pair.append(1, 2),), Stock(pair=(1, 2))),
    "include what is stored": (Stock(tags=FULL), (tags.include("a"),), Stock(tags=FULL)),
    "include several that are stored": (Stock(tags=FULL), (tags.include("a", "b", "c"),), Stock(tags=FULL)),
    "include one of two": (Stock(tags=frozenset("ab")), (tags.include("a", "c"),), Stock(tags=FULL)),
    "include in nothing": (Stock(), (tags.include("a", "b", "c"),), Stock(tags=FULL)),
    "include fewer than min_length": (
        Stock(team=frozenset("ab")),
        (team.include("c"),),
        Stock(team=FULL),
    ),
    "exclude what is not stored": (
        Stock(team=frozenset("ab")),
        (team.exclude("c", "d"),),
        Stock(team=frozenset("ab")),
    ),
    "exclude one of two": (Stock(team=FULL), (team.exclude("c", "d"),), Stock(team=frozenset("ab"))),
    "empty an optional set": (Stock(tags=frozenset("a")), (tags.exclude("a"),), Stock()),
    "a stored name of a full map": (
        Stock(prices={"a": 1, "b": 2}),
        (price_a.set(7), price_b.add(1)),
        Stock(prices={"a": 7, "b": 3}),
    ),
    "a new name": (Stock(), (price_b.set(2),), Stock(prices={"a": 1, "b": 2})),
    "remove what is not there": (Stock(), (price_b.remove(),), Stock()),
    "a place of a full list": (Stock(queue=[1, 2, 3]), (third.set(4),), Stock(queue=[1, 2, 4])),
    "one of two": (Stock(queue=[1, 2]), (second.remove(),), Stock(queue=[1])),
    "beside a bound that holds": (Stock(count=5), (count.add(-5), labels.append("x")), Stock(count=0, labels=["x"])),
}


@pytest.fixture
async def shop(open_store: OpenStore) -> Store:
    """A store of stocks."""
    return await open_store(stocks)


@pytest.mark.parametrize("case", REFUSED)
async def test_an_edit_that_exceeds_a_bound_is_refused_and_changes_nothing(shop: Store, case: str):
    stock, edits, field, bound = REFUSED[case]
    await shop.put(stock)
    with pytest.raises(OutOfBounds, match=rf"Stock\.{escape(field)} out of its bounds") as refused:
        await shop.update(KEY, *edits)
    assert (refused.value.entity, refused.value.field, refused.value.bound) == ("Stock", field, bound)
    assert refused.value.current == stock
    assert await shop.get(KEY, strong=True) == stock


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.needs("transactions")
async def test_a_transaction_with_such_an_edit_is_cancelled_and_names_the_bound(shop: Store, case: str):
    stock, edits, field, bound = REFUSED[case]
    other = replace(stock, name="tea")
    await shop.write_many(put=[stock, other])
    with pytest.raises(TransactionCancelled) as cancelled:
        await run_transaction(
            shop, lambda tx: tx.delete(Stock.key(shop="s", name="tea")), lambda tx: tx.update(KEY, *edits)
        )
    untouched, refused = cancelled.value.reasons
    assert (untouched.code, refused.code, refused.current) == (None, "out_of_bounds", stock)
    assert f"Stock.{field}" in refused.message
    assert bound in refused.message
    assert await shop.snapshot(KEY, TEA) == [stock, other]


@pytest.mark.parametrize("case", ACCEPTED)
async def test_an_edit_within_the_bounds_is_written(shop: Store, case: str):
    stock, edits, expected = ACCEPTED[case]
    await shop.put(stock)
    assert await shop.update(KEY, *edits) == replace(expected, version=1)
    assert await shop.get(KEY, strong=True) == replace(expected, version=1)


async def test_the_callers_condition_is_told_apart_from_a_bound(shop: Store):
    await shop.put(Stock(count=0))
    with pytest.raises(OutOfBounds):
        await shop.update(KEY, count.add(-1), when=count.equals(0))
    with pytest.raises(ConditionFailed) as refused:
        await shop.update(KEY, count.add(-1), when=count.above(0))
    assert refused.value.current == Stock(count=0)
    with pytest.raises(ConditionFailed) as absent:
        await shop.update(Stock.key(shop="s", name="none"), count.add(-1))
    assert absent.value.current is None


@pytest.mark.needs("transactions")
async def test_a_transaction_tells_conditions_from_bounds(shop: Store):
    await shop.write_many(put=[Stock(name=name, count=0) for name in ("a", "b")])
    with pytest.raises(TransactionCancelled) as cancelled:
        await run_transaction(
            shop,
            lambda tx: tx.update(Stock.key(shop="s", name="a"), count.add(-1), when=count.above(0)),
            lambda tx: tx.update(Stock.key(shop="s", name="b"), count.add(-1)),
        )
    assert [reason.code for reason in cancelled.value.reasons] == ["condition_failed", "out_of_bounds"]


async def test_a_plan_keeps_the_bounds(shop: Store):
    await shop.put(Stock(count=0))
    with pytest.raises(OutOfBounds):
        await shop.write(Plan(update(KEY, count.add(-1))))
    assert await shop.get(KEY, strong=True) == Stock(count=0)


async def test_a_required_set_in_a_struct_is_never_emptied(shop: Store):
    await shop.put(Keepers(shop="s", duty=Duty(frozenset({"ann", "bob"}))))
    key = Keepers.key(shop="s")
    with pytest.raises(OutOfBounds, match="required"):
        await shop.update(key, people.exclude("ann", "bob", "cid"))
    assert (await shop.update(key, people.exclude("bob", "cid"))).duty.people == {"ann"}


async def test_a_set_with_a_default_is_emptied_and_read_as_the_default(shop: Store):
    await shop.put(Stock(crew=frozenset({"bob"})))
    assert (await shop.update(KEY, crew.exclude("bob"))).crew == {"ann"}


async def test_more_than_four_members_count_as_new_unless_all_are_stored(shop: Store):
    await shop.put(Stock(wide=frozenset("abcd")))
    with pytest.raises(OutOfBounds):
        await shop.update(KEY, wide.include(*"abcde"))
    assert (await shop.update(KEY, wide.include("e"))).wide == set("abcde")
    assert (await shop.update(KEY, wide.include(*"abcde"))).wide == set("abcde")
    assert (await shop.update(KEY, wide.include("f"))).wide == set("abcdef")
    with pytest.raises(OutOfBounds):
        await shop.update(KEY, wide.include("g"))


async def test_a_condition_too_long_for_dynamodb_is_refused_and_changes_nothing(shop: Store):
    await shop.put(Stock(count=0))
    short = reduce(or_, [count.equals(number) for number in range(11)])
    long = reduce(or_, [short] * 14)
    for when in (long, reduce(or_, [labels.missing()] * 145)):
        with pytest.raises(BadInput, match="Make fewer edits at once"):
            await shop.update(KEY, count.add(1), when=when)
    assert await shop.get(KEY, strong=True) == Stock(count=0)
    assert (await shop.update(KEY, count.add(1), when=short)).count == 1


@pytest.mark.needs("transactions")
async def test_a_transaction_with_such_a_condition_is_refused(shop: Store):
    await shop.put(Stock(count=0))
    long = reduce(or_, [count.equals(number % 11) for number in range(151)])
    with pytest.raises(BadInput, match="Make fewer edits at once"):
        await run_transaction(shop, lambda tx: tx.update(KEY, count.set(1), when=long))
    assert await shop.get(KEY, strong=True) == Stock(count=0)


@pytest.mark.parametrize(
    "edit",
    [
        lambda: dozen.add(5),
        lambda: count.add(0.5),
        lambda: labels.append("a", "b", "c", "d"),
        lambda: labels.append("too long"),
        lambda: tags.include("too long"),
        lambda: count.set(11),
        lambda: path(Stock, lambda it: it.prices).set({}),
    ],
)
def test_an_edit_that_can_never_fit_is_refused_before_it_is_written(edit):
    with pytest.raises(WrongType):
        edit()
