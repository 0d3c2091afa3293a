"""How often somebody may do something, counted for each caller and for each address they come from.

Each has a bucket that fills by itself; whoever finds it empty is told when to come back. Counts are kept in this
process alone and forgotten when it ends.
"""

import math
from collections import OrderedDict
from collections.abc import Mapping
from ipaddress import IPv6Address, IPv6Network, ip_address
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

from zataku.clock import Clock
from zataku.errors import RateLimited

MINUTE, HOUR = 60.0, 3600.0
# Of each limit so many callers are remembered; of more, those are forgotten who were away longest.
MOST_REMEMBERED = 20_000
_NEIGHBOURS = 64

RateLimitName: TypeAlias = Literal[
    "sign_in",
    "sign_in_address",
    "sign_up_address",
    "password",
    "write",
    "write_address",
    "read",
    "read_address",
    "file_address",
    "code_address",
    "socket_address",
]


class RateLimit(msgspec.Struct, frozen=True):
    """So many times in so many seconds on average, and so many at once."""

    times: int
    seconds: float
    burst: int

    @property
    def rate(self) -> float:
        """How many a second are given back."""
        return self.times / self.seconds


RATE_LIMITS: Mapping[RateLimitName, RateLimit] = MappingProxyType(
    {
        # Somebody who forgot a password tries a few; who guesses needs thousands.
        "sign_in": RateLimit(5, MINUTE, 5),
        "sign_in_address": RateLimit(20, MINUTE, 20),
        # Everybody at a party may sign up behind one router within the same minutes.
        "sign_up_address": RateLimit(60, HOUR, 30),
        # By somebody who is signed in, to change the password or to leave.
        "password": RateLimit(5, MINUTE, 5),
        "write": RateLimit(60, MINUTE, 30),
        "read": RateLimit(600, MINUTE, 200),
        # A room full of people may share one address, as behind the router of a club. Without these, somebody who
        # sends no cookie is a new guest each time, and never too many.
        "write_address": RateLimit(1200, MINUTE, 600),
        # A hall of 500 phones opens a room in the same minute, and at the end of a short talk looks at what is left of
        # it: four answers for each phone at either time. A second hall may be behind the same router.
        "read_address": RateLimit(12_000, MINUTE, 6000),
        # A hall that opens a page for the first time asks for all of its files at once.
        "file_address": RateLimit(60_000, MINUTE, 30_000),
        # QR codes that nobody has asked for yet: each takes a while to draw.
        "code_address": RateLimit(60, MINUTE, 60),
        "socket_address": RateLimit(3000, MINUTE, 1500),
    }
)


class _Bucket(msgspec.Struct):
    left: float
    at: float


class RateLimits:
    """The buckets of all callers."""

    def __init__(
        self,
        clock: Clock,
        limits: Mapping[RateLimitName, RateLimit] = RATE_LIMITS,
        *,
        remembered: int = MOST_REMEMBERED,
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._most = remembered
        self._buckets: dict[RateLimitName, OrderedDict[str, _Bucket]] = {occasion: OrderedDict() for occasion in limits}

    def consume(self, occasion: RateLimitName, *whose: str) -> None:
        """Count one for a caller, or refuse with RateLimited and the seconds until it is possible again."""
        limit, bucket = self._limits[occasion], self._bucket(occasion, "\n".join(whose))
        if bucket.left < 1:
            wait = math.ceil((1 - bucket.left) / limit.rate)
            raise RateLimited(f"Too often. Wait {wait} seconds and try again.", retry_after=wait)
        bucket.left -= 1

    def refund(self, occasion: RateLimitName, *whose: str) -> None:
        """Take one count back, for what came to nothing."""
        bucket = self._bucket(occasion, "\n".join(whose))
        bucket.left = min(self._limits[occasion].burst, bucket.left + 1)

    def _bucket(self, occasion: RateLimitName, whose: str) -> _Bucket:
        limit, buckets, now = self._limits[occasion], self._buckets[occasion], self._clock.now()
        bucket = buckets.get(whose)
        if bucket is None:
            bucket = buckets[whose] = _Bucket(limit.burst, now)
            if len(buckets) > self._most:
                buckets.popitem(last=False)
            return bucket
        buckets.move_to_end(whose)
        # A clock that was set back gives nothing and takes nothing.
        bucket.left = min(limit.burst, bucket.left + max(0.0, now - bucket.at) * limit.rate)
        bucket.at = now
        return bucket


def client_network(address: str | None) -> str:
    """What counts as one address: an IPv4 address, or the /64 of an IPv6 address, which one household has."""
    try:
        found = ip_address((address or "").partition("%")[0])
    except ValueError:
        return "unknown"
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Network((found, _NEIGHBOURS), strict=False))
