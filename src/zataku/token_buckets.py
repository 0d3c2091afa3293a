"""Token buckets, by which every rate is limited: a burst at once, and a number a second on average."""

from collections import OrderedDict

DEFAULT_MAX_BUCKETS = 20_000


class TokenBucket:
    """The tokens of one caller. Time is passed in; a clock that was set back adds and removes nothing."""

    __slots__ = ("_at", "_burst", "_rate", "_tokens")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate, self._burst = rate, burst
        self._tokens, self._at = burst, now

    def take(self, now: float, tokens: float = 1) -> float:
        """Take tokens. Returns 0, or when there are too few the seconds until there are enough; none is taken then."""
        self._refill(now)
        if self._tokens < tokens:
            return (tokens - self._tokens) / self._rate
        self._tokens -= tokens
        return 0.0

    def overdraw(self, now: float, tokens: float = 1) -> float:
        """Take tokens even if there are too few, so that a caller who ignores the limit is recognised. As `take`."""
        self._refill(now)
        self._tokens -= tokens
        return 0.0 if self._tokens >= 0 else -self._tokens / self._rate

    def give_back(self, tokens: float = 1) -> None:
        """Return tokens that were taken for something without effect."""
        self._tokens = min(self._burst, self._tokens + tokens)

    @property
    def is_overdrawn(self) -> bool:
        """True for a caller who continued although they had to wait."""
        return self._tokens < -self._burst

    def _refill(self, now: float) -> None:
        self._tokens = min(self._burst, self._tokens + max(0.0, now - self._at) * self._rate)
        self._at = now


class TokenBuckets:
    """The buckets of one limit by caller. Beyond their maximum the least recently used are dropped."""

    def __init__(self, rate: float, burst: float, max_buckets: int = DEFAULT_MAX_BUCKETS) -> None:
        self._rate, self._burst = rate, burst
        self._max_buckets = max_buckets
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def of(self, caller: str, now: float) -> TokenBucket:
        """The bucket of a caller, full for a new one."""
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = self._buckets[caller] = TokenBucket(self._rate, self._burst, now)
            if len(self._buckets) > self._max_buckets:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(caller)
        return bucket
