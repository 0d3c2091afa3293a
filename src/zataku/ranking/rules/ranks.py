"""Competition ranks and histograms of a day, computed from the sorted values.

A competition rank (1, 2, 2, 4) is one more than the number of players with a higher value, so it follows from the value
alone. A day is ranked in two passes over its players in the order of their UUIDs: the first collects the values, 8
bytes each, the second determines the ranks and the first player of each bucket.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from heapq import merge

from msgspec import Struct

from zataku.ranking.design import BucketStart, Histogram
from zataku.ranking.errors import RosterIncomplete
from zataku.ranking.limits import DECIMALS, MAX_BUCKETS, MAX_OFFICIAL_RANK, MIN_BUCKET_SIZE, STEP, Measure, UserId

# Sorting makes an object of 32 bytes of each number, so that only this many are sorted at a time.
_SORT_CHUNK = 1 << 16


def to_steps(value: Decimal) -> int:
    """The value as a whole number of its smallest steps; at most 10^19, which fits in 8 bytes."""
    return int(value.scaleb(DECIMALS))


class SortedValues:
    """All values of a day by one measure, sorted."""

    def __init__(self, values: Iterable[Decimal]) -> None:
        self._steps = _sorted(array("Q", map(to_steps, values)))

    @classmethod
    def from_steps(cls, steps: "array[int]") -> "SortedValues":
        """The sorted values of an array of steps."""
        values = cls(())
        values._steps = _sorted(steps)
        return values

    @property
    def total(self) -> int:
        """The sum of all values in steps, with which a second pass is compared to the first."""
        return sum(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    def count_above(self, value: Decimal) -> int:
        """The number of players with a higher value."""
        return len(self._steps) - bisect_right(self._steps, to_steps(value))

    def count_at_least(self, value: Decimal) -> int:
        """The number of players with this value or a higher one."""
        return len(self._steps) - bisect_left(self._steps, to_steps(value))

    def rank(self, value: Decimal) -> int:
        """The competition rank of a value."""
        return self.count_above(value) + 1

    def official_rank(self, value: Decimal) -> int | None:
        """The competition rank of a value if it is at most 100, so that ties at 100 are included; otherwise None."""
        rank = self.rank(value)
        return rank if rank <= MAX_OFFICIAL_RANK else None

    def value_at(self, position: int) -> Decimal:
        """The value at a position in descending order; the highest value is at position 0."""
        return Decimal(self._steps[-1 - position]).scaleb(-DECIMALS)


def _sorted(steps: "array[int]") -> "array[int]":
    chunks = [array("Q", sorted(steps[start : start + _SORT_CHUNK])) for start in range(0, len(steps), _SORT_CHUNK)]
    return chunks[0] if len(chunks) == 1 else array("Q", merge(*chunks))


def bucket_size(players: int) -> int:
    """The number of players in a bucket: at least 50, and enough for at most 1,000 buckets."""
    return max(MIN_BUCKET_SIZE, -(-players // MAX_BUCKETS))


class Buckets:
    """Collects the first player of each bucket while all players are added in the order of their UUIDs."""

    def __init__(self, values: SortedValues) -> None:
        self._values = values
        self._size = bucket_size(len(values))
        # For each value at which buckets begin: the players added so far, and the indexes of those who begin one.
        self._added: dict[Decimal, int] = {}
        self._start_indexes: dict[Decimal, set[int]] = {}
        self._starts: list[tuple[Decimal, UserId]] = []
        self._players = self._total = 0
        for position in range(0, len(values), self._size):
            value = values.value_at(position)
            self._added[value] = 0
            self._start_indexes.setdefault(value, set()).add(position - values.count_above(value))

    def add_player(self, user_id: UserId, value: Decimal) -> None:
        """Add the next player."""
        self._players += 1
        self._total += to_steps(value)
        added = self._added.get(value)
        if added is None:
            return
        if added in self._start_indexes[value]:
            self._starts.append((value, user_id))
        self._added[value] = added + 1

    def histogram(self, day: date, measure: Measure) -> Histogram:
        """The histogram, after all players were added. Raises RosterIncomplete when they are not the ranked ones."""
        values = self._values
        buckets = -(-len(values) // self._size)
        if (self._players, self._total, len(self._starts)) != (len(values), values.total, buckets):
            raise RosterIncomplete(
                f"{len(values)} players were ranked on {day}, but the second pass read others. Run the daily job again."
            )
        starts = (
            BucketStart(
                value=value,
                user_id=user_id,
                above=values.count_above(value),
                through=values.count_at_least(value),
            )
            for value, user_id in sorted(self._starts, key=lambda start: (-start[0], start[1]))
        )
        return Histogram(date=day, measure=measure, players=len(values), size=self._size, starts=tuple(starts))


class RankInBucket(Struct, frozen=True):
    """A rank that needs a count in one bucket: `base_rank` plus the number of players from `low` to `high`, inclusive.

    That number is less than the size of a bucket, even with ties.
    """

    base_rank: int
    low: Decimal
    high: Decimal


def find_rank(histogram: Histogram, value: Decimal) -> int | RankInBucket:
    """The competition rank of a value on a day, or the count that is needed to determine it.

    Ties are never counted one by one: the start of a bucket has the number of players with its value or a higher one.
    """
    starts = histogram.starts
    index = bisect_left(starts, -value, key=lambda start: -start.value)
    if index < len(starts) and starts[index].value == value:
        return starts[index].above + 1
    if index == 0:
        return 1
    before = starts[index - 1]
    low, high = value + STEP, before.value - STEP
    return before.through + 1 if low > high else RankInBucket(before.through + 1, low, high)


def bucket_at(histogram: Histogram, position: int) -> BucketStart | None:
    """The start of the bucket that contains a position of the list, from 0; None past the end.

    A read in descending order from its value begins at position `above`. From there to the requested position it skips
    fewer players than a bucket has, unless the bucket starts inside a tie, whose earlier members come first.
    """
    if not 0 <= position < histogram.players:
        return None
    return histogram.starts[position // histogram.size]
