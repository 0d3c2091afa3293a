"""Limits of exports, each of which reads a whole room: at once and a minute, by person, by address and in all."""

from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from zataku.accounts.rate_limits import RateLimits
from zataku.errors import RateLimited

EXPORT: Mapping[str, Any] = {"export": True}
"""The `opt` of handlers whose responses are exports. The server limits them."""
MAX_EXPORTS_PER_PERSON = 2
"""One for each format."""
RETRY_SECONDS = 5.0


class ExportLimits:
    """The exports that are running in this process, and how often they may begin."""

    def __init__(self, rate_limits: RateLimits, *, max_exports: int, max_per_address: int) -> None:
        self._rate_limits = rate_limits
        self._max_exports = max_exports
        self._max_per_address = max_per_address
        self._running: Counter[str] = Counter()

    @property
    def running(self) -> int:
        """How many exports are running."""
        return self._running["all"]

    @contextmanager
    def slot(self, person: str, address: str) -> Generator[None]:
        """Hold a slot while the block runs. Raises `RateLimited` when there is none, or exports begin too often."""
        keys = ("all", f"address {address}", f"person {person}")
        limits = (self._max_exports, self._max_per_address, MAX_EXPORTS_PER_PERSON)
        if any(self._running[key] >= limit for key, limit in zip(keys, limits, strict=True)):
            raise RateLimited("Too many exports are running. Try again in a moment.", retry_after=RETRY_SECONDS)
        self._rate_limits.consume("export", person)
        self._rate_limits.consume("export_address", address)
        self._rate_limits.consume("export_all")
        self._running.update(keys)
        try:
            yield
        finally:
            self._running.subtract(keys)
            for key in keys:
                if not self._running[key]:
                    del self._running[key]
