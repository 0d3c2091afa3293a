"""How much lies in every table, counted once in a while, since a large store takes its time to count."""

import asyncio

from zataku.clock import Clock
from zataku.table import Store
from zataku.table.backend.port import Size

_FRESH_SECONDS = 15.0
# Counting shall not take more than a twentieth of the time of the thread that does it.
_PAUSES = 20


class Sizes:
    """The sizes of a store as last counted. Those who ask at the same time wait for one count."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._counting: asyncio.Task[None] | None = None
        self._found: dict[tuple[str, str | None], Size] = {}
        self._until = 0.0
        self.counted_at = 0.0

    async def now(self) -> dict[tuple[str, str | None], Size]:
        """Sizes by table and index, None for the table itself."""
        if self._clock.now() >= self._until:
            if self._counting is None or self._counting.done():
                self._counting = asyncio.create_task(self._count())
            # Whoever loses patience leaves the count to those who ask next.
            await asyncio.shield(self._counting)
        return self._found

    def forget(self) -> None:
        """Everything may be different now."""
        self._until = 0.0

    async def _count(self) -> None:
        begun = self._clock.now()
        self._found = {(size.table, size.index): size for size in await self._store.backend.sizes()}
        self.counted_at = self._clock.now()
        self._until = self.counted_at + max(_FRESH_SECONDS, (self.counted_at - begun) * _PAUSES)
