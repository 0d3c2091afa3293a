"""The check behind `/readyz`: whether the store can be read and written."""

import asyncio

import structlog

from zataku.clock import Clock, now_ms
from zataku.platform.design import Lease, lease
from zataku.platform.lease_writes import release_lease
from zataku.platform.limits import OwnerId
from zataku.table import ConditionFailed, Store, TableError

log = structlog.stdlib.get_logger()

CHECK_SECONDS = 1.0
"""How long a result is kept: however many callers there are, the store is asked once a second."""
TIMEOUT_SECONDS = 2.0
"""A store that takes longer counts as one that does not answer."""
# Nobody holds this lease, so that its release is refused: the writer answers, and nothing is written.
_NOBODYS = Lease(name="readyz", owner=OwnerId("nobody"), until=0, epoch=1, expires_at=0)


class Readiness:
    """Asks the store whether it works. Callers at the same time share one question."""

    def __init__(self, store: Store, clock: Clock, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self._store = store
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._is_ready = True
        self._checked_at: float | None = None
        self._check: asyncio.Task[None] | None = None

    async def is_ready(self) -> bool:
        """True when the store answered a read and a write within the last second, or does so now."""
        age = None if self._checked_at is None else self._clock.now() - self._checked_at
        if age is None or not 0 <= age < CHECK_SECONDS:
            if self._check is None:
                self._check = asyncio.create_task(self._ask())
            # A caller that leaves must not end the check of the others.
            await asyncio.shield(self._check)
        return self._is_ready

    async def _ask(self) -> None:
        try:
            problem = await self._problem()
            if (problem is None) != self._is_ready:
                self._is_ready = problem is None
                log.warning("store_ready" if problem is None else "store_not_ready", problem=problem)
        finally:
            self._checked_at = self._clock.now()
            self._check = None

    async def _problem(self) -> str | None:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._store.get(lease(_NOBODYS.name))
                await self._store.write(release_lease(_NOBODYS, now_ms(self._clock)))
        except ConditionFailed:
            return None
        except TimeoutError:
            return f"no answer within {self._timeout_seconds:g} s"
        except TableError as error:
            return f"{error.code}: {error.message}"
        return None
