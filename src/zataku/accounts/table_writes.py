"""Notes taken in passing, such as when somebody was last here. Nobody waits for one, and no request fails with it."""

import asyncio
from typing import Any

import structlog

from zataku.table import ConditionFailed, Plan, Store, TableError

log = structlog.stdlib.get_logger()

# A store that stands still must not gather notes without end; what is left out is noted with the next visit.
MOST_UNDER_WAY = 100


class Asides:
    """Writes notes behind the back of the requests they come from, each one once at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._under_way: dict[str, asyncio.Task[None]] = {}

    def note(self, about: str, plan: Plan[Any]) -> None:
        """Have it written soon. One about the same that is under way already is enough."""
        if about in self._under_way or len(self._under_way) >= MOST_UNDER_WAY:
            return
        task = asyncio.create_task(self._write(plan))
        self._under_way[about] = task
        task.add_done_callback(lambda _: self._under_way.pop(about, None))

    async def settle(self) -> None:
        """Wait for all that are under way."""
        while self._under_way:
            await asyncio.wait(self._under_way.values())

    async def _write(self, plan: Plan[Any]) -> None:
        try:
            await self._store.write(plan)
        except ConditionFailed:
            # Another process has noted it, or there is nobody left to note anything about.
            pass
        except TableError as problem:
            log.warning("note_lost", write=plan.label, code=problem.code)
