"""The sample game: ten thousand players over thirty days, the same for the same seed."""

from datetime import date, timedelta
from itertools import islice
from random import Random

from zataku.ranking.daily_ranking import rank_day
from zataku.ranking.design import (
    Day,
    Histogram,
    RosterPart,
    Snapshot,
    Standing,
    histogram,
    history,
    levels,
    official_levels,
    official_powers,
    powers_between,
)
from zataku.ranking.limits import fold_name
from zataku.ranking.rules.ranks import RankInBucket, find_rank
from zataku.ranking.samples import characters, examples, history_of, profiles, snapshots_of_day, standings_of_day
from zataku.ranking.writes import enter_player
from zataku.table import Store
from zataku.table.backend.values import size_of
from zataku.table.schema.entity import binding_of

START = date(2026, 1, 23)
SEED, PLAYERS, DAYS = 20260221, 10_000, 30


def test_the_same_seed_gives_the_same_items():
    first, second = (list(snapshots_of_day(SEED, START, 12, 500)) for _ in range(2))
    assert first == second
    assert first != list(snapshots_of_day(SEED + 1, START, 12, 500))


def test_players_are_in_the_order_of_their_uuids_with_distinct_names():
    players = list(characters(Random(SEED), PLAYERS))
    assert [player.user_id for player in players] == sorted({player.user_id for player in players})
    names = [name for player in players for name in (player.name, player.later_name) if name]
    assert len({fold_name(name) for name in names}) == len(names)


def test_players_join_leave_rename_and_grow():
    players = list(characters(Random(SEED), PLAYERS))
    assert sum(player.joined > 0 for player in players) > 300
    assert sum(player.left is not None for player in players) > 100
    assert sum(player.later_name is not None for player in players) > 100
    grown = [
        player.standing(DAYS - 1).level - player.standing(player.joined).level
        for player in players
        if player.plays_on(DAYS - 1)
    ]
    assert min(grown) == 0
    assert max(grown) > 10


def test_every_snapshot_of_a_day_is_valid_small_and_correctly_ranked():
    snapshots = list(snapshots_of_day(SEED, START, DAYS - 1, PLAYERS))
    assert len(snapshots) > 9_000
    binding = binding_of(Snapshot)
    sizes = [
        sum(size_of(name) + size_of(part) for name, part in binding.encode(snapshot).items()) for snapshot in snapshots
    ]
    assert max(sizes) < 200
    for value, rank in (("level", "level_rank"), ("power", "power_rank")):
        ordered = sorted((getattr(snapshot, value) for snapshot in snapshots), reverse=True)
        first = {number: at for at, number in reversed(list(enumerate(ordered, 1)))}
        assert all(
            getattr(snapshot, rank) == (position if position <= 100 else None)
            for snapshot in snapshots
            if (position := first[getattr(snapshot, value)])
        )
        assert len(set(ordered)) < len(ordered) / 2


async def test_a_day_of_ten_thousand_is_written_and_its_top_hundred_is_one_cheap_query(embedded: Store):
    standings, day = list(standings_of_day(characters(Random(SEED), PLAYERS), 10)), START + timedelta(days=10)
    for number in range(10):
        rows = tuple(standings[number * 1000 : number * 1000 + 1000])
        through = rows[-1].user_id if number < 9 else None
        await embedded.put(RosterPart(date=day, number=number, rows=rows, through=through))
    published = await rank_day(embedded, day, as_of="2026-02-02T15:00:00Z", now="2026-02-02T15:05:00Z")
    assert published.players == await embedded.count(levels(day)) == len(standings) > 9_000
    for query in (official_levels(day), official_powers(day)):
        with embedded.measured("top 100") as consumed:
            page = await embedded.page(query, limit=150)
        assert (len(page.items) >= 100, page.cursor, consumed.reads) == (True, None, 1.5)
    powers = await embedded.get(histogram(day, "POWER"))
    assert powers is not None
    for row in standings[::900]:
        assert await count_rank(embedded, day, powers, row) == 1 + sum(
            standing.power > row.power for standing in standings
        )


async def count_rank(store: Store, day: date, powers: Histogram, row: Standing) -> int:
    """The rank by the histogram and at most one count inside a bucket."""
    rank = find_rank(powers, row.power)
    if not isinstance(rank, RankInBucket):
        return rank
    with store.measured("a rank") as consumed:
        counted = await store.count(powers_between(day, rank.low, rank.high))
    assert consumed.reads <= 1
    return rank.base_rank + counted


async def test_the_stored_history_of_a_player_is_the_generated_one(embedded: Store):
    players = list(islice(characters(Random(SEED), PLAYERS), 40))
    histories = {player.user_id: list(history_of(player, START, DAYS)) for player in players}
    await embedded.write_many(put=[day for days in histories.values() for day in days])
    for user_id, days in histories.items():
        assert [day async for day in embedded.each(history(user_id))] == days[::-1]


def test_the_examples_of_the_design_document_are_one_complete_day():
    items = list(examples())
    snapshots = [item for item in items if isinstance(item, Snapshot)]
    (roster,) = (item for item in items if isinstance(item, RosterPart))
    (day,) = (item for item in items if isinstance(item, Day))
    (levels_histogram,) = (item for item in items if isinstance(item, Histogram))
    assert roster.rows == tuple(Standing(row.user_id, row.name, row.level, row.power) for row in snapshots)
    assert (roster.number, roster.through) == (0, None)
    assert day.players == levels_histogram.players == len(snapshots)
    assert {item.date for item in (*snapshots, roster, day, levels_histogram)} == {day.date}


async def test_the_players_of_the_first_day_enter_under_their_names(embedded: Store):
    for profile in profiles(SEED, START, 20):
        assert await embedded.write(enter_player(profile, START, "2026-01-23T03:00:00Z")) == profile
