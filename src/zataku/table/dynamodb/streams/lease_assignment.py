"""Sharing the shards of a stream between the processes that read it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from random import Random

from msgspec import Struct

from zataku.clock import Clock
from zataku.table.dynamodb.streams.leases import Lease


class Watch:
    """Sees on its own clock how long each lease has not been renewed."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._seen: dict[str, tuple[str | None, int, float]] = {}

    def look(self, leases: Mapping[str, Lease]) -> None:
        """Take note of what changed."""
        now = self._clock.now()
        before, self._seen = self._seen, {}
        for shard, lease in leases.items():
            seen = before.get(shard)
            if seen is None or seen[:2] != (lease.owner, lease.counter):
                seen = (lease.owner, lease.counter, now)
            self._seen[shard] = seen

    def free(self, lease: Lease) -> bool:
        """True when nobody owns the lease, or its owner has not been heard of for too long."""
        if lease.owner is None:
            return True
        seen = self._seen.get(lease.shard)
        return seen is not None and self._clock.now() - seen[2] >= self._seconds

    def next_lapse(self, owner: str) -> float:
        """When the first lease of the others will have lapsed, if it is not renewed before."""
        now = self._clock.now()
        lapses = (since + self._seconds for holder, _, since in self._seen.values() if holder not in (None, owner))
        return min((at for at in lapses if at > now), default=float("inf"))


class Choice(Struct, frozen=True):
    """What an owner should do to come to its share."""

    take: Sequence[str]
    ask: Lease | None = None


def share(shards: Collection[str], leases: Mapping[str, Lease], watch: Watch, owner: str, random: Random) -> Choice:
    """The shards that this owner should take now, so that all living owners come to have equally many."""
    held = {shard: leases[shard] for shard in shards if _taken(leases.get(shard), watch, owner)}
    holding = Counter(lease.owner for lease in held.values())
    mine = holding[owner]
    fair = -(-len(shards) // len(holding | Counter([owner])))
    free = [shard for shard in shards if shard not in held]
    random.shuffle(free)
    take = free[: max(0, fair - mine)]
    asked = any(lease.wanted == owner for lease in held.values())
    if free or asked or not held:
        return Choice(take)
    most, count = holding.most_common(1)[0]
    if most == owner or count < mine + 2:
        return Choice(take)
    theirs = [lease for lease in held.values() if lease.owner == most and lease.wanted is None]
    return Choice(take, random.choice(theirs) if theirs else None)


def _taken(lease: Lease | None, watch: Watch, owner: str) -> bool:
    return lease is not None and (lease.owner == owner or not watch.free(lease))
