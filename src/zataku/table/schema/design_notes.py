"""Notes of a design in addition to its structure: budgets, waivers of findings, departures from its document."""

from msgspec import Struct


class Budget(Struct, frozen=True, kw_only=True):
    """The read and write units that a pattern uses in the case named by `of`, such as "50 messages of 500 characters".

    The case should be the largest that occurs in use, so that a host can plan with the figure. Tests assert it.
    """

    reads: float = 0
    writes: float = 0
    of: str = ""

    def text(self) -> str:
        """The budget in words, such as "2 read units and 1 write unit for a game"."""
        counts = ((self.reads, "read"), (self.writes, "write"))
        units = [
            f"{f'{count:,.1f}'.removesuffix('.0')} {kind} unit{'' if count == 1 else 's'}"
            for count, kind in counts
            if count
        ]
        return (" and ".join(units) or "nothing") + (f" for {self.of}" if self.of else "")


class Waiver(Struct, frozen=True):
    """A finding of the lint that is accepted on purpose: why, and up to which size or rate."""

    rule: str
    subject: str
    reason: str
    limit: str


class Departure(Struct, frozen=True):
    """A difference between the design and the document it follows, with its reason and the figure behind it."""

    difference: str
    reason: str
    figure: str = ""
