"""What an access pattern may cost: the units of one stated case, declared beside the pattern and held by tests."""

from msgspec import Struct


class Budget(Struct, frozen=True, kw_only=True):
    """The read and write units that a pattern uses in the case named by `of`, such as "50 messages of 500 characters".

    The case should be the largest that people meet, so that the figure is what a host plans with.
    """

    reads: float = 0
    writes: float = 0
    of: str = ""

    @property
    def words(self) -> str:
        """The budget as a person says it."""
        units = [
            f"{f'{count:,.1f}'.removesuffix('.0')} {kind} unit{'' if count == 1 else 's'}"
            for count, kind in self._counts
            if count
        ]
        return (" and ".join(units) or "nothing") + (f" for {self.of}" if self.of else "")

    @property
    def _counts(self) -> tuple[tuple[float, str], ...]:
        return (self.reads, "read"), (self.writes, "write")
