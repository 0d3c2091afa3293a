"""Competition ranks and histograms of a day, from the sorted values.

A competition rank (1, 2, 2, 4) is one more than the number of players with a higher value, so it follows from the value
alone. A day is ranked in two passes over its players in the order of their UUIDs: the first collects the values, 8
bytes each, the second gives everybody a rank and notes who begins a bucket.
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

# Numbers are objects of 32 bytes while they are sorted, so they are sorted this many at a time.
_RUN = 1 << 16


def to_steps(value: Decimal) -> int:
    """The value as a whole number of its smallest steps; 10^19 at most, which fits 8 bytes."""
    return int(value.scaleb(DECIMALS))


class SortedValues:
    """All values of a day by one measure, sorted."""

    def __init__(self, values: Iterable[Decimal]) -> None:
        self._steps = _sorted(array("Q", map(to_steps, values)))

    @classmethod
    def from_steps(cls, steps: "array[int]") -> "SortedValues":
        """The order of values that were collected one by one."""
        made = cls(())
        made._steps = _sorted(steps)
        return made

    @property
    def total(self) -> int:
        """The sum of all values in steps, by which a second pass is held against the first."""
        return sum(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    def above(self, value: Decimal) -> int:
        """How many players have more."""
        return len(self._steps) - bisect_right(self._steps, to_steps(value))

    def through(self, value: Decimal) -> int:
        """How many players have as much or more."""
        return len(self._steps) - bisect_left(self._steps, to_steps(value))

    def rank(self, value: Decimal) -> int:
        """The competition rank."""
        return self.above(value) + 1

    def official(self, value: Decimal) -> int | None:
        """The competition rank where it is official: among the first hundred, ties at 100 included."""
        rank = self.rank(value)
        return rank if rank <= MAX_OFFICIAL_RANK else None

    def at(self, position: int) -> Decimal:
        """The value at a place in the list from the highest, which has place 0."""
        return Decimal(self._steps[-1 - position]).scaleb(-DECIMALS)


def _sorted(steps: "array[int]") -> "array[int]":
    runs = [array("Q", sorted(steps[at : at + _RUN])) for at in range(0, len(steps), _RUN)]
    return runs[0] if len(runs) == 1 else array("Q", merge(*runs))


def bucket_size(players: int) -> int:
    """How many players share a bucket: at least 50, and so many that 1,000 buckets are enough."""
    return max(MIN_BUCKET_SIZE, -(-players // MAX_BUCKETS))


class Buckets:
    """Finds the players at whom buckets begin, while all of them pass by in the order of their UUIDs."""

    def __init__(self, order: SortedValues) -> None:
        self._order = order
        self._size = bucket_size(len(order))
        # Of each value at which buckets begin: how many have passed, and which of them begin one.
        self._passed: dict[Decimal, int] = {}
        self._wanted: dict[Decimal, set[int]] = {}
        self._starts: list[tuple[Decimal, UserId]] = []
        self._players = self._total = 0
        for position in range(0, len(order), self._size):
            value = order.at(position)
            self._passed[value] = 0
            self._wanted.setdefault(value, set()).add(position - order.above(value))

    def add_player(self, user_id: UserId, value: Decimal) -> None:
        """The next player."""
        self._players += 1
        self._total += to_steps(value)
        passed = self._passed.get(value)
        if passed is None:
            return
        if passed in self._wanted[value]:
            self._starts.append((value, user_id))
        self._passed[value] = passed + 1

    def histogram(self, day: date, measure: Measure) -> Histogram:
        """The buckets, when everybody has passed. Others than were ranked are refused."""
        order = self._order
        wanted = -(-len(order) // self._size)
        if (self._players, self._total, len(self._starts)) != (len(order), order.total, wanted):
            raise RosterIncomplete(f"{len(order)} players were ranked on {day}, but others passed by afterwards.")
        starts = (
            BucketStart(value=value, user_id=user_id, above=order.above(value), through=order.through(value))
            for value, user_id in sorted(self._starts, key=lambda start: (-start[0], start[1]))
        )
        return Histogram(date=day, measure=measure, players=len(order), size=self._size, starts=tuple(starts))


class RankInBucket(Struct, frozen=True):
    """A rank that is found by counting inside one bucket: `known`, and all players from `low` to `high`, both included.

    Fewer players than a bucket has lie there, however many share a value.
    """

    known: int
    low: Decimal
    high: Decimal


def find_rank(histogram: Histogram, value: Decimal) -> int | RankInBucket:
    """The competition rank of a value on a day, or what is left to count for it.

    Equal values are never counted one by one: a start says how many have as much or more.
    """
    starts = histogram.starts
    at = bisect_left(starts, -value, key=lambda start: -start.value)
    if at < len(starts) and starts[at].value == value:
        return starts[at].above + 1
    if at == 0:
        return 1
    before = starts[at - 1]
    low, high = value + STEP, before.value - STEP
    return before.through + 1 if low > high else RankInBucket(before.through + 1, low, high)


def bucket_at(histogram: Histogram, position: int) -> BucketStart | None:
    """The start of the bucket in which a place of the list lies; None past the end. The first place is 0.

    Reading down from its value begins at place `above`. The places from there to the one that is sought are fewer than
    a bucket has, unless the start lies inside a tie, whose members before it come first.
    """
    if not 0 <= position < histogram.players:
        return None
    return histogram.starts[position // histogram.size]
