"""Assignment of the shards of a stream to the workers that read it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from random import Random

from msgspec import Struct

from zataku.clock import Clock
from zataku.table.dynamodb.streams.leases import Lease


class LeaseMonitor:
    """Measures on its own clock how long each lease has not been renewed."""

    def __init__(self, clock: Clock, lease_seconds: float) -> None:
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._seen: dict[str, tuple[str | None, int, float]] = {}

    def observe(self, leases: Mapping[str, Lease]) -> None:
        """Record which leases have changed since the last call."""
        now = self._clock.now()
        before, self._seen = self._seen, {}
        for shard, lease in leases.items():
            seen = before.get(shard)
            if seen is None or seen[:2] != (lease.owner, lease.counter):
                seen = (lease.owner, lease.counter, now)
            # The clock may have been set back since: then the time of the lease begins again.
            self._seen[shard] = (*seen[:2], min(seen[2], now))

    def is_free(self, lease: Lease) -> bool:
        """True when the lease has no owner, or its owner has not renewed it in time."""
        if lease.owner is None:
            return True
        seen = self._seen.get(lease.shard)
        return seen is not None and self._clock.now() - seen[2] >= self._lease_seconds

    def next_expiry(self, owner: str) -> float:
        """When the first lease of another worker expires unless it is renewed."""
        now = self._clock.now()
        expiries = (
            since + self._lease_seconds for holder, _, since in self._seen.values() if holder not in (None, owner)
        )
        return min((at for at in expiries if at > now), default=float("inf"))


class Assignment(Struct, frozen=True):
    """Shards that a worker should take, and a lease that it should request."""

    take: Sequence[str]
    request: Lease | None = None


def assign_shards(
    shards: Collection[str], leases: Mapping[str, Lease], monitor: LeaseMonitor, owner: str, random: Random
) -> Assignment:
    """What this worker should do so that all live workers get equally many shards."""
    held = {shard: leases[shard] for shard in shards if _is_held(leases.get(shard), monitor, owner)}
    counts = Counter(lease.owner for lease in held.values())
    own = counts[owner]
    fair_share = -(-len(shards) // len(counts | Counter([owner])))
    free = [shard for shard in shards if shard not in held]
    random.shuffle(free)
    take = free[: max(0, fair_share - own)]
    has_request = any(lease.wanted == owner for lease in held.values())
    if free or has_request or not held:
        return Assignment(take)
    busiest, count = counts.most_common(1)[0]
    if busiest == owner or count < own + 2:
        return Assignment(take)
    available = [lease for lease in held.values() if lease.owner == busiest and lease.wanted is None]
    return Assignment(take, random.choice(available) if available else None)


def _is_held(lease: Lease | None, monitor: LeaseMonitor, owner: str) -> bool:
    return lease is not None and (lease.owner == owner or not monitor.is_free(lease))
