"""Competition ranks and the histogram, against counting by hand."""

from array import array
from datetime import date
from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zataku.ranking.design import BucketStart, Histogram
from zataku.ranking.errors import RosterIncomplete
from zataku.ranking.limits import HIGHEST_POWER, MAX_BUCKETS, STEP, UserId
from zataku.ranking.rules.ranks import Buckets, RankInBucket, SortedValues, bucket_at, bucket_size, find_rank, to_steps
from zataku.table.backend.values import size_of
from zataku.table.schema.entity import binding_of

DAY = date(2026, 2, 21)
values = st.decimals(0, HIGHEST_POWER, places=4)


def histogram_of(rows: list[tuple[str, Decimal]]) -> Histogram:
    """The histogram of some players."""
    buckets = Buckets(SortedValues(value for _, value in rows))
    for user_id, value in sorted(rows):
        buckets.add_player(UserId(user_id), value)
    return buckets.histogram(DAY, "POWER")


def rank_by_histogram(histogram: Histogram, all_values: list[Decimal], value: Decimal) -> tuple[int, int]:
    """The rank that the histogram leads to, and how many players had to be counted for it."""
    found = find_rank(histogram, value)
    if isinstance(found, int):
        return found, 0
    inside = [it for it in all_values if found.low <= it <= found.high]
    return found.known + len(inside), len(inside)


def test_players_with_the_same_value_share_a_rank():
    order = SortedValues(map(Decimal, ["50", "80", "80", "57.25"]))
    assert [order.rank(Decimal(value)) for value in ("80", "57.25", "50")] == [1, 3, 4]


def test_ties_at_rank_100_are_all_official_and_rank_101_is_not():
    order = SortedValues([Decimal(200)] * 99 + [Decimal(100)] * 5 + [Decimal(1)])
    assert (order.official(Decimal(100)), order.official(Decimal(1))) == (100, None)


@given(st.lists(values, max_size=60), values)
def test_a_rank_is_one_more_than_the_number_above(some: list[Decimal], value: Decimal):
    order = SortedValues(some)
    assert order.rank(value) == 1 + sum(it > value for it in some)
    assert order.through(value) == sum(it >= value for it in some)


def test_the_largest_value_fits_eight_bytes():
    assert to_steps(HIGHEST_POWER) < 2**64
    assert SortedValues([HIGHEST_POWER]).at(0) == HIGHEST_POWER


CROWDS = {
    "nobody": lambda random: [],
    "one": lambda random: [Decimal(5)],
    "all different": lambda random: [Decimal(number) / 4 for number in range(700)],
    "all the same": lambda random: [Decimal(7)] * 700,
    "a mass of beginners": lambda random: [Decimal(1)] * 500 + [Decimal(number) for number in range(200)],
    "few values": lambda random: [Decimal(random.randrange(12)) for _ in range(700)],
    "smallest steps": lambda random: [STEP * random.randrange(400) for _ in range(700)],
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_the_histogram_gives_every_rank_by_counting_less_than_a_bucket(crowd: str):
    random = Random(7)
    some = CROWDS[crowd](random)
    histogram = histogram_of([(f"{random.getrandbits(64):016x}", value) for value in some])
    order = SortedValues(some)
    for value in {*some, Decimal(0), Decimal("3.14"), HIGHEST_POWER, *(it + STEP for it in some)}:
        rank, counted = rank_by_histogram(histogram, some, value)
        assert rank == order.rank(value)
        assert counted < histogram.size


@given(st.lists(st.integers(0, 30).map(Decimal), min_size=1, max_size=300), st.integers(0, 30))
def test_the_histogram_agrees_with_counting(some: list[Decimal], value: int):
    histogram = histogram_of([(f"{at:04d}", it) for at, it in enumerate(some)])
    assert rank_by_histogram(histogram, some, Decimal(value))[0] == 1 + sum(it > value for it in some)


def test_buckets_begin_after_equal_counts_in_the_order_of_value_and_uuid():
    random = Random(3)
    rows = [(f"{random.getrandbits(64):016x}", Decimal(random.randrange(40))) for _ in range(1_003)]
    histogram = histogram_of(rows)
    stored_roster = sorted(rows, key=lambda row: (-row[1], row[0]))
    assert histogram.players == 1_003
    assert [(start.user_id, start.value) for start in histogram.starts] == stored_roster[:: histogram.size]


def test_any_place_of_the_list_has_its_bucket():
    histogram = histogram_of([(f"{at:04d}", Decimal(1000 - at)) for at in range(120)])
    found = [bucket_at(histogram, place) for place in (0, 49, 50, 119, 120, -1)]
    assert [None if it is None else it.user_id for it in found] == ["0000", "0000", "0050", "0100", None, None]


@pytest.mark.parametrize("crowd", CROWDS)
def test_every_place_is_reached_by_reading_down_from_a_value(crowd: str):
    """Also inside a tie, where the places before it come first; between ties less than a bucket is passed."""
    some = sorted(CROWDS[crowd](Random(7)), reverse=True)
    histogram = histogram_of([(f"{at:04d}", value) for at, value in enumerate(some)])
    for place, value in enumerate(some):
        start = bucket_at(histogram, place)
        assert start is not None
        down = [it for it in some if it <= start.value]
        assert down[place - start.above] == value
        assert place - start.above < histogram.size + (start.through - start.above)


OTHERS = {
    "one less": lambda rows: rows[:-1],
    "one more": lambda rows: [*rows, ("9999", Decimal(1))],
    "another value": lambda rows: [*rows[:60], (rows[60][0], Decimal(3)), *rows[61:]],
    "nobody": lambda rows: [],
}


@pytest.mark.parametrize("others", OTHERS)
def test_others_than_were_ranked_make_no_histogram(others: str):
    rows = [(f"{at:04d}", Decimal(at)) for at in range(120)]
    buckets = Buckets(SortedValues(value for _, value in rows))
    for user_id, value in OTHERS[others](rows):
        buckets.add_player(UserId(user_id), value)
    with pytest.raises(RosterIncomplete, match="120 players were ranked"):
        buckets.histogram(DAY, "LEVEL")


def test_more_values_than_are_sorted_at_once_are_sorted_all_the_same():
    random = Random(3)
    steps = array("Q", (random.randrange(10**6) for _ in range(150_000)))
    order, expected = SortedValues.from_steps(steps), sorted(steps, reverse=True)
    assert [to_steps(order.at(place)) for place in range(0, 150_000, 1_499)] == expected[::1_499]
    assert (len(order), order.total) == (150_000, sum(expected))


@pytest.mark.parametrize(("players", "size"), [(0, 50), (50_000, 50), (50_001, 51), (1_000_000, 1_000)])
def test_a_thousand_buckets_are_enough(players: int, size: int):
    assert bucket_size(players) == size
    assert -(-players // size) <= MAX_BUCKETS


def million() -> Histogram:
    """A histogram as a million players have it: UUIDs of 36 characters, powers of 9 digits."""
    starts = [
        BucketStart(
            value=Decimal(10**9 - 997 * above),
            user_id=UserId(f"456e7890-e89b-12d3-a456-{above:012d}"),
            above=above,
            through=above + 1,
        )
        for above in range(1, 1_000_000, 1_000)
    ]
    return Histogram(date=DAY, measure="POWER", players=1_000_000, size=1_000, starts=tuple(starts))


def test_the_histogram_of_a_million_players_is_a_fifth_of_the_largest_item():
    histogram = million()
    item = binding_of(Histogram).encode(histogram)
    assert len(histogram.starts) == MAX_BUCKETS
    assert sum(size_of(name) + size_of(value) for name, value in item.items()) == 78_938


def test_nothing_is_left_to_count_between_neighbouring_values():
    histogram = histogram_of([("a", Decimal(2)), ("b", Decimal(1))])
    assert find_rank(histogram, Decimal(2) - STEP) == 2
    assert find_rank(histogram, Decimal(1)) == RankInBucket(2, Decimal(1) + STEP, Decimal(2) - STEP)
