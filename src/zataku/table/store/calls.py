"""Calls of a backend as a store makes them: tried again when the backend is busy, and paid for."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from zataku.table.backend.consumed_capacity import Bill
from zataku.table.backend.errors import TableError
from zataku.table.store.metering import Meter
from zataku.table.store.retry import Retry

T = TypeVar("T")


class Calls:
    """Carries out calls and notes what they cost, refused ones and repetitions included."""

    def __init__(self, retry: Retry, meter: Meter) -> None:
        self.retry = retry
        self.meter = meter

    async def __call__(self, pattern: str, call: Callable[[Bill], Awaitable[T]], *, repeatable: bool = False) -> T:
        """The call's result; `repeatable` as in `Retry`."""
        bill = Bill()
        try:
            try:
                return await call(bill)
            except TableError as problem:
                refused = problem
            return await self.retry.after(refused, partial(call, bill), repeatable=repeatable)
        finally:
            self.meter.note(pattern, bill)
