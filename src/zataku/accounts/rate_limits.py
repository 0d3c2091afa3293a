"""Rate limits per caller and per address, as token buckets.

An empty bucket refuses the request with the time until the next token. Buckets are in the memory of this process only.
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
# The buckets of each limit; beyond this number the least recently used are dropped.
MAX_BUCKETS = 20_000
_IPV6_PREFIX_LENGTH = 64

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
    """An average of `times` in `seconds`, and `burst` at once."""

    times: int
    seconds: float
    burst: int

    @property
    def rate(self) -> float:
        """The tokens that are added per second."""
        return self.times / self.seconds


RATE_LIMITS: Mapping[RateLimitName, RateLimit] = MappingProxyType(
    {
        # Enough for a forgotten password; guessing one needs thousands.
        "sign_in": RateLimit(5, MINUTE, 5),
        "sign_in_address": RateLimit(20, MINUTE, 20),
        # All guests of a party may sign up behind one router within the same minutes.
        "sign_up_address": RateLimit(60, HOUR, 30),
        # For signed-in users who change the password, create a key or delete the account.
        "password": RateLimit(5, MINUTE, 5),
        "write": RateLimit(60, MINUTE, 30),
        "read": RateLimit(600, MINUTE, 200),
        # A room full of people may share one address, as behind the router of a club. Without the limits per address a
        # client without cookies would be a new guest each time, and never limited.
        "write_address": RateLimit(1200, MINUTE, 600),
        # A hall of 500 phones opens a room in the same minute, and its summary at the end of a short talk: four
        # responses for each phone at either time. A second hall may be behind the same router.
        "read_address": RateLimit(12_000, MINUTE, 6000),
        # A hall that opens a page for the first time requests all of its files at once.
        "file_address": RateLimit(60_000, MINUTE, 30_000),
        # QR codes that are not cached yet: drawing one is slow.
        "code_address": RateLimit(60, MINUTE, 60),
        # The server replaces it by its setting `sockets_per_address`.
        "socket_address": RateLimit(3000, MINUTE, 1500),
    }
)


class _Bucket(msgspec.Struct):
    tokens: float
    updated_at: float


class RateLimits:
    """The buckets of all limits and callers."""

    def __init__(
        self,
        clock: Clock,
        limits: Mapping[RateLimitName, RateLimit] = RATE_LIMITS,
        *,
        max_buckets: int = MAX_BUCKETS,
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._max_buckets = max_buckets
        self._buckets: dict[RateLimitName, OrderedDict[str, _Bucket]] = {name: OrderedDict() for name in limits}

    def consume(self, name: RateLimitName, *caller: str) -> None:
        """Take one token of a caller, or raise RateLimited with the seconds until there is one."""
        limit, bucket = self._limits[name], self._bucket(name, "\n".join(caller))
        if bucket.tokens < 1:
            wait = math.ceil((1 - bucket.tokens) / limit.rate)
            unit = "second" if wait == 1 else "seconds"
            raise RateLimited(f"That was a bit fast. Try again in {wait} {unit}.", retry_after=wait)
        bucket.tokens -= 1

    def refund(self, name: RateLimitName, *caller: str) -> None:
        """Return a token, for a request that had no effect."""
        bucket = self._bucket(name, "\n".join(caller))
        bucket.tokens = min(self._limits[name].burst, bucket.tokens + 1)

    def _bucket(self, name: RateLimitName, caller: str) -> _Bucket:
        limit, buckets, now = self._limits[name], self._buckets[name], self._clock.now()
        bucket = buckets.get(caller)
        if bucket is None:
            bucket = buckets[caller] = _Bucket(limit.burst, now)
            if len(buckets) > self._max_buckets:
                buckets.popitem(last=False)
            return bucket
        buckets.move_to_end(caller)
        # A clock that was set back adds and removes nothing.
        bucket.tokens = min(limit.burst, bucket.tokens + max(0.0, now - bucket.updated_at) * limit.rate)
        bucket.updated_at = now
        return bucket


def client_network(address: str | None) -> str:
    """The network that is limited as one address: an IPv4 address, or the /64 of an IPv6 address."""
    try:
        parsed = ip_address((address or "").partition("%")[0])
    except ValueError:
        return "unknown"
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((parsed, _IPV6_PREFIX_LENGTH), strict=False))
