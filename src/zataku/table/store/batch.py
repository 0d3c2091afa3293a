"""Batches of any size, split into calls of the allowed size; unprocessed items are retried."""

from collections.abc import Sequence
from functools import partial

from zataku.table.backend.errors import SameItemTwice, Throttled
from zataku.table.backend.limits import BATCH_GETS, BATCH_WRITES
from zataku.table.backend.port import Backend, DeleteItem, GetItem, ItemKey, PutItem, Row
from zataku.table.backend.validation import check_item
from zataku.table.store.capacity_meter import MeteredCalls


class Batches:
    """Reads and writes many items, not atomically."""

    def __init__(self, backend: Backend, calls: MeteredCalls) -> None:
        self._backend = backend
        self._calls = calls
        self._retry = calls.retry

    async def get(self, pattern: str, reads: Sequence[GetItem]) -> list[Row | None]:
        """The rows in the order of the reads; an item requested twice is read once."""
        item_ids = [(read.table.name, read.key) for read in reads]
        pending = list(dict(zip(item_ids, reads, strict=True)).values())
        rows: dict[tuple[str, ItemKey], Row | None] = {}
        attempts = 0
        while pending:
            batch, pending = pending[:BATCH_GETS], pending[BATCH_GETS:]
            answers = await self._calls(pattern, partial(self._backend.batch_get, batch))
            unprocessed: list[GetItem] = []
            for read, row in zip(batch, answers, strict=True):
                if row == "unprocessed":
                    unprocessed.append(read)
                else:
                    rows[read.table.name, read.key] = row
            attempts = await self._pause_before_retry(len(unprocessed), len(batch), attempts)
            pending = unprocessed + pending
        return [rows[item_id] for item_id in item_ids]

    async def write(self, pattern: str, writes: Sequence[PutItem | DeleteItem]) -> None:
        """All writes, 25 at a time."""
        if len({_item_id(write) for write in writes}) != len(writes):
            raise SameItemTwice(
                "A batch names one item twice, and the order of its writes is unspecified. Write it once."
            )
        if len(writes) > BATCH_WRITES:
            # One call refuses all of its writes when one is invalid; several calls would leave the first ones applied.
            for write in writes:
                if isinstance(write, PutItem):
                    check_item(write.table, write.item)
        pending, attempts = list(writes), 0
        while pending:
            batch, pending = pending[:BATCH_WRITES], pending[BATCH_WRITES:]
            # Puts and deletes are idempotent, so a lost reply may be retried.
            unprocessed = await self._calls(pattern, partial(self._backend.batch_write, batch), repeatable=True)
            attempts = await self._pause_before_retry(len(unprocessed), len(batch), attempts)
            pending = unprocessed + pending

    async def _pause_before_retry(self, unprocessed: int, total: int, attempts: int) -> int:
        """Wait if items are left over; returns the number of attempts that made no progress."""
        if not unprocessed:
            return 0
        attempts = attempts + 1 if unprocessed == total else 1
        if attempts >= self._retry.max_attempts:
            raise Throttled(f"The store left {unprocessed} items of a batch unprocessed every time. Try again later.")
        await self._retry.wait(attempts)
        return attempts


def _item_id(write: PutItem | DeleteItem) -> tuple[str, ItemKey]:
    return write.table.name, write.key if isinstance(write, DeleteItem) else write.table.key_of(write.item)
