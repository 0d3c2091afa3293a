"""Writes about leases, and about the checkpoints that their epochs guard."""

from zataku.platform.design import Checkpoint, Lease, platform
from zataku.platform.errors import LeaseHeld
from zataku.platform.limits import (
    CHECKPOINT_REMEMBERED,
    LEASE_ITEM_TTL,
    POSITION_DIGITS,
    SECOND,
    Consumer,
    Epoch,
    LeaseName,
    Owner,
    OwnerId,
    Position,
    StreamShard,
    TableName,
    expiry,
)
from zataku.table import Budget, Condition, Millis, Plan, path, put, update

_HELD = Lease(name="room/drawing/7F3K9Q", owner=OwnerId("web-1"), until=1, epoch=1, expires_at=1)
_TAKEN = {"found": _HELD, "name": _HELD.name, "owner": OwnerId("web-2"), "now": 2, "until": 3}

lease_owner = path(Lease, lambda it: it.owner)
lease_until = path(Lease, lambda it: it.until)
lease_epoch = path(Lease, lambda it: it.epoch)
lease_expires = path(Lease, lambda it: it.expires_at)
checkpoint_epoch = path(Checkpoint, lambda it: it.epoch)
reached = path(Checkpoint, lambda it: it.reached)


@platform.write(budget=Budget(writes=1), example=_TAKEN)
def take_lease(found: Lease | None, name: LeaseName, owner: Owner, now: Millis, until: Millis) -> Plan[Lease]:
    """A process takes a lease that nobody has, that has lapsed, or that is its own. Of many processes one gets it.

    `found` is the lease as it was read. The epoch goes up by one when it changes hands, also when the owner before had
    let it go, whatever the clocks say; whoever takes its own lease again keeps its epoch.
    """
    if until <= now:
        raise ValueError("A lease ends after it begins.")
    if found is not None and found.name != name:
        raise ValueError("Another lease was read than is to be taken.")
    expires_at = expiry(until, LEASE_ITEM_TTL)
    if found is None:
        first = Lease(name=name, owner=owner, until=until, epoch=now // SECOND, expires_at=expires_at)
        return Plan(put(first, if_absent=True))
    if found.owner == owner:
        return renew_lease(found, until)
    if found.owner is not None and found.until > now:
        raise LeaseHeld("Somebody else holds the lease. Come back when it has lapsed.")
    edits = (
        lease_owner.set(owner),
        lease_until.set(until),
        lease_epoch.set(found.epoch + 1),
        lease_expires.set(expires_at),
    )
    free = lease_owner.missing() | lease_until.at_most(now)
    return Plan(update(Lease.key(name=name), *edits, when=lease_epoch.equals(found.epoch) & free))


@platform.write(budget=Budget(writes=1), example={"held": _HELD})
def renew_lease(held: Lease, until: Millis) -> Plan[Lease]:
    """The owner keeps a lease for longer, never shorter. Refused when it has changed hands, however short the time."""
    edits = lease_until.set(until), lease_expires.set(expiry(until, LEASE_ITEM_TTL))
    return Plan(update(Lease.key(name=held.name), *edits, when=_still(held) & lease_until.at_most(until)))


@platform.write(budget=Budget(writes=1), example={"held": _HELD})
def release_lease(held: Lease, now: Millis) -> Plan[Lease]:
    """The owner lets a lease go before its time. The item stays for a week, since it knows the epoch."""
    edits = lease_owner.remove(), lease_until.set(now), lease_expires.set(expiry(now, LEASE_ITEM_TTL))
    return Plan(update(Lease.key(name=held.name), *edits, when=_still(held)))


@platform.write(budget=Budget(writes=1))
def move_checkpoint(
    consumer: Consumer, table: TableName, shard: StreamShard, position: Position, epoch: Epoch, now: Millis
) -> Plan[Checkpoint]:
    """A consumer has dealt with the changes up to a position. Refused when a later owner of the lease has been here.

    Within an epoch it never goes back. Whoever takes the lease over first writes the position that it finds, under its
    own epoch: from then on the owner before it is refused. What that one dealt with after the position was read is
    dealt with again. A transaction with the lease would cost four units instead of one.
    """
    made = Checkpoint(
        consumer=consumer,
        table=table,
        shard=shard,
        position=position,
        reached=position.zfill(POSITION_DIGITS),
        epoch=epoch,
        moved_at=now,
        expires_at=expiry(now, CHECKPOINT_REMEMBERED),
    )
    onwards = checkpoint_epoch.equals(epoch) & reached.at_most(made.reached)
    return Plan(put(made, when=checkpoint_epoch.missing() | checkpoint_epoch.below(epoch) | onwards))


def _still(held: Lease) -> Condition[Lease]:
    if held.owner is None:
        raise LeaseHeld("Nobody holds this lease. Take it first.")
    return lease_owner.equals(held.owner) & lease_epoch.equals(held.epoch)
