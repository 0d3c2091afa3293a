"""Writes of leases: take, renew and release."""

from zataku.platform.design import Lease, platform
from zataku.platform.errors import LeaseHeld, LeaseNotHeld
from zataku.platform.limits import (
    LEASE_ITEM_TTL,
    MAX_CLOCK_SKEW,
    SECOND,
    LeaseName,
    Owner,
    OwnerId,
    expiry,
)
from zataku.table import Budget, Condition, Millis, Plan, path, put, update

_HELD = Lease(name="room/drawing/7F3K9Q", owner=OwnerId("web-1"), until=1, epoch=1, expires_at=1)
_TAKEN = {"current": _HELD, "name": _HELD.name, "owner": OwnerId("web-2"), "now": 2, "until": 3}

lease_owner = path(Lease, lambda it: it.owner)
lease_until = path(Lease, lambda it: it.until)
lease_epoch = path(Lease, lambda it: it.epoch)
lease_expires = path(Lease, lambda it: it.expires_at)


@platform.write(budget=Budget(writes=1), example=_TAKEN)
def take_lease(current: Lease | None, name: LeaseName, owner: Owner, now: Millis, until: Millis) -> Plan[Lease]:
    """A process takes a lease that is free, has lapsed, or is its own. Of many processes one gets it.

    `current` is the lease as it was read. The epoch goes up by one when the lease changes hands, also after a release,
    whatever the clocks say; an owner that takes its own lease again keeps its epoch. A lease that ends more than a
    minute after the one asked for has lapsed: the clock was set back since, and nobody may wait until it has caught up.
    """
    if until <= now:
        raise ValueError("A lease ends after it begins.")
    if current is not None and current.name != name:
        raise ValueError("The lease that was read is not the one to take.")
    expires_at = expiry(until, LEASE_ITEM_TTL)
    if current is None:
        first = Lease(name=name, owner=owner, until=until, epoch=now // SECOND, expires_at=expires_at)
        return Plan(put(first, if_absent=True))
    if current.owner == owner:
        return renew_lease(current, until)
    if current.owner is not None and now < current.until <= until + MAX_CLOCK_SKEW:
        raise LeaseHeld("Another process holds the lease. Try again when it has lapsed.")
    edits = (
        lease_owner.set(owner),
        lease_until.set(until),
        lease_epoch.set(current.epoch + 1),
        lease_expires.set(expires_at),
    )
    free = lease_owner.missing() | lease_until.at_most(now) | lease_until.above(until + MAX_CLOCK_SKEW)
    return Plan(update(Lease.key(name=name), *edits, when=lease_epoch.equals(current.epoch) & free))


@platform.write(budget=Budget(writes=1), example={"held": _HELD})
def renew_lease(held: Lease, until: Millis) -> Plan[Lease]:
    """The owner extends a lease, and shortens only one from before the clock was set back by more than a minute.

    Refused when it has changed hands.
    """
    edits = lease_until.set(until), lease_expires.set(expiry(until, LEASE_ITEM_TTL))
    later = lease_until.at_most(until) | lease_until.above(until + MAX_CLOCK_SKEW)
    return Plan(update(Lease.key(name=held.name), *edits, when=_is_held(held) & later))


@platform.write(budget=Budget(writes=1), example={"held": _HELD})
def release_lease(held: Lease, now: Millis) -> Plan[Lease]:
    """The owner releases a lease before it lapses. The item stays for a week, since it holds the epoch."""
    edits = lease_owner.remove(), lease_until.set(now), lease_expires.set(expiry(now, LEASE_ITEM_TTL))
    return Plan(update(Lease.key(name=held.name), *edits, when=_is_held(held)))


def _is_held(held: Lease) -> Condition[Lease]:
    if held.owner is None:
        raise LeaseNotHeld("This lease has no owner. Take it, and pass what that returned.")
    return lease_owner.equals(held.owner) & lease_epoch.equals(held.epoch)
