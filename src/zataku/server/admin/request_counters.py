"""Counters of all requests: how many, how many failed, and their durations."""

from math import log, nan

_FIRST_BUCKET_MS = 0.05
# Each bucket is a tenth wider than the one before, so that a quantile is exact to five per cent.
_BUCKET_GROWTH = 1.1
_BUCKETS = 160
_LOG_GROWTH = log(_BUCKET_GROWTH)


class DurationHistogram:
    """The durations of requests since the last reading, in buckets of constant number."""

    def __init__(self) -> None:
        self._counts = [0] * _BUCKETS
        self._total = 0

    def record(self, ms: float) -> None:
        """Count one duration."""
        bucket = 0 if ms <= _FIRST_BUCKET_MS else min(int(log(ms / _FIRST_BUCKET_MS) / _LOG_GROWTH) + 1, _BUCKETS - 1)
        self._counts[bucket] += 1
        self._total += 1

    def read_and_reset(self) -> tuple[float, float]:
        """The median and the 95th percentile in milliseconds, NaN without requests. Starts again from zero."""
        quantiles = (self._quantile(0.5), self._quantile(0.95))
        self._counts = [0] * _BUCKETS
        self._total = 0
        return quantiles

    def _quantile(self, share: float) -> float:
        seen = 0
        for bucket, count in enumerate(self._counts):
            seen += count
            if count and seen >= share * self._total:
                return _FIRST_BUCKET_MS if bucket == 0 else _FIRST_BUCKET_MS * _BUCKET_GROWTH ** (bucket - 0.5)
        return nan


class RequestCounters:
    """The number of answered requests and of failed ones, and their durations."""

    def __init__(self) -> None:
        self.requests = 0
        self.errors = 0
        self.durations = DurationHistogram()

    def record(self, status: int, ms: float) -> None:
        """Count an answered request. Errors are failures of the server, with a status of 500 or more."""
        self.requests += 1
        self.errors += status >= 500
        self.durations.record(ms)
