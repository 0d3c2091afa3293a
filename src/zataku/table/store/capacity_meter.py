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
    """A block of calls metered under one label."""

    __slots__ = ("consumed", "label", "meter", "outer")

    def __init__(self, meter: "Meter", label: str, outer: "_Block | None") -> None:
        self.meter = meter
        self.label = label
        self.outer = outer
        self.consumed = ConsumedCapacity()


_block: ContextVar[_Block | None] = ContextVar("block", default=None)


class Meter:
    """Usage of a store by access pattern since it was opened."""

    def __init__(self) -> None:
        self.totals: dict[str, Usage] = {}
        # The totals at the last `take_unsaved`.
        self._saved: dict[str, Usage] = {}

    def record(self, pattern: str, consumed: ConsumedCapacity) -> None:
        """Count one call. Inside a `measured` block it counts for the label of the block."""
        block = _block.get()
        while block is not None and block.meter is not self:
            block = block.outer
        if block is None:
            usage = self.totals.get(pattern)
            if usage is None:
                usage = self.totals[pattern] = Usage(pattern)
            # Inlined: every call of a store runs this.
            usage.calls += 1
            usage.reads += consumed.reads
            usage.writes += consumed.writes
            return
        self._sum(block.label, 0, consumed.reads, consumed.writes)
        # A task may outlive the block that started it, so outer blocks are charged now and not at its end.
        while block is not None:
            if block.meter is self:
                block.consumed.add_all(consumed)
            block = block.outer

    def _sum(self, pattern: str, calls: int, reads: float, writes: float) -> None:
        usage = self.totals.get(pattern)
        if usage is None:
            usage = self.totals[pattern] = Usage(pattern)
        usage.add(calls, reads, writes)

    @contextmanager
    def measured(self, label: str) -> Generator[ConsumedCapacity]:
        """Meter all calls in the block as one call of this label; yields the capacity that the block uses.

        Tasks started inside count too. A nested block is metered under its own label and charged to both blocks. Calls
        of other stores are not counted.
        """
        block = _Block(self, label, _block.get())
        token = _block.set(block)
        try:
            yield block.consumed
        finally:
            _block.reset(token)
            self._sum(label, 1, 0.0, 0.0)

    def take_unsaved(self) -> list[Usage]:
        """The usage since the last call of this method."""
        unsaved: list[Usage] = []
        for pattern, usage in self.totals.items():
            before = self._saved.get(pattern) or Usage(pattern)
            if usage != before:
                calls, reads, writes = (
                    usage.calls - before.calls,
                    usage.reads - before.reads,
                    usage.writes - before.writes,
                )
                unsaved.append(Usage(pattern, calls, reads, writes))
                self._saved[pattern] = replace(usage)
        return unsaved


T = TypeVar("T")


class MeteredCalls:
    """Makes backend calls with retries and meters their cost, failed attempts included."""

    def __init__(self, retry: Retry, meter: Meter) -> None:
        self.retry = retry
        self.meter = meter

    async def __call__(
        self, pattern: str, call: Callable[[ConsumedCapacity], Awaitable[T]], *, repeatable: bool = False
    ) -> T:
        """The result of the call, metered under `pattern`; `repeatable` as in `Retry`."""
        consumed = ConsumedCapacity()
        try:
            try:
                return await call(consumed)
            except TableError as problem:
                error = problem
            return await self.retry.after(error, partial(call, consumed), repeatable=repeatable)
        finally:
            self.meter.record(pattern, consumed)
