"""What calls cost, in the units that AWS bills."""

from typing import TypeAlias

# A table by its full name, and one of its indexes or None for the table itself.
Place: TypeAlias = tuple[str, str | None]


class Bill:
    """The read and write units of one call, or of several, by table and index.

    A backend adds to the bill it is given whatever the call used, refused calls included: a write whose condition fails
    is paid for too.
    """

    __slots__ = ("places", "reads", "writes")

    def __init__(self) -> None:
        self.reads = 0.0
        self.writes = 0.0
        self.places: dict[Place, tuple[float, float]] = {}

    def add(self, table: str, index: str | None = None, *, reads: float = 0.0, writes: float = 0.0) -> None:
        """Something was used in one place."""
        self.reads += reads
        self.writes += writes
        place = (table, index)
        before = self.places.get(place)
        self.places[place] = (reads, writes) if before is None else (before[0] + reads, before[1] + writes)

    def take(self, other: "Bill") -> None:
        """Add all of another bill."""
        for (table, index), (reads, writes) in other.places.items():
            self.add(table, index, reads=reads, writes=writes)

    def __repr__(self) -> str:
        return f"Bill(reads={self.reads:g}, writes={self.writes:g})"
