"""What calls cost, in the units that AWS bills."""

from typing import TypeAlias

# A table by its full name, and one of its indexes or None for the table itself.
Place: TypeAlias = tuple[str, str | None]


_NOTHING = (0.0, 0.0)


class Bill:
    """The read and write units of one call, or of several, by table and index.

    A backend adds to the bill it is given whatever the call used, refused calls included: a write whose condition fails
    is paid for too.
    """

    __slots__ = ("_first", "_places", "reads", "writes")

    def __init__(self) -> None:
        self.reads = 0.0
        self.writes = 0.0
        # Most calls use something in one place only, and every call has a bill: a dictionary is made for the second.
        self._first: Place | None = None
        self._places: dict[Place, tuple[float, float]] | None = None

    def add(self, table: str, index: str | None = None, *, reads: float = 0.0, writes: float = 0.0) -> None:
        """Something was used in one place."""
        place = (table, index)
        if self._first is None:
            self._first = place
        elif self._places is not None or place != self._first:
            places = self._places = self.places if self._places is None else self._places
            before = places.get(place, _NOTHING)
            places[place] = (before[0] + reads, before[1] + writes)
        self.reads += reads
        self.writes += writes

    @property
    def places(self) -> dict[Place, tuple[float, float]]:
        """Read and write units by place."""
        if self._places is not None:
            return self._places
        return {} if self._first is None else {self._first: (self.reads, self.writes)}

    def take(self, other: "Bill") -> None:
        """Add all of another bill."""
        for (table, index), (reads, writes) in other.places.items():
            self.add(table, index, reads=reads, writes=writes)

    def __repr__(self) -> str:
        return f"Bill(reads={self.reads:g}, writes={self.writes:g})"
