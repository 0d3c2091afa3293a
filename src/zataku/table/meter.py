"""Units summed per access pattern, for metrics and budgets."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct

from zataku.table.bill import Bill


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


_heading: ContextVar[tuple[str, Bill] | None] = ContextVar("heading", default=None)


class Meter:
    """The sums of a store since it was opened; `taken` hands out what came since it was last called."""

    def __init__(self) -> None:
        self.totals: dict[str, Usage] = {}
        self._fresh: dict[str, Usage] = {}

    def note(self, pattern: str, bill: Bill) -> None:
        """A call has been made. Inside `under` it counts for that heading."""
        heading = _heading.get()
        if heading is not None:
            heading[1].take(bill)
            self._sum(heading[0], 0, bill)
        else:
            self._sum(pattern, 1, bill)

    def _sum(self, pattern: str, calls: int, bill: Bill) -> None:
        for sums in (self.totals, self._fresh):
            found = sums.get(pattern)
            if found is None:
                found = sums[pattern] = Usage(pattern)
            found.add(calls, bill.reads, bill.writes)

    @contextmanager
    def under(self, heading: str) -> Generator[Bill]:
        """Count everything done in the block as one call of this name; gives the bill of the block.

        Tasks started inside count too; a block within the block counts for itself and for the outer one's bill.
        """
        bill = Bill()
        outer = _heading.get()
        token = _heading.set((heading, bill))
        try:
            yield bill
        finally:
            _heading.reset(token)
            self._sum(heading, 1, Bill())
            if outer is not None:
                outer[1].take(bill)

    def taken(self) -> list[Usage]:
        """What was used since the last time this was asked."""
        fresh, self._fresh = self._fresh, {}
        return list(fresh.values())
