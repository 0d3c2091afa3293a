"""What the server counts of every request, and what of it a sample takes: how many, how many failed, how long."""

from math import log, nan

_SHORTEST_MS = 0.05
# Each class of durations is a tenth wider than the one before, so that a quantile is right to five per cent.
_WIDER = 1.1
_CLASSES = 160
_STEP = log(_WIDER)


class Durations:
    """How long requests took since somebody last asked, in classes: bounded, however many there are."""

    def __init__(self) -> None:
        self._counts = [0] * _CLASSES
        self._total = 0

    def note(self, ms: float) -> None:
        """One more."""
        place = 0 if ms <= _SHORTEST_MS else min(int(log(ms / _SHORTEST_MS) / _STEP) + 1, _CLASSES - 1)
        self._counts[place] += 1
        self._total += 1

    def taken(self) -> tuple[float, float]:
        """The median and the 95th percentile in milliseconds, not a number when there was none; then from zero."""
        found = (self._quantile(0.5), self._quantile(0.95))
        self._counts = [0] * _CLASSES
        self._total = 0
        return found

    def _quantile(self, share: float) -> float:
        passed = 0
        for place, count in enumerate(self._counts):
            passed += count
            if count and passed >= share * self._total:
                return _SHORTEST_MS if place == 0 else _SHORTEST_MS * _WIDER ** (place - 0.5)
        return nan


class Counters:
    """What the server's middleware counts: every request, once it is answered."""

    def __init__(self) -> None:
        self.requests = 0
        self.errors = 0
        self.durations = Durations()

    def note(self, status: int, ms: float) -> None:
        """A request was answered. Errors are those of the server, not what it refused."""
        self.requests += 1
        self.errors += status >= 500
        self.durations.note(ms)
