"""Upserts: an item is edited, or created from the edits, and can always be read."""

from typing import Annotated

import pytest
from msgspec import Meta, field
from msgspec.structs import replace

from tests.support.manual_clock import ManualClock
from zataku.table import (
    BadUpdate,
    ConditionFailed,
    Entity,
    Nullable,
    OutOfBounds,
    Plan,
    Span,
    StaleIndexKey,
    Store,
    Table,
    TransactionCancelled,
    WrongType,
    derived,
    path,
    upsert,
)
from zataku.table.store import upsert_requests

visits = Table("VisitsOfUpserts", pk="PK", sk="SK", ttl="until")
by_page = visits.index("ByPage", pk="pagePK", sk="pageSK")


@visits.entity(
    pk="SITE#{site}",
    sk="PAGE#{page}",
    index={"pagePK": "PAGE#{page}", "pageSK": "{first}#{bucket}"},
    version="version",
)
class Visits(Entity, frozen=True, kw_only=True, tag="VISITS"):
    """How often a page was visited."""

    site: str
    page: str
    count: Annotated[int, Meta(ge=0, le=10)]
    first: str
    referrers: Annotated[list[str], Meta(max_length=3)] = []
    title: str | None = None
    until: int | None = None
    version: int = 0

    @derived("site")
    def bucket(self) -> str:
        """A value from the key alone."""
        return str(len(self.site))


@visits.query(returns=Visits)
def of_page(page: str) -> Span:
    """The sites with this page."""
    return by_page.partition(f"PAGE#{page}")


KEY = Visits.key(site="example", page="home")
count = path(Visits, lambda it: it.count)
first = path(Visits, lambda it: it.first)
referrers = path(Visits, lambda it: it.referrers)
title = path(Visits, lambda it: it.title)
until = path(Visits, lambda it: it.until)
VISIT = (count.add(1), first.set_if_missing("monday"))


@pytest.fixture
async def store(open_store) -> Store:
    return await open_store(visits)


async def test_an_absent_item_is_created_and_can_be_read(store: Store):
    created = await store.upsert(KEY, *VISIT, referrers.append("a"))
    assert created == Visits(site="example", page="home", count=1, first="monday", referrers=["a"], version=1)
    assert await store.get(KEY, strong=True) == created


async def test_a_created_item_has_its_defaults_for_conditions_edits_and_save(open_store):
    shop = Table("ShopOfUpserts", pk="PK", sk="SK")

    @shop.entity(pk="STOCK#{name}", sk="META")
    class Stock(Entity, frozen=True, kw_only=True, rename="camel"):
        """What a shop has of one thing."""

        name: str
        on_hand: Annotated[int, Meta(ge=0)] = 10
        on_order: int = 0
        shelves: list[str] = field(default_factory=lambda: ["hall"])
        labels: frozenset[str] = frozenset()
        note: Nullable[str] = None
        price: int | None = None

    on_hand = path(Stock, lambda it: it.on_hand)
    on_order = path(Stock, lambda it: it.on_order)
    shelves = path(Stock, lambda it: it.shelves)
    store, key = await open_store(shop), Stock.key(name="rice")
    created = await store.upsert(key, on_order.set(1))
    assert created == Stock(name="rice", on_order=1)
    assert (await store.update(key, on_hand.add(-1))).on_hand == 9
    assert (await store.update(key, shelves.append("attic"), when=on_hand.at_least(9))).shelves == ["hall", "attic"]
    await store.delete(key)
    created = await store.upsert(key, on_order.set(1))
    saved = await store.save(replace(created, on_hand=3, note="low", price=5), was=created)
    assert await store.get(key, strong=True) == saved == Stock(name="rice", on_order=1, on_hand=3, note="low", price=5)
    assert (await store.upsert(key, on_order.add(1))) == replace(saved, on_order=2)


async def test_an_item_that_exists_is_edited(store: Store):
    await store.upsert(KEY, *VISIT)
    edited = await store.upsert(KEY, count.add(2), first.set_if_missing("tuesday"), title.set("Home"))
    assert edited == Visits(site="example", page="home", count=3, first="monday", title="Home", version=2)


async def test_an_item_is_in_its_index_from_the_beginning(store: Store):
    created = await store.upsert(KEY, *VISIT)
    edited = await store.upsert(KEY, *VISIT)
    for _ in range(50):
        found = [item async for item in store.each(of_page("home"))]
        if found == [edited]:
            break
    assert found == [edited]
    moved = await store.upsert(KEY, count.set(1), first.set("friday"))
    assert moved.first == "friday"
    assert created.first == "monday"


async def test_a_field_without_a_default_must_be_set(store: Store):
    with pytest.raises(BadUpdate, match="without first, which could not be read") as refused:
        await store.upsert(KEY, count.add(1))
    assert refused.value.details["fields"] == ["first"]
    assert await store.get(KEY, strong=True) is None


async def test_a_default_that_its_field_refuses_must_be_replaced(open_store):
    shop = Table("DefaultsOfUpserts", pk="PK", sk="SK")

    @shop.entity(pk="COUPON#{code}", sk="META")
    class Coupon(Entity, frozen=True, kw_only=True):
        """A discount, whose percentage has to be given."""

        code: str
        used: int = 0
        percent: Annotated[int, Meta(ge=1, le=100)] = 0

    used, percent = path(Coupon, lambda it: it.used), path(Coupon, lambda it: it.percent)
    store, key = await open_store(shop), Coupon.key(code="may")
    with pytest.raises(WrongType, match=r"The default of Coupon\.percent cannot be stored: Expected `int` >= 1"):
        await store.upsert(key, used.add(1))
    assert await store.get(key, strong=True) is None
    assert await store.upsert(key, used.add(1), percent.set(5)) == Coupon(code="may", used=1, percent=5)


async def test_an_index_key_that_is_unknown_for_one_of_both_is_refused(store: Store):
    scores = Table("ScoresOfUpserts", pk="PK", sk="SK")
    scores.index("ByState", pk="statePK")

    @scores.entity(pk="S#{name}", sk="META", index={"statePK": "STATE#{state}"})
    class Score(Entity, frozen=True, kw_only=True):
        """A score."""

        name: str
        points: int
        state: str = "open"

    points = path(Score, lambda it: it.points)
    state = path(Score, lambda it: it.state)
    key = Score.key(name="ann")
    with pytest.raises(StaleIndexKey, match="Set all its fields"):
        upsert_requests.upsert(scores.schema(), key, [points.add(1)], None, 0)
    upsert_requests.upsert(scores.schema(), key, [points.add(1), state.set("open")], None, 0)


async def test_a_condition_is_about_an_item_that_exists(store: Store):
    await store.upsert(KEY, *VISIT, when=count.below(1))
    with pytest.raises(ConditionFailed) as refused:
        await store.upsert(KEY, *VISIT, when=count.below(1))
    assert refused.value.current is not None
    assert (await store.upsert(KEY, *VISIT, when=count.below(2))).count == 2


async def test_bounds_hold_for_an_item_that_is_created_and_for_one_that_exists(store: Store):
    with pytest.raises(OutOfBounds):
        await store.upsert(KEY, count.add(-1), first.set("monday"))
    assert await store.get(KEY, strong=True) is None
    await store.upsert(KEY, count.add(9), first.set("monday"))
    with pytest.raises(OutOfBounds):
        await store.upsert(KEY, count.add(2), first.set("monday"))
    assert (await store.upsert(KEY, count.add(1), first.set("monday"))).count == 10


async def test_an_expired_item_is_replaced_and_not_edited(open_store, clock: ManualClock):
    store = await open_store(visits)
    now = int(clock.now())
    await store.upsert(KEY, count.add(5), first.set("monday"), title.set("Old"), until.set(now + 10))
    await clock.advance(20)
    renewed = await store.upsert(KEY, *VISIT)
    assert renewed == Visits(site="example", page="home", count=1, first="monday", version=1)


@pytest.mark.needs("transactions")
async def test_a_time_to_live_with_a_fraction_expires_too(open_store, clock: ManualClock):
    logins = Table("LoginsOfUpserts", pk="PK", sk="SK", ttl="until")

    @logins.entity(pk="LOGIN#{name}", sk="META")
    class Login(Entity, frozen=True, kw_only=True):
        """How often someone has signed in."""

        name: str
        count: int = 0
        until: float | None = None

    store, key, counted = await open_store(logins), Login.key(name="ann"), path(Login, lambda it: it.count)
    expired = Login(name="ann", count=5, until=int(clock.now()) - 9.5)
    await store.put(expired)
    assert await store.upsert(key, counted.add(1)) == Login(name="ann", count=1)
    await store.put(expired)
    async with store.transact() as tx:
        tx.upsert(key, counted.add(1))
    assert await store.get(key, strong=True) == Login(name="ann", count=1)


@pytest.mark.needs("transactions")
async def test_a_transaction_creates_and_edits(store: Store):
    other = Visits.key(site="example", page="news")
    await store.upsert(KEY, *VISIT)
    async with store.transact() as tx:
        tx.upsert(KEY, *VISIT)
        tx.upsert(other, *VISIT)
    assert [item and item.count for item in await store.get_many([KEY, other], strong=True)] == [2, 1]


@pytest.mark.needs("transactions")
async def test_a_transaction_replaces_an_expired_item(open_store, clock: ManualClock):
    store = await open_store(visits)
    await store.upsert(KEY, count.add(5), first.set("monday"), until.set(int(clock.now()) + 10))
    await clock.advance(20)
    other = Visits.key(site="example", page="news")
    async with store.transact() as tx:
        tx.upsert(KEY, *VISIT)
        tx.upsert(other, *VISIT)
    assert [item and item.count for item in await store.get_many([KEY, other], strong=True)] == [1, 1]


@pytest.mark.needs("transactions")
async def test_a_transaction_with_an_upsert_out_of_bounds_writes_nothing(store: Store):
    other = Visits.key(site="example", page="news")
    with pytest.raises(TransactionCancelled) as refused:
        async with store.transact() as tx:
            tx.upsert(KEY, *VISIT)
            tx.upsert(other, count.add(-1), first.set("monday"))
    assert [reason.code for reason in refused.value.reasons] == [None, "out_of_bounds"]
    assert await store.get(KEY, strong=True) is None


async def test_a_plan_of_one_step_returns_the_new_state(store: Store):
    written = await store.write(Plan(upsert(KEY, *VISIT)))
    assert written == Visits(site="example", page="home", count=1, first="monday", version=1)


@pytest.mark.needs("transactions")
async def test_a_plan_of_several_steps_is_a_transaction(store: Store):
    other = Visits.key(site="example", page="news")
    plan = Plan(upsert(KEY, *VISIT), upsert(other, *VISIT))
    assert repr(plan) == "Plan(upsert Visits, upsert Visits)"
    await store.write(plan)
    assert len([item async for item in store.scan(visits)]) == 2
