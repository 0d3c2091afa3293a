"""Rate limits per caller and per address, as token buckets.

An empty bucket refuses the request with the time until the next token. Buckets are in the memory of this process only.
"""

import math
from collections.abc import Mapping
from ipaddress import IPv6Address, IPv6Network, ip_address
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

from zataku.clock import Clock
from zataku.errors import RateLimited
from zataku.token_buckets import DEFAULT_MAX_BUCKETS, TokenBuckets

MINUTE, HOUR = 60.0, 3600.0
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
    "health_address",
    "code_address",
    "socket_address",
    "export",
    "export_address",
    "export_all",
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
        # Pages ask for /healthz, too, when their socket fails: those of a hall in the same moment.
        "health_address": RateLimit(12_000, MINUTE, 6000),
        # QR codes that are not cached yet: drawing one is slow.
        "code_address": RateLimit(60, MINUTE, 60),
        # An export reads a whole room. At the end of a talk some of the audience may want one.
        "export": RateLimit(6, MINUTE, 6),
        "export_address": RateLimit(60, MINUTE, 30),
        # What ten addresses may begin, so that a few of them leave something to others.
        "export_all": RateLimit(600, MINUTE, 300),
        # The server replaces it by its setting `sockets_per_address`.
        "socket_address": RateLimit(3000, MINUTE, 1500),
    }
)


class RateLimits:
    """The buckets of all limits and callers."""

    def __init__(
        self,
        clock: Clock,
        limits: Mapping[RateLimitName, RateLimit] = RATE_LIMITS,
        *,
        max_buckets: int = DEFAULT_MAX_BUCKETS,
    ) -> None:
        self._clock = clock
        self._buckets = {name: TokenBuckets(limit.rate, limit.burst, max_buckets) for name, limit in limits.items()}

    def consume(self, name: RateLimitName, *caller: str) -> None:
        """Take one token of a caller, or raise RateLimited with the seconds until there is one."""
        now = self._clock.now()
        seconds = self._buckets[name].of("\n".join(caller), now).take(now)
        if seconds:
            wait = math.ceil(seconds)
            unit = "second" if wait == 1 else "seconds"
            raise RateLimited(f"That was a bit fast. Try again in {wait} {unit}.", retry_after=wait)

    def refund(self, name: RateLimitName, *caller: str) -> None:
        """Return a token, for a request that had no effect."""
        self._buckets[name].of("\n".join(caller), self._clock.now()).give_back()


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
