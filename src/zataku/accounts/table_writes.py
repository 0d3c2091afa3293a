"""Ways to write a plan: exactly once, only if its conditions hold, or in the background."""

import asyncio
from typing import Any, TypeVar
from uuid import uuid4

import structlog

from zataku.table import ConditionFailed, Entity, Plan, Store, TableError, TransactionCancelled

log = structlog.stdlib.get_logger()

# A store that does not answer must not collect writes without end; a visit that is left out is recorded with the next.
MAX_PENDING_WRITES = 100

E = TypeVar("E", bound=Entity)


async def write_once(store: Store, plan: Plan[E]) -> E | None:
    """Write the plan once, also when the reply is lost and it is repeated. Raises TransactionCancelled when refused."""
    return await store.write(plan, token=str(uuid4()))


async def write_if_met(store: Store, plan: Plan[E]) -> bool:
    """Write the plan once; False, without a change, when its conditions are not met."""
    try:
        await write_once(store, plan)
    except TransactionCancelled as refused:
        if refused.conflict:
            # Other writers were in the way for longer than the store retries.
            raise
        return False
    return True


class BackgroundWrites:
    """Writes that no request waits for or fails with, such as the time of the last visit. One at a time per key."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: dict[str, asyncio.Task[None]] = {}

    def start(self, key: str, plan: Plan[Any]) -> None:
        """Write the plan soon, unless a write of the same key is pending."""
        if key in self._pending or len(self._pending) >= MAX_PENDING_WRITES:
            return
        task = asyncio.create_task(self._write(plan))
        self._pending[key] = task
        task.add_done_callback(lambda _: self._pending.pop(key, None))

    async def drain(self) -> None:
        """Wait for all pending writes."""
        while self._pending:
            await asyncio.wait(self._pending.values())

    async def _write(self, plan: Plan[Any]) -> None:
        try:
            await self._store.write(plan)
        except ConditionFailed:
            # Another process has written it, or the account is gone.
            pass
        except TableError as problem:
            log.warning("background_write_failed", write=plan.label, code=problem.code)
