"""The metrics of the last day, sampled every ten seconds: requests, sockets, rooms, units, lag and memory.

They are in memory only and start empty with each process.
"""

import resource
from array import array
from collections.abc import Callable, Sequence
from math import ceil, isnan
from pathlib import Path

import msgspec

from zataku.clock import Clock
from zataku.server.admin.messages import MetricHistory
from zataku.server.admin.request_counters import RequestCounters
from zataku.table import Meter

STEP_SECONDS = 10
MAX_SAMPLES = 24 * 3600 // STEP_SECONDS
MAX_POINTS = 400

_PAGE_BYTES = resource.getpagesize()
_STATM = Path("/proc/self/statm")
_COLUMNS = tuple(name for name in MetricHistory.__struct_fields__ if name not in ("step_seconds", "at"))
# A point of these is the maximum of its samples; of all others the mean.
_MAXIMA = frozenset({"p95_ms", "loop_lag_ms"})


class Gauges(msgspec.Struct, frozen=True, kw_only=True):
    """Functions that are read at each sample. They must not block or raise."""

    sockets: Callable[[], float]
    rooms: Callable[[], float]
    loop_lag_ms: Callable[[], float]
    memory_mb: Callable[[], float]


class History:
    """The samples of the last 24 hours. `run` is a task that lasts as long as the server."""

    def __init__(self, clock: Clock, meter: Meter, counters: RequestCounters, gauges: Gauges) -> None:
        self._clock = clock
        self._meter = meter
        self._counters = counters
        self._gauges = gauges
        self._at = array("d")
        self._columns = {name: array("d") for name in _COLUMNS}
        self._oldest = 0
        self._previous = (clock.now(), *self._sums())

    async def run(self) -> None:
        """Sample until cancelled."""
        while True:
            await self._clock.sleep(STEP_SECONDS)
            self.sample()

    def sample(self) -> None:
        """Store the current gauges, and the rates since the last sample."""
        sums = (self._clock.now(), *self._sums())
        seconds, requests, errors, reads, writes = (new - old for new, old in zip(sums, self._previous, strict=True))
        if seconds != 0:
            # Also when the clock was set back, so that the next sample is the first after it.
            self._previous = sums
        if seconds <= 0:
            return
        median, p95 = self._counters.durations.read_and_reset()
        gauges = self._gauges
        self._store(
            sums[0],
            requests_per_second=requests / seconds,
            errors_per_second=errors / seconds,
            median_ms=median,
            p95_ms=p95,
            sockets=gauges.sockets(),
            rooms=gauges.rooms(),
            read_units_per_second=reads / seconds,
            write_units_per_second=writes / seconds,
            loop_lag_ms=gauges.loop_lag_ms(),
            memory_mb=gauges.memory_mb(),
        )

    def over(self, minutes: int) -> MetricHistory:
        """The last minutes in at most 400 points."""
        # One less: the first and the last point may each hold a part of their samples only.
        step = STEP_SECONDS * ceil(minutes * 60 / STEP_SECONDS / (MAX_POINTS - 1))
        points = self._points(self._clock.now() - minutes * 60, step)
        at = [round(self._at[point[-1]] * 1000) for point in points]
        columns = {name: [self._value(name, point) for point in points] for name in _COLUMNS}
        return MetricHistory(step_seconds=step, at=at, **columns)

    def _sums(self) -> tuple[float, float, float, float]:
        # A copy: other threads may be counting.
        totals = list(self._meter.totals.values())
        reads, writes = sum(usage.reads for usage in totals), sum(usage.writes for usage in totals)
        return self._counters.requests, self._counters.errors, reads, writes

    def _store(self, now: float, **values: float) -> None:
        if len(self._at) < MAX_SAMPLES:
            self._at.append(now)
            for name, value in values.items():
                self._columns[name].append(value)
            return
        self._at[self._oldest] = now
        for name, value in values.items():
            self._columns[name][self._oldest] = value
        self._oldest = (self._oldest + 1) % MAX_SAMPLES

    def _points(self, since: float, step: int) -> list[list[int]]:
        """The sample indexes of each point. Steps begin at the same times for every request."""
        points: dict[int, list[int]] = {}
        for index in (*range(self._oldest, len(self._at)), *range(self._oldest)):
            at = self._at[index]
            if at > since:
                # A sample covers the time before it.
                points.setdefault(ceil(at / step), []).append(index)
        return list(points.values())

    def _value(self, name: str, indexes: Sequence[int]) -> float | None:
        column = self._columns[name]
        values = [value for value in (column[index] for index in indexes) if not isnan(value)]
        if not values:
            return None
        return max(values) if name in _MAXIMA else sum(values) / len(values)


def resident_megabytes() -> float:
    """The resident memory of this process in millions of bytes; its peak where the system reports only that."""
    try:
        return int(_STATM.read_bytes().split()[1]) * _PAGE_BYTES / 1_000_000
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1_000_000
