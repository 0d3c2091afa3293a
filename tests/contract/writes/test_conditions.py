"""Every kind of condition, evaluated on one item as a write condition and as a filter."""

from decimal import Decimal

import pytest
import pytest_asyncio
from msgspec import Struct, field

from tests.support.designs.measures import Measure, measures
from zataku.table import Condition, ConditionFailed, Entity, InKey, Nullable, Span, Store, Table, path, some

shelf = Table("ShelfOfManyThings", pk="pk", sk="sk")


class Inner(Struct, frozen=True, kw_only=True):
    """A nested struct."""

    depth: int = 2
    words: list[str] = field(default_factory=list)


@shelf.entity(pk="{shelf}", sk="{name}")
class Thing(Entity, frozen=True, kw_only=True):
    """An entity with a field of every type."""

    shelf: InKey[str]
    name: InKey[str]
    count: int = 5
    price: Decimal | None = None
    label: str = "blue bowl"
    picture: bytes | None = None
    broken: bool = False
    owner: Nullable[str] = None
    parts: list[str] = field(default_factory=list)
    tags: frozenset[str] | None = None
    sizes: frozenset[int] | None = None
    inner: Inner | None = None
    counts: dict[str, int] = field(default_factory=dict)
    unset: str | None = None


THING = Thing(
    shelf="s",
    name="t",
    price=Decimal("12.50"),
    picture=b"\x00\xffab",
    parts=["lid", "𝄞body"],
    tags=frozenset({"old", "青"}),
    sizes=frozenset({1, 20}),
    inner=Inner(words=["x", "y"]),
    counts={"a": 1},
)
KEY = Thing.key(shelf="s", name="t")

count = path(Thing, lambda it: it.count)
price = path(Thing, lambda it: it.price)
label = path(Thing, lambda it: it.label)
picture = path(Thing, lambda it: it.picture)
broken = path(Thing, lambda it: it.broken)
owner = path(Thing, lambda it: it.owner)
parts = path(Thing, lambda it: it.parts)
tags = path(Thing, lambda it: it.tags)
sizes = path(Thing, lambda it: it.sizes)
depth = path(Thing, lambda it: some(it.inner).depth)
second = path(Thing, lambda it: some(it.inner).words[1])
count_a = path(Thing, lambda it: it.counts["a"])
count_b = path(Thing, lambda it: it.counts["b"])
unset = path(Thing, lambda it: it.unset)

HOLD: dict[str, Condition[Thing]] = {
    "equals a number": count.equals(5),
    "equals a decimal written differently": price.equals(Decimal("12.5")),
    "equals a string": label.equals("blue bowl"),
    "equals bytes": picture.equals(b"\x00\xffab"),
    "equals a boolean": broken.equals(False),
    "equals a list": parts.equals(["lid", "𝄞body"]),
    "equals a set in any order": tags.equals(frozenset({"青", "old"})),
    "equals a nested field": depth.equals(2),
    "equals a member of a list": second.equals("y"),
    "equals a member of a map": count_a.equals(1),
    "equals an explicit null": owner.equals(None),
    "not equals": count.not_equals(6),
    "a missing field differs from every value": unset.not_equals("x"),
    "below": count.below(6),
    "at most": count.at_most(5),
    "above": count.above(4),
    "at least": count.at_least(5),
    "below with decimals": price.below(Decimal("12.500000000000000000000000000000000001")),
    "below with strings, by bytes": label.below("blue c"),
    "above with bytes": picture.above(b"\x00\xfe"),
    "between with both ends": count.between(5, 5),
    "between strings": label.between("blue", "blue d"),
    "is in": count.is_in(1, 5, 9),
    "is in a hundred values": count.is_in(*range(100)),
    "exists": label.exists(),
    "exists with an explicit null": owner.exists(),
    "exists in a nested struct": second.exists(),
    "missing": unset.missing(),
    "missing in a map": count_b.missing(),
    "begins with": label.begins_with("blue"),
    "contains a substring": label.contains("e b"),
    "contains a member of a list": parts.contains("lid"),
    "contains a member of a set": tags.contains("青"),
    "contains a number in a set": sizes.contains(20),
    "has type string": label.has_type("S"),
    "has type number": price.has_type("N"),
    "has type bytes": picture.has_type("B"),
    "has type boolean": broken.has_type("BOOL"),
    "has type null": owner.has_type("NULL"),
    "has type list": parts.has_type("L"),
    "has type map": path(Thing, lambda it: it.inner).has_type("M"),
    "has type set of strings": tags.has_type("SS"),
    "has type set of numbers": sizes.has_type("NS"),
    "size of a string in characters": label.size().equals(9),
    "size of bytes": picture.size().equals(4),
    "size of a list": parts.size().above(1),
    "size of a set": tags.size().below(3),
    "size of a map": path(Thing, lambda it: it.counts).size().equals(1),
    "and": count.equals(5) & label.exists(),
    "or": count.equals(6) | label.exists(),
    "not": ~count.equals(6),
    "and binds before or": (count.equals(6) & label.missing()) | label.exists(),
    "not of a whole condition": ~(count.equals(5) & label.missing()),
}

FAIL: dict[str, Condition[Thing]] = {
    "equals another number": count.equals(6),
    "a string does not equal a number": label.equals(5),
    "a boolean does not equal a number": broken.equals(0),
    "a missing field equals no value": unset.equals("x"),
    "a missing field does not equal null": unset.equals(None),
    "a null is not missing": owner.missing(),
    "not equals its own value": count.not_equals(5),
    "below its own value": count.below(5),
    "above its own value": count.above(5),
    "a missing field is not below": unset.below("zzz"),
    "a missing field is not above": unset.above("a"),
    "values of different types do not compare": label.above(1),
    "outside of its range": count.between(6, 9),
    "is not in the values": count.is_in(1, 2),
    "a missing field is in no list": unset.is_in("a", "b"),
    "a missing field does not exist": unset.exists(),
    "begins with another prefix": label.begins_with("bowl"),
    "a missing field has no prefix": unset.begins_with("b"),
    "does not contain the substring": label.contains("red"),
    "part of a member is not contained": parts.contains("li"),
    "a set does not contain another member": tags.contains("new"),
    "a missing field contains nothing": unset.contains("x"),
    "has another type": label.has_type("N"),
    "a missing field has no type": unset.has_type("NULL"),
    "another size": label.size().equals(8),
    "a missing field has no size": unset.size().equals(0),
    "a number has no size": count.size().above(0),
    "past the end of a list": path(Thing, lambda it: it.parts[7]).exists(),
    "and with one condition that fails": count.equals(5) & label.missing(),
    "or of two conditions that fail": count.equals(6) | label.missing(),
    "not of a condition that holds": ~label.exists(),
}


@shelf.query(returns=Thing, strong=True)
def things_where(name: str) -> Span:
    """Things of the shelf for which a condition of this module holds."""
    return shelf.partition("s").where({**HOLD, **FAIL}[name])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def filled(open_shared_store) -> Store:
    store = await open_shared_store(shelf)
    await store.put(THING)
    return store


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", HOLD)
async def test_the_condition_holds_and_the_filter_returns_the_item(filled: Store, name: str):
    assert await filled.put(THING, when=HOLD[name]) == THING
    assert [thing async for thing in filled.each(things_where(name))] == [THING]
    assert await filled.count(things_where(name)) == 1


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", FAIL)
async def test_the_condition_fails_and_the_filter_excludes_the_item(filled: Store, name: str):
    with pytest.raises(ConditionFailed) as refused:
        await filled.put(THING, when=FAIL[name])
    assert refused.value.current == THING
    assert [thing async for thing in filled.each(things_where(name))] == []
    assert await filled.count(things_where(name)) == 0


async def test_numbers_beyond_the_precision_of_floats_are_compared_exactly(open_store):
    store = await open_store(measures)
    exact = Decimal("1.0000000000000000000000000000000000001")
    key = Measure.key(room=1, at=Decimal(1))
    level = path(Measure, lambda it: it.level)
    await store.put(Measure(room=1, at=Decimal(1), level=exact))
    with pytest.raises(ConditionFailed):
        await store.delete(key, when=level.equals(Decimal(1)))
    with pytest.raises(ConditionFailed):
        await store.delete(key, when=level.at_most(Decimal(1)))
    assert await store.delete(key, when=level.equals(exact) & level.above(Decimal(1)))


def test_joining_conditions_with_and_or_or_raises():
    with pytest.raises(TypeError, match="&"):
        bool(count.equals(5) or label.exists())
