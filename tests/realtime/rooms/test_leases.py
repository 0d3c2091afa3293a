"""Leases of rooms: one process at a time holds one, also when replies of the table are lost."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.realtime.rooms.room_process import ProcessClock
from tests.support.stores import StoreName, temporary_store
from zataku.platform.design import TABLES, lease
from zataku.platform.limits import OwnerId
from zataku.realtime.rooms.leases import HeldLease, LeasedElsewhere, RoomLeases
from zataku.table import Store


@pytest.fixture(params=["strict", "lossy"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ProcessClock) -> AsyncIterator[Store]:
    name: StoreName = request.param
    async with temporary_store(name, tmp_path, TABLES, clock) as store:
        yield store


async def acquire(leases: RoomLeases, topic: str = "counter/one") -> HeldLease:
    held = await leases.acquire(topic)
    assert isinstance(held, HeldLease)
    return held


async def test_a_lease_belongs_to_one_process_until_it_expires(store: Store, clock: ProcessClock):
    one, other = (RoomLeases(store, clock, OwnerId(name), is_alone=False) for name in ("web-1", "web-2"))
    lost: list[str] = []
    held = await acquire(one)
    held.on_lost = lambda: lost.append("web-1")
    refused = await other.acquire("counter/one")
    assert isinstance(refused, LeasedElsewhere)
    assert refused.owner == "web-1"
    await clock.advance(4)
    await one.renew_due()
    await clock.advance(4)
    assert isinstance(await other.acquire("counter/one"), LeasedElsewhere)
    await clock.advance(6)
    assert not held.is_fresh
    assert lost == []
    taken_over = await acquire(other)
    assert not await held.confirm()
    assert lost == ["web-1"]
    assert taken_over.is_fresh


async def test_a_room_finds_a_new_owner_when_the_clock_was_set_back(store: Store, clock: ProcessClock):
    one, other = (RoomLeases(store, clock, OwnerId(name), is_alone=False) for name in ("web-1", "web-2"))
    held = await acquire(one)
    clock.set_back(7200)
    # The owner notices by itself and goes on, with a lease by the new time.
    assert not held.is_fresh
    while not held.is_fresh:
        await one.renew_due()
    assert isinstance(await other.acquire("counter/one"), LeasedElsewhere)
    # An owner that is gone is replaced after seconds.
    await clock.advance(6)
    assert (await acquire(other)).is_fresh


async def test_an_expired_lease_that_is_still_free_is_confirmed(store: Store, clock: ProcessClock):
    leases = RoomLeases(store, clock, OwnerId("web-1"), is_alone=False)
    held = await acquire(leases)
    await clock.advance(3600)
    # A lost reply leaves the outcome open; the next read settles it.
    assert any([await held.confirm() for _ in range(5)])
    assert held.is_fresh


async def test_a_lease_is_renewed_only_when_it_is_due(store: Store, clock: ProcessClock):
    leases = RoomLeases(store, clock, OwnerId("web-1"), is_alone=False)
    held = await acquire(leases)
    before = held.item
    await clock.advance(1)
    await leases.renew_due()
    assert held.item == before
    await clock.advance(1)
    await leases.renew_due()
    stored = await store.get(lease("room/counter/one"))
    assert stored is not None
    assert before is not None
    assert stored.until >= before.until


@pytest.mark.parametrize("released", [True, False])
async def test_a_released_lease_is_free_at_once_and_a_forgotten_one_when_it_expires(
    released: bool, tmp_path: Path, clock: ProcessClock
):
    async with temporary_store("strict", tmp_path, TABLES, clock) as store:
        one, other = (RoomLeases(store, clock, OwnerId(name), is_alone=False) for name in ("web-1", "web-2"))
        held = await acquire(one)
        await one.release(held) if released else one.forget(held)
        assert isinstance(await other.acquire("counter/one"), HeldLease if released else LeasedElsewhere)


async def test_a_process_alone_on_its_bus_needs_no_lease(store: Store, clock: ProcessClock):
    leases = RoomLeases(store, clock, OwnerId("web-1"), is_alone=True)
    held = await acquire(leases)
    await clock.advance(3600)
    assert held.is_fresh
    await leases.release(held)
    assert await store.get(lease("room/counter/one")) is None
