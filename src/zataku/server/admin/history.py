"""How the server went over the last day: requests, people, units, memory, sampled every ten seconds.

It lies in memory and begins anew with each start.
"""

from array import array
from collections.abc import Callable, Sequence
from math import ceil, isnan

import msgspec

from zataku.clock import Clock
from zataku.server.admin.messages import HistoryAnswer
from zataku.server.admin.request_counters import Counters
from zataku.table import Meter

STEP_SECONDS = 10
KEPT = 24 * 3600 // STEP_SECONDS
MOST_POINTS = 400

_COLUMNS = tuple(name for name in HistoryAnswer.__struct_fields__ if name not in ("step_seconds", "at"))
# Of several samples the worst is what a host looks for; of the others the mean.
_WORST = frozenset({"p95_ms", "loop_lag_ms"})


class Gauges(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked up at each sample. None of them may wait or fail."""

    sockets: Callable[[], float]
    rooms: Callable[[], float]
    loop_lag_ms: Callable[[], float]
    memory_mb: Callable[[], float]


class History:
    """The samples of the last 24 hours. `run` is a task for as long as the server runs."""

    def __init__(self, clock: Clock, meter: Meter, counters: Counters, gauges: Gauges) -> None:
        self._clock = clock
        self._meter = meter
        self._counters = counters
        self._gauges = gauges
        self._at = array("d")
        self._columns = {name: array("d") for name in _COLUMNS}
        self._oldest = 0
        self._before = (clock.now(), *self._sums())

    async def run(self) -> None:
        """Sample until cancelled."""
        while True:
            await self._clock.sleep(STEP_SECONDS)
            self.sample()

    def sample(self) -> None:
        """Note how things are now, and what went on since the last time."""
        sums = (self._clock.now(), *self._sums())
        seconds, requests, errors, reads, writes = (new - old for new, old in zip(sums, self._before, strict=True))
        if seconds <= 0:
            return
        self._before = sums
        median, p95 = self._counters.durations.taken()
        gauges = self._gauges
        self._note(
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

    def over(self, minutes: int) -> HistoryAnswer:
        """The last so many minutes, in at most 400 points."""
        # One less, since the first and the last point may each be made of a part only.
        step = STEP_SECONDS * ceil(minutes * 60 / STEP_SECONDS / (MOST_POINTS - 1))
        points = self._points(self._clock.now() - minutes * 60, step)
        at = [round(self._at[point[-1]] * 1000) for point in points]
        columns = {name: [self._value(name, point) for point in points] for name in _COLUMNS}
        return HistoryAnswer(step_seconds=step, at=at, **columns)

    def _sums(self) -> tuple[float, float, float, float]:
        # A copy, since other threads may be counting.
        used = list(self._meter.totals.values())
        reads, writes = sum(each.reads for each in used), sum(each.writes for each in used)
        return self._counters.requests, self._counters.errors, reads, writes

    def _note(self, now: float, **values: float) -> None:
        if len(self._at) < KEPT:
            self._at.append(now)
            for name, value in values.items():
                self._columns[name].append(value)
            return
        self._at[self._oldest] = now
        for name, value in values.items():
            self._columns[name][self._oldest] = value
        self._oldest = (self._oldest + 1) % KEPT

    def _points(self, since: float, step: int) -> list[list[int]]:
        """Where the samples of each point lie. Steps begin at the same moments whenever somebody asks."""
        found: dict[int, list[int]] = {}
        for place in (*range(self._oldest, len(self._at)), *range(self._oldest)):
            at = self._at[place]
            if at > since:
                # A sample tells of the time before it.
                found.setdefault(ceil(at / step), []).append(place)
        return list(found.values())

    def _value(self, name: str, places: Sequence[int]) -> float | None:
        column = self._columns[name]
        known = [value for value in (column[place] for place in places) if not isnan(value)]
        if not known:
            return None
        return max(known) if name in _WORST else sum(known) / len(known)
