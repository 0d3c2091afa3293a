"""Who runs a room at the moment: a lease in the platform table, which its owner keeps moving on.

A lease is for liveness: it keeps two processes from taking a room from each other, and lets others have it when its
owner is gone. That only one of them writes is held by the epoch in the room's own item.
"""

import asyncio
from collections.abc import Callable

import msgspec

from zataku.clock import Clock
from zataku.platform import lease_writes
from zataku.platform.design import Lease, lease
from zataku.platform.errors import LeaseHeld
from zataku.platform.limits import SECOND, OwnerId
from zataku.table import ConditionFailed, ResultUnknown, Store, TableError

LASTS = 5 * SECOND
RENEWED_AFTER = 3 * SECOND // 2
TRIES = 8
RENEWALS_AT_ONCE = 32


class LeasedElsewhere(msgspec.Struct, frozen=True):
    """Somebody else has the lease, until a moment in milliseconds."""

    owner: str
    until: int


class HeldLease:
    """A lease that this process has, as far as it knows."""

    def __init__(self, leases: "RoomLeases", held: Lease | None) -> None:
        self._leases = leases
        self.held = held
        self.on_lost: Callable[[], None] | None = None

    def lost(self) -> None:
        """Somebody else has it."""
        if self.on_lost is not None:
            self.on_lost()

    @property
    def fresh(self) -> bool:
        """False when the lease has lapsed by our own clock, so that somebody else may have it."""
        return self.held is None or self._leases.millis() < self.held.until

    async def confirmed(self) -> bool:
        """True when the lease is still ours. Asks the table only if it has lapsed by our clock."""
        return self.fresh or await self._leases.renew(self)


class RoomLeases:
    """The leases of this process. A process that is alone on its bus needs none: nobody could ask it for a room."""

    def __init__(self, store: Store, clock: Clock, owner: OwnerId, *, alone: bool) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._alone = alone
        self._holdings: set[HeldLease] = set()

    def millis(self) -> int:
        """Now, in milliseconds."""
        return int(self._clock.now() * SECOND)

    async def take(self, topic: str) -> HeldLease | LeasedElsewhere:
        """Take the lease of a room that nobody has, or say who has it."""
        if self._alone:
            return HeldLease(self, None)
        name, problem = f"room/{topic}", None
        for _ in range(TRIES):
            found, now = await self._store.get(lease(name)), self.millis()
            try:
                taken = await self._store.write(lease_writes.take_lease(found, name, self._owner, now, now + LASTS))
            except LeaseHeld:
                assert found is not None
                return LeasedElsewhere(str(found.owner), found.until)
            except (ConditionFailed, ResultUnknown) as unsettled:
                # Somebody was faster, or nobody knows: the next look tells.
                problem = unsettled
                continue
            assert taken is not None
            holding = HeldLease(self, taken)
            self._holdings.add(holding)
            return holding
        assert problem is not None
        raise problem

    async def renew(self, holding: HeldLease) -> bool:
        """Keep a lease for longer. False when it is lost, or when it has lapsed and the table cannot be asked."""
        if holding.held is None:
            return True
        until = max(self.millis() + LASTS, holding.held.until)
        try:
            renewed = await self._store.write(lease_writes.renew_lease(holding.held, until))
        except ConditionFailed as refused:
            found = refused.current
        except TableError:
            # Nobody knows, or the table is away: it stays ours until it lapses by our clock, and then is asked for.
            return holding.fresh
        else:
            holding.held = renewed
            return True
        # A renewal whose reply was lost may have moved it on further than we know.
        if isinstance(found, Lease) and (found.owner, found.epoch) == (holding.held.owner, holding.held.epoch):
            holding.held = found
            return True
        self._drop(holding)
        holding.lost()
        return False

    async def renew_due(self) -> None:
        """Keep all of them for longer that were renewed a while ago."""
        soon = self.millis() + LASTS - RENEWED_AFTER
        due = [holding for holding in self._holdings if holding.held is not None and holding.held.until <= soon]
        for first in range(0, len(due), RENEWALS_AT_ONCE):
            await asyncio.gather(*(self.renew(holding) for holding in due[first : first + RENEWALS_AT_ONCE]))

    async def release(self, holding: HeldLease) -> None:
        """Let a lease go before its time, so that others need not wait for it."""
        if holding not in self._holdings or holding.held is None:
            return
        self._drop(holding)
        try:
            await self._store.write(lease_writes.release_lease(holding.held, self.millis()))
        except TableError:
            # It lapses by itself in a few seconds.
            pass

    def forget(self, holding: HeldLease) -> None:
        """Renew a lease no more, without asking whether it is still ours."""
        self._drop(holding)

    def _drop(self, holding: HeldLease) -> None:
        self._holdings.discard(holding)
