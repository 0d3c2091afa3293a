"""Units summed per access pattern, for metrics and budgets."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct
from msgspec.structs import replace

from zataku.table.backend.consumed_capacity import Bill


class Usage(Struct):
    """What one access pattern has used: how often it was asked, and the units of all calls together."""

    pattern: str
    calls: int = 0
    reads: float = 0.0
    writes: float = 0.0

    def add(self, calls: int, reads: float, writes: float) -> None:
        """So much more was used."""
        self.calls += calls
        self.reads += reads
        self.writes += writes


class _Block:
    """A stretch of work that is counted under one heading."""

    __slots__ = ("bill", "heading", "meter", "outer")

    def __init__(self, meter: "Meter", heading: str, outer: "_Block | None") -> None:
        self.meter = meter
        self.heading = heading
        self.outer = outer
        self.bill = Bill()


_block: ContextVar[_Block | None] = ContextVar("block", default=None)


class Meter:
    """The sums of a store since it was opened; `taken` hands out what came since it was last called."""

    def __init__(self) -> None:
        self.totals: dict[str, Usage] = {}
        # The totals as they were when somebody last took what was new in them.
        self._taken: dict[str, Usage] = {}

    def note(self, pattern: str, bill: Bill) -> None:
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
            found.reads += bill.reads
            found.writes += bill.writes
            return
        self._sum(block.heading, 0, bill.reads, bill.writes)
        # A task may outlive the block that started it, so the outer ones are told now and not at its end.
        while block is not None:
            if block.meter is self:
                block.bill.take(bill)
            block = block.outer

    def _sum(self, pattern: str, calls: int, reads: float, writes: float) -> None:
        found = self.totals.get(pattern)
        if found is None:
            found = self.totals[pattern] = Usage(pattern)
        found.add(calls, reads, writes)

    @contextmanager
    def under(self, heading: str) -> Generator[Bill]:
        """Count everything done in the block as one call of this name; gives the bill of the block.

        Tasks started inside count too. A block within the block has sums of its own, and is on both bills. What other
        stores do meanwhile is theirs.
        """
        block = _Block(self, heading, _block.get())
        token = _block.set(block)
        try:
            yield block.bill
        finally:
            _block.reset(token)
            self._sum(heading, 1, 0.0, 0.0)

    def taken(self) -> list[Usage]:
        """What was used since the last time this was asked."""
        fresh: list[Usage] = []
        for pattern, usage in self.totals.items():
            before = self._taken.get(pattern) or Usage(pattern)
            if usage != before:
                calls, reads, writes = (
                    usage.calls - before.calls,
                    usage.reads - before.reads,
                    usage.writes - before.writes,
                )
                fresh.append(Usage(pattern, calls, reads, writes))
                self._taken[pattern] = replace(usage)
        return fresh
