"""Leases of rooms in the platform table: which process runs a room at the moment.

A lease is for liveness: it keeps two processes from taking a room from each other, and frees the room when its owner is
gone. That only one of them writes is ensured by the epoch in the room's own item.
"""

import asyncio
from collections.abc import Callable

import msgspec

from zataku.clock import Clock, now_ms
from zataku.platform import lease_writes
from zataku.platform.design import Lease, lease
from zataku.platform.errors import LeaseHeld
from zataku.platform.limits import MAX_CLOCK_SKEW, SECOND, OwnerId
from zataku.table import ConditionFailed, ResultUnknown, Store, TableError

LEASE_MS = 5 * SECOND
RENEWAL_INTERVAL_MS = 3 * SECOND // 2
MAX_ACQUIRE_ATTEMPTS = 8
MAX_CONCURRENT_RENEWALS = 32


class LeasedElsewhere(msgspec.Struct, frozen=True):
    """The process that holds the lease, and until when in milliseconds."""

    owner: str
    until: int


class HeldLease:
    """A lease that this process holds, as far as it knows. `item` is None where no lease is needed."""

    def __init__(self, leases: "RoomLeases", item: Lease | None) -> None:
        self._leases = leases
        self.item = item
        self.on_lost: Callable[[], None] | None = None

    def notify_lost(self) -> None:
        """Call `on_lost`: another process has the lease."""
        if self.on_lost is not None:
            self.on_lost()

    @property
    def is_fresh(self) -> bool:
        """False when the lease has expired by our own clock, or the clock was set back: another process may have it."""
        now = self._leases.now_ms()
        return self.item is None or now < self.item.until <= now + LEASE_MS + MAX_CLOCK_SKEW

    async def confirm(self) -> bool:
        """True when the lease is still ours. It is renewed in the table only if it has expired by our clock."""
        return self.is_fresh or await self._leases.renew(self)


class RoomLeases:
    """The leases of this process. A process that is alone on its bus needs none: no other could call its rooms."""

    def __init__(self, store: Store, clock: Clock, owner: OwnerId, *, is_alone: bool) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._is_alone = is_alone
        self._held: set[HeldLease] = set()

    def now_ms(self) -> int:
        """The time in milliseconds."""
        return now_ms(self._clock)

    async def acquire(self, topic: str) -> HeldLease | LeasedElsewhere:
        """The lease of a room, acquired if it is free; else the process that holds it."""
        if self._is_alone:
            return HeldLease(self, None)
        name, error = f"room/{topic}", None
        for _ in range(MAX_ACQUIRE_ATTEMPTS):
            current, now = await self._store.get(lease(name)), self.now_ms()
            try:
                item = await self._store.write(lease_writes.take_lease(current, name, self._owner, now, now + LEASE_MS))
            except LeaseHeld:
                assert current is not None
                return LeasedElsewhere(str(current.owner), current.until)
            except (ConditionFailed, ResultUnknown) as unsettled:
                # Another process was faster, or the outcome is unknown: the next read shows which.
                error = unsettled
                continue
            assert item is not None
            held = HeldLease(self, item)
            self._held.add(held)
            return held
        assert error is not None
        raise error

    async def renew(self, held: HeldLease) -> bool:
        """Extend a lease. False when it is lost, or when it has expired and the table does not answer."""
        if held.item is None:
            return True
        until = self.now_ms() + LEASE_MS
        if held.item.until <= until + MAX_CLOCK_SKEW:
            until = max(until, held.item.until)
        try:
            renewed = await self._store.write(lease_writes.renew_lease(held.item, until))
        except ConditionFailed as failed:
            current = failed.current
        except TableError:
            # The outcome is unknown, or the table is unreachable: the lease stays ours until it expires by our clock.
            return held.is_fresh
        else:
            held.item = renewed
            return True
        # A renewal whose reply was lost may have extended it further than we know.
        if isinstance(current, Lease) and (current.owner, current.epoch) == (held.item.owner, held.item.epoch):
            held.item = current
            return True
        self.forget(held)
        held.notify_lost()
        return False

    async def renew_due(self) -> None:
        """Extend all leases whose last renewal is due again, and those from before the clock was set back."""
        soon = self.now_ms() + LEASE_MS - RENEWAL_INTERVAL_MS
        due = [held for held in self._held if held.item is not None and (held.item.until <= soon or not held.is_fresh)]
        for first in range(0, len(due), MAX_CONCURRENT_RENEWALS):
            await asyncio.gather(*(self.renew(held) for held in due[first : first + MAX_CONCURRENT_RENEWALS]))

    async def release(self, held: HeldLease) -> None:
        """Free a lease before it expires, so that other processes need not wait for it."""
        if held not in self._held or held.item is None:
            return
        self.forget(held)
        try:
            await self._store.write(lease_writes.release_lease(held.item, self.now_ms()))
        except TableError:
            # It expires by itself in a few seconds.
            pass

    def forget(self, held: HeldLease) -> None:
        """Stop renewing a lease, without releasing it."""
        self._held.discard(held)
