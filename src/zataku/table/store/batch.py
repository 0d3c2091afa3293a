"""Batches of any size, cut to what one call takes; what a store left unprocessed is tried again."""

from collections.abc import Sequence
from functools import partial

from zataku.table.backend.errors import SameItemTwice, Throttled
from zataku.table.backend.limits import BATCH_GETS, BATCH_WRITES
from zataku.table.backend.port import Backend, DeleteItem, GetItem, ItemKey, PutItem, Row
from zataku.table.backend.validation import check_item
from zataku.table.store.metering import MeteredCalls


class Batches:
    """Reads and writes many items, each by itself."""

    def __init__(self, backend: Backend, calls: MeteredCalls) -> None:
        self._backend = backend
        self._calls = calls
        self._retry = calls.retry

    async def get(self, pattern: str, reads: Sequence[GetItem]) -> list[Row | None]:
        """The rows in the order of the reads; an item named twice is read once."""
        places = [(read.table.name, read.key) for read in reads]
        waiting = list(dict(zip(places, reads, strict=True)).values())
        rows: dict[tuple[str, ItemKey], Row | None] = {}
        tries = 0
        while waiting:
            step, waiting = waiting[:BATCH_GETS], waiting[BATCH_GETS:]
            answers = await self._calls(pattern, partial(self._backend.batch_get, step))
            left: list[GetItem] = []
            for read, row in zip(step, answers, strict=True):
                if row == "unprocessed":
                    left.append(read)
                else:
                    rows[read.table.name, read.key] = row
            tries = await self._again(len(left), len(step), tries)
            waiting = left + waiting
        return [rows[place] for place in places]

    async def write(self, pattern: str, writes: Sequence[PutItem | DeleteItem]) -> None:
        """All writes, 25 at a time."""
        named = {_place(write) for write in writes}
        if len(named) != len(writes):
            raise SameItemTwice("A batch names one item twice, and the order is not promised. Write it once.")
        if len(writes) > BATCH_WRITES:
            # One call refuses all of its writes when one is bad; several calls would leave the first ones done.
            for write in writes:
                if isinstance(write, PutItem):
                    check_item(write.table, write.item)
        waiting, tries = list(writes), 0
        while waiting:
            step, waiting = waiting[:BATCH_WRITES], waiting[BATCH_WRITES:]
            # Putting or deleting the same item again is the same, so a lost reply may be repeated.
            left = await self._calls(pattern, partial(self._backend.batch_write, step), repeatable=True)
            tries = await self._again(len(left), len(step), tries)
            waiting = left + waiting

    async def _again(self, left: int, of: int, tries: int) -> int:
        if not left:
            return 0
        tries = tries + 1 if left == of else 1
        if tries >= self._retry.tries:
            raise Throttled(f"The store left {left} items of a batch unprocessed again and again. Try later.")
        await self._retry.wait(tries)
        return tries


def _place(write: PutItem | DeleteItem) -> tuple[object, ...]:
    if isinstance(write, DeleteItem):
        return (write.table.name, *write.key)
    sk = write.table.sk
    return (write.table.name, write.item[write.table.pk.name], None if sk is None else write.item[sk.name])
