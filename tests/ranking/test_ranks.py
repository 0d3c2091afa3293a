"""Competition ranks and the histogram, compared with counting."""

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
    """The histogram of players with these values."""
    buckets = Buckets(SortedValues(value for _, value in rows))
    for user_id, value in sorted(rows):
        buckets.add_player(UserId(user_id), value)
    return buckets.histogram(DAY, "POWER")


def rank_by_histogram(histogram: Histogram, all_values: list[Decimal], value: Decimal) -> tuple[int, int]:
    """The rank by the histogram, and the number of players that were counted for it."""
    rank = find_rank(histogram, value)
    if isinstance(rank, int):
        return rank, 0
    inside = [other for other in all_values if rank.low <= other <= rank.high]
    return rank.base_rank + len(inside), len(inside)


def test_players_with_the_same_value_share_a_rank():
    ranked = SortedValues(map(Decimal, ["50", "80", "80", "57.25"]))
    assert [ranked.rank(Decimal(value)) for value in ("80", "57.25", "50")] == [1, 3, 4]


def test_ties_at_rank_100_are_all_official_and_rank_101_is_not():
    ranked = SortedValues([Decimal(200)] * 99 + [Decimal(100)] * 5 + [Decimal(1)])
    assert (ranked.official_rank(Decimal(100)), ranked.official_rank(Decimal(1))) == (100, None)


@given(st.lists(values, max_size=60), values)
def test_a_rank_is_one_more_than_the_number_above(player_values: list[Decimal], value: Decimal):
    ranked = SortedValues(player_values)
    assert ranked.rank(value) == 1 + sum(other > value for other in player_values)
    assert ranked.count_at_least(value) == sum(other >= value for other in player_values)


def test_the_largest_value_fits_eight_bytes():
    assert to_steps(HIGHEST_POWER) < 2**64
    assert SortedValues([HIGHEST_POWER]).value_at(0) == HIGHEST_POWER


CROWDS = {
    "no players": lambda random: [],
    "one": lambda random: [Decimal(5)],
    "all different": lambda random: [Decimal(number) / 4 for number in range(700)],
    "all equal": lambda random: [Decimal(7)] * 700,
    "a mass of beginners": lambda random: [Decimal(1)] * 500 + [Decimal(number) for number in range(200)],
    "few values": lambda random: [Decimal(random.randrange(12)) for _ in range(700)],
    "smallest steps": lambda random: [STEP * random.randrange(400) for _ in range(700)],
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_the_histogram_gives_every_rank_by_counting_less_than_a_bucket(crowd: str):
    random = Random(7)
    player_values = CROWDS[crowd](random)
    histogram = histogram_of([(f"{random.getrandbits(64):016x}", value) for value in player_values])
    ranked = SortedValues(player_values)
    for value in {
        *player_values,
        Decimal(0),
        Decimal("3.14"),
        HIGHEST_POWER,
        *(other + STEP for other in player_values),
    }:
        rank, counted = rank_by_histogram(histogram, player_values, value)
        assert rank == ranked.rank(value)
        assert counted < histogram.size


@given(st.lists(st.integers(0, 30).map(Decimal), min_size=1, max_size=300), st.integers(0, 30))
def test_the_histogram_agrees_with_counting(player_values: list[Decimal], value: int):
    histogram = histogram_of([(f"{at:04d}", other) for at, other in enumerate(player_values)])
    assert rank_by_histogram(histogram, player_values, Decimal(value))[0] == 1 + sum(
        other > value for other in player_values
    )


def test_buckets_begin_after_equal_counts_in_the_order_of_value_and_uuid():
    random = Random(3)
    rows = [(f"{random.getrandbits(64):016x}", Decimal(random.randrange(40))) for _ in range(1_003)]
    histogram = histogram_of(rows)
    expected = sorted(rows, key=lambda row: (-row[1], row[0]))
    assert histogram.players == 1_003
    assert [(start.user_id, start.value) for start in histogram.starts] == expected[:: histogram.size]


def test_every_position_of_the_list_is_in_a_bucket():
    histogram = histogram_of([(f"{at:04d}", Decimal(1000 - at)) for at in range(120)])
    starts = [bucket_at(histogram, position) for position in (0, 49, 50, 119, 120, -1)]
    assert [None if start is None else start.user_id for start in starts] == [
        "0000",
        "0000",
        "0050",
        "0100",
        None,
        None,
    ]


@pytest.mark.parametrize("crowd", CROWDS)
def test_every_position_is_reached_by_reading_down_from_the_start_of_its_bucket(crowd: str):
    """Inside a tie its earlier members come first; otherwise fewer players than a bucket has are skipped."""
    player_values = sorted(CROWDS[crowd](Random(7)), reverse=True)
    histogram = histogram_of([(f"{at:04d}", value) for at, value in enumerate(player_values)])
    for position, value in enumerate(player_values):
        start = bucket_at(histogram, position)
        assert start is not None
        down = [other for other in player_values if other <= start.value]
        assert down[position - start.above] == value
        assert position - start.above < histogram.size + (start.through - start.above)


OTHERS = {
    "one less": lambda rows: rows[:-1],
    "one more": lambda rows: [*rows, ("9999", Decimal(1))],
    "another value": lambda rows: [*rows[:60], (rows[60][0], Decimal(3)), *rows[61:]],
    "no players": lambda rows: [],
}


@pytest.mark.parametrize("others", OTHERS)
def test_a_histogram_of_other_players_than_were_ranked_is_refused(others: str):
    rows = [(f"{at:04d}", Decimal(at)) for at in range(120)]
    buckets = Buckets(SortedValues(value for _, value in rows))
    for user_id, value in OTHERS[others](rows):
        buckets.add_player(UserId(user_id), value)
    with pytest.raises(RosterIncomplete, match="120 players were ranked"):
        buckets.histogram(DAY, "LEVEL")


def test_more_values_than_one_chunk_are_sorted():
    random = Random(3)
    steps = array("Q", (random.randrange(10**6) for _ in range(150_000)))
    ranked, expected = SortedValues.from_steps(steps), sorted(steps, reverse=True)
    assert [to_steps(ranked.value_at(position)) for position in range(0, 150_000, 1_499)] == expected[::1_499]
    assert (len(ranked), ranked.total) == (150_000, sum(expected))


@pytest.mark.parametrize(("players", "size"), [(0, 50), (50_000, 50), (50_001, 51), (1_000_000, 1_000)])
def test_a_thousand_buckets_are_enough(players: int, size: int):
    assert bucket_size(players) == size
    assert -(-players // size) <= MAX_BUCKETS


def histogram_of_a_million() -> Histogram:
    """A histogram of a million players with UUIDs of 36 characters and powers of 9 digits."""
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
    histogram = histogram_of_a_million()
    item = binding_of(Histogram).encode(histogram)
    assert len(histogram.starts) == MAX_BUCKETS
    assert sum(size_of(name) + size_of(value) for name, value in item.items()) == 78_938


def test_nothing_is_left_to_count_between_neighbouring_values():
    histogram = histogram_of([("a", Decimal(2)), ("b", Decimal(1))])
    assert find_rank(histogram, Decimal(2) - STEP) == 2
    assert find_rank(histogram, Decimal(1)) == RankInBucket(2, Decimal(1) + STEP, Decimal(2) - STEP)
