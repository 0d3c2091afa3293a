"""Units summed per access pattern, and backend calls that are retried and metered."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from zataku.table.backend.cost import ConsumedCapacity, Usage
from zataku.table.backend.errors import TableError
from zataku.table.store.retry import Retry


class _Block:
    """A stretch of work that is counted under one heading."""

    __slots__ = ("consumed", "heading", "meter", "outer")

    def __init__(self, meter: "Meter", heading: str, outer: "_Block | None") -> None:
        self.meter = meter
        self.heading = heading
        self.outer = outer
        self.consumed = ConsumedCapacity()


_block: ContextVar[_Block | None] = ContextVar("block", default=None)


class Meter:
    """The sums of a store since it was opened; `taken` hands out what came since it was last called."""

    def __init__(self) -> None:
        self.totals: dict[str, Usage] = {}
        # The totals as they were when somebody last took what was new in them.
        self._saved: dict[str, Usage] = {}

    def record(self, pattern: str, consumed: ConsumedCapacity) -> None:
        """A call has been made. Inside `under` it counts for that heading."""
        block = _block.get()
        while block is not None and block.meter is not self:
            block = block.outer
        if block is None:
            found = self.totals.get(pattern)
            if found is None:
                found = self.totals[pattern] = Usage(pattern)
            # Spelt out, because every call of a store comes here.
            found.calls += 1
            found.reads += consumed.reads
            found.writes += consumed.writes
            return
        self._sum(block.heading, 0, consumed.reads, consumed.writes)
        # A task may outlive the block that started it, so the outer ones are told now and not at its end.
        while block is not None:
            if block.meter is self:
                block.consumed.take(consumed)
            block = block.outer

    def _sum(self, pattern: str, calls: int, reads: float, writes: float) -> None:
        found = self.totals.get(pattern)
        if found is None:
            found = self.totals[pattern] = Usage(pattern)
        found.add(calls, reads, writes)

    @contextmanager
    def measured(self, heading: str) -> Generator[ConsumedCapacity]:
        """Count everything done in the block as one call of this name; gives the bill of the block.

        Tasks started inside count too. A block within the block has sums of its own, and is on both bills. What other
        stores do meanwhile is theirs.
        """
        block = _Block(self, heading, _block.get())
        token = _block.set(block)
        try:
            yield block.consumed
        finally:
            _block.reset(token)
            self._sum(heading, 1, 0.0, 0.0)

    def take_unsaved(self) -> list[Usage]:
        """What was used since the last time this was asked."""
        fresh: list[Usage] = []
        for pattern, usage in self.totals.items():
            before = self._saved.get(pattern) or Usage(pattern)
            if usage != before:
                calls, reads, writes = (
                    usage.calls - before.calls,
                    usage.reads - before.reads,
                    usage.writes - before.writes,
                )
                fresh.append(Usage(pattern, calls, reads, writes))
                self._saved[pattern] = replace(usage)
        return fresh


T = TypeVar("T")


class MeteredCalls:
    """Carries out calls and notes what they cost, refused ones and repetitions included."""

    def __init__(self, retry: Retry, meter: Meter) -> None:
        self.retry = retry
        self.meter = meter

    async def __call__(
        self, pattern: str, call: Callable[[ConsumedCapacity], Awaitable[T]], *, repeatable: bool = False
    ) -> T:
        """The call's result; `repeatable` as in `Retry`."""
        consumed = ConsumedCapacity()
        try:
            try:
                return await call(consumed)
            except TableError as problem:
                refused = problem
            return await self.retry.after(refused, partial(call, consumed), repeatable=repeatable)
        finally:
            self.meter.record(pattern, consumed)
