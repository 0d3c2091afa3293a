"""The sizes of all tables, cached, since counting a large store takes long."""

import asyncio

from zataku.clock import Clock, has_passed
from zataku.table import Store
from zataku.table.backend.port import Size

_MIN_CACHE_SECONDS = 15.0
# Counting takes at most a twentieth of the time of its thread.
_CACHE_FACTOR = 20


class TableSizes:
    """The sizes of a store's tables as last counted. Concurrent callers wait for one count."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._counting: asyncio.Task[None] | None = None
        self._sizes: dict[tuple[str, str | None], Size] = {}
        self._cache_seconds = 0.0
        self.counted_at = 0.0

    async def read(self) -> dict[tuple[str, str | None], Size]:
        """Sizes by table and index, None for the table itself."""
        if has_passed(self.counted_at, self._clock.now(), self._cache_seconds):
            if self._counting is None or self._counting.done():
                self._counting = asyncio.create_task(self._count())
            # A cancelled caller must not cancel the count for the others.
            await asyncio.shield(self._counting)
        return self._sizes

    def invalidate(self) -> None:
        """Count again at the next call."""
        self._cache_seconds = 0.0

    async def _count(self) -> None:
        started_at = self._clock.now()
        self._sizes = {(size.table, size.index): size for size in await self._store.backend.sizes()}
        self.counted_at = self._clock.now()
        self._cache_seconds = max(_MIN_CACHE_SECONDS, (self.counted_at - started_at) * _CACHE_FACTOR)
