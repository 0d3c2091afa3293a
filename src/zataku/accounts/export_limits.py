"""Limits of exports, each of which reads a whole room: at once and a minute, by person, by address and in all.

Where no slot is free, the slowest of the exports that are read slowly makes room: otherwise a few addresses that read
next to nothing would keep all others from exporting their rooms.
"""

from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from zataku.accounts.rate_limits import RateLimits
from zataku.clock import Clock
from zataku.errors import RateLimited

EXPORT: Mapping[str, Any] = {"export": True}
"""The `opt` of handlers whose responses are exports. The server limits them."""
MAX_EXPORTS_PER_PERSON = 2
"""One for each format."""
RETRY_SECONDS = 5.0
SLOW_BYTES_PER_SECOND = 20_000
"""An export that is read more slowly makes room for another when there is no slot. A room of 50,000 comments takes ten
minutes at this rate, which phones in a crowded hall still exceed.
"""
SLOW_SECONDS = 5.0
"""How long it has waited for its client before."""


class RunningExport:
    """An export that holds a slot: whose it is, and how fast its client reads. `end` ends it."""

    def __init__(self, clock: Clock, person: str, address: str, end: Callable[[], None]) -> None:
        self.person, self.address, self.end = person, address, end
        self._clock = clock
        self._sent_bytes = 0
        self._waited = 0.0
        self._sending_since: float | None = None

    @contextmanager
    def sending(self, size: int) -> Generator[None]:
        """Count so many bytes, for which the client is waited for while the block runs."""
        self._sending_since = self._clock.now()
        try:
            yield
        finally:
            self._waited, self._sending_since = self.waited_seconds, None
            self._sent_bytes += size

    @property
    def waited_seconds(self) -> float:
        """How long it has waited for its client altogether. What the server takes does not count."""
        since = self._sending_since
        return self._waited + (0.0 if since is None else max(0.0, self._clock.now() - since))

    @property
    def bytes_per_second(self) -> float:
        """How fast its client reads. Only for an export that has waited."""
        return self._sent_bytes / self.waited_seconds


class ExportLimits:
    """The exports that are running in this process, and how often they may begin."""

    def __init__(self, clock: Clock, rate_limits: RateLimits, *, max_exports: int, max_per_address: int) -> None:
        self._clock = clock
        self._rate_limits = rate_limits
        self._max_exports = max_exports
        self._max_per_address = max_per_address
        self._running: set[RunningExport] = set()

    @property
    def running(self) -> int:
        """How many exports are running."""
        return len(self._running)

    @contextmanager
    def slot(self, person: str, address: str, end: Callable[[], None]) -> Generator[RunningExport]:
        """Hold a slot while the block runs. `end` is called when the export has to make room for another.

        Raises `RateLimited` when there is no slot, or when exports begin too often.
        """
        slow = self._making_room(person, address)
        self._rate_limits.consume("export", person)
        self._rate_limits.consume("export_address", address)
        self._rate_limits.consume("export_all")
        for export in slow:
            self._running.discard(export)
            export.end()
        export = RunningExport(self._clock, person, address, end)
        self._running.add(export)
        try:
            yield export
        finally:
            self._running.discard(export)

    def _making_room(self, person: str, address: str) -> list[RunningExport]:
        """The exports that must end before another may begin."""
        slow: list[RunningExport] = []
        if sum(export.person == person for export in self._running) >= MAX_EXPORTS_PER_PERSON:
            raise _too_many()
        of_address = [export for export in self._running if export.address == address]
        if len(of_address) >= self._max_per_address:
            slow.append(_slowest(of_address))
        if len(self._running) - len(slow) >= self._max_exports:
            slow.append(_slowest(self._running))
        return slow


def _slowest(exports: Collection[RunningExport]) -> RunningExport:
    """The slowest of the exports that are read slowly. Raises `RateLimited` when none is."""
    waiting = [export for export in exports if export.waited_seconds >= SLOW_SECONDS]
    slowest = min(waiting, key=lambda export: export.bytes_per_second, default=None)
    if slowest is None or slowest.bytes_per_second >= SLOW_BYTES_PER_SECOND:
        raise _too_many()
    return slowest


def _too_many() -> RateLimited:
    return RateLimited("Too many exports are running. Try again in a moment.", retry_after=RETRY_SECONDS)
