"""Access patterns and writes of leases, without concurrent writers."""

import pytest

from tests.platform.conftest import NOW
from tests.platform.items import OTHER, WEB, a_lease
from tests.support.manual_clock import ManualClock
from zataku.platform import writes
from zataku.platform.design import Lease, lease
from zataku.platform.errors import LeaseHeld, LeaseNotHeld
from zataku.platform.limits import HOUR, MAX_CLOCK_SKEW, OwnerId
from zataku.table import ConditionFailed, Store


async def take(store: Store, owner: OwnerId, now: int) -> None:
    current = await store.get(lease("singleton/sweep"))
    await store.write(writes.take_lease(current, "singleton/sweep", owner, now, now + 10_000))


async def test_every_new_owner_of_a_lease_gets_the_next_epoch(store: Store):
    await take(store, WEB, NOW)
    first = await store.get(lease("singleton/sweep"))
    assert first is not None
    assert (first.owner, first.until, first.epoch) == (WEB, NOW + 10_000, NOW // 1000)
    await take(store, WEB, NOW + 5_000)
    with pytest.raises(LeaseHeld):
        await take(store, OTHER, NOW + 14_999)
    await take(store, OTHER, NOW + 15_000)
    second = await store.get(lease("singleton/sweep"))
    assert second is not None
    assert (second.owner, second.epoch) == (OTHER, first.epoch + 1)
    await store.write(writes.renew_lease(second, NOW + 60_000))
    await store.write(writes.release_lease(second, NOW + 20_000))
    released = await store.get(lease("singleton/sweep"))
    assert released is not None
    assert (released.owner, released.until) == (None, NOW + 20_000)
    await take(store, WEB, NOW + 20_000)
    third = await store.get(lease("singleton/sweep"))
    assert third is not None
    assert (third.owner, third.epoch) == (WEB, first.epoch + 2)


async def test_a_released_lease_is_free_even_when_clocks_disagree(store: Store):
    ahead = NOW + 30_000
    await store.write_many(put=[a_lease()])
    await store.write(writes.release_lease(a_lease(), ahead))
    released = await store.get(lease(a_lease().name))
    assert released is not None
    assert (released.owner, released.until) == (None, ahead)
    await store.write(writes.take_lease(released, released.name, OTHER, NOW, NOW + 10_000))
    held = await store.get(lease(released.name))
    assert held == a_lease(owner=OTHER, epoch=6)


async def test_renewing_never_shortens_a_lease(store: Store):
    held = a_lease()
    await store.write_many(put=[held])
    await store.write(writes.renew_lease(held, held.until))
    for plan in (
        writes.renew_lease(held, held.until - 1),
        writes.take_lease(held, held.name, WEB, NOW, held.until - 1),
    ):
        with pytest.raises(ConditionFailed):
            await store.write(plan)
    assert await store.get(lease(held.name)) == held


async def test_a_lease_from_before_the_clock_was_set_back_does_not_outlast_it(store: Store):
    held = a_lease()
    await store.write_many(put=[held])
    back = NOW - 2 * HOUR
    with pytest.raises(LeaseHeld):
        writes.take_lease(held, held.name, OTHER, NOW - MAX_CLOCK_SKEW, held.until - MAX_CLOCK_SKEW)
    renewed = await store.write(writes.renew_lease(held, back + 10_000))
    assert renewed is not None
    assert renewed.until == back + 10_000
    await store.write_many(put=[held])
    taken = await store.write(writes.take_lease(held, held.name, OTHER, back, back + 10_000))
    assert taken is not None
    assert (taken.owner, taken.until, taken.epoch) == (OTHER, back + 10_000, held.epoch + 1)


@pytest.mark.parametrize(
    "stored",
    [
        a_lease(owner=None),
        a_lease(owner=OTHER),
        a_lease(epoch=7),
    ],
    ids=["released", "another owner", "a later epoch"],
)
async def test_only_the_owner_of_the_current_epoch_can_renew_or_release_a_lease(stored: Lease, store: Store):
    await store.write_many(put=[stored])
    for late in (writes.renew_lease(a_lease(), NOW + 99_000), writes.release_lease(a_lease(), NOW)):
        with pytest.raises(ConditionFailed):
            await store.write(late)
    assert await store.get(lease(stored.name)) == stored


def test_taking_a_lease_with_the_state_of_another_is_refused():
    with pytest.raises(ValueError, match="not the one to take"):
        writes.take_lease(a_lease(), "room/drawing/OTHER1", OTHER, NOW + 10_000, NOW + 20_000)


async def test_the_epoch_of_an_expired_lease_keeps_growing(store: Store, clock: ManualClock):
    await take(store, WEB, NOW)
    before = await store.get(lease("singleton/sweep"))
    assert before is not None
    await clock.advance(8 * 24 * 60 * 60)
    assert await store.get(lease("singleton/sweep")) is None
    await take(store, OTHER, int(clock.now()) * 1000)
    after = await store.get(lease("singleton/sweep"))
    assert after is not None
    assert after.epoch > before.epoch


def test_a_free_lease_cannot_be_renewed_or_released():
    for write in (writes.renew_lease, writes.release_lease):
        with pytest.raises(LeaseNotHeld):
            write(a_lease(owner=None), NOW)


def test_a_lease_that_ends_when_it_begins_is_refused():
    with pytest.raises(ValueError, match="ends after"):
        writes.take_lease(None, "singleton/sweep", WEB, NOW, NOW)
