"""Every access pattern of the rankings returns the right rows in the right order."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

from tests.ranking.players import DAY, NEXT, NOON, TOMORROW, a_snapshot, holder_of, load_profile, player, standing
from tests.support.store_reads import assert_query_returns, eventually, read_pages
from zataku.ranking.design import (
    BucketStart,
    Day,
    Histogram,
    LevelRank,
    LevelRow,
    NamedPlayer,
    PowerRank,
    PowerRow,
    RosterPart,
    Snapshot,
    days_before,
    find_by_name,
    histogram,
    history,
    history_between,
    levels,
    levels_between,
    levels_down_from,
    levels_up_from,
    name_claim,
    newest_day,
    official_levels,
    official_powers,
    powers,
    powers_between,
    powers_down_from,
    powers_up_from,
    profile,
    published_day,
    published_days,
    roster_part,
    snapshot,
)
from zataku.ranking.limits import UserId
from zataku.ranking.roster import named_players
from zataku.ranking.writes import enter_player
from zataku.table import Store, WrongType

HANA, MINHO, SORA = UserId("A101"), UserId("B202"), UserId("C303")
# By level Sora, Hana, Minho; by power Minho, Hana, Sora. Sora has no official power rank.
HANA_DAY = a_snapshot(HANA, "57.25", "12000", name="하나", level_rank=2, power_rank=2)
MINHO_DAY = a_snapshot(MINHO, "50", "99000.5", name="민호", level_rank=3, power_rank=1)
SORA_DAY = a_snapshot(SORA, "80", "300", name="空", level_rank=1)
BEFORE = a_snapshot(HANA, "99", "1", day=DAY - timedelta(days=1), name="하나", level_rank=1)


async def fill_store(store: Store) -> Store:
    """Store three players of a day, one of them also on the day before."""
    await store.write_many(put=[HANA_DAY, MINHO_DAY, SORA_DAY, BEFORE])
    return store


def level_row(day: Snapshot) -> LevelRow:
    return LevelRow(user_id=day.user_id, name=day.name, level=day.level)


def power_row(day: Snapshot) -> PowerRow:
    return PowerRow(user_id=day.user_id, name=day.name, power=day.power)


async def test_the_official_ranking_by_level_is_in_the_order_of_ranks(store: Store):
    expected = [
        LevelRank(user_id=day.user_id, name=day.name, level=day.level, level_rank=day.level_rank)
        for day in (SORA_DAY, HANA_DAY, MINHO_DAY)
    ]
    await assert_query_returns(await fill_store(store), official_levels(DAY), *expected)


async def test_the_official_ranking_by_power_has_only_players_with_a_rank(store: Store):
    expected = [
        PowerRank(user_id=day.user_id, name=day.name, power=day.power, power_rank=day.power_rank)
        for day in (MINHO_DAY, HANA_DAY)
    ]
    await assert_query_returns(await fill_store(store), official_powers(DAY), *expected)


async def test_the_players_of_a_day_are_paged_by_level_from_the_highest(store: Store):
    await fill_store(store)

    async def read() -> list[LevelRow]:
        return [row for page in await read_pages(store, levels(DAY), 2) for row in page]

    await eventually(read, [level_row(SORA_DAY), level_row(HANA_DAY), level_row(MINHO_DAY)])


async def test_the_players_of_a_day_are_paged_by_power_from_the_highest(store: Store):
    await fill_store(store)

    async def read() -> list[PowerRow]:
        return [row for page in await read_pages(store, powers(DAY), 2) for row in page]

    await eventually(read, [power_row(MINHO_DAY), power_row(HANA_DAY), power_row(SORA_DAY)])


async def test_levels_sort_as_numbers_with_their_decimals(store: Store):
    days = [a_snapshot(f"p{at}", level) for at, level in enumerate(["100", "9.75", "9.8", "10", "9"])]
    await store.write_many(put=days)
    await assert_query_returns(store, levels(DAY), *(level_row(days[at]) for at in (0, 3, 2, 1, 4)))


async def test_the_history_of_a_player_begins_with_the_newest_day(store: Store):
    await fill_store(store)
    await store.write(enter_player(player(HANA, "하나"), DAY, NOON))
    await assert_query_returns(store, history(HANA), HANA_DAY, BEFORE)


async def test_the_history_between_two_days_includes_both(store: Store):
    days = [a_snapshot(HANA, str(at), day=date(2026, 1, 1) + timedelta(days=at)) for at in range(40)]
    await store.write_many(put=days)
    await assert_query_returns(
        store, history_between(HANA, date(2026, 1, 30), date(2026, 2, 2)), *reversed(days[29:33])
    )


async def test_a_range_of_levels_includes_both_ends(store: Store):
    await fill_store(store)
    await assert_query_returns(
        store, levels_between(DAY, Decimal(50), Decimal("57.25")), level_row(HANA_DAY), level_row(MINHO_DAY)
    )
    await assert_query_returns(store, levels_between(DAY, Decimal("50.0001"), Decimal("57.2499")))


async def test_a_range_of_powers_includes_both_ends(store: Store):
    await fill_store(store)
    await assert_query_returns(
        store, powers_between(DAY, Decimal(300), Decimal(12000)), power_row(HANA_DAY), power_row(SORA_DAY)
    )


async def test_the_next_lower_players_are_listed_nearest_first(store: Store):
    await fill_store(store)
    await assert_query_returns(
        store, levels_down_from(DAY, Decimal("57.25")), level_row(HANA_DAY), level_row(MINHO_DAY)
    )
    await assert_query_returns(store, powers_down_from(DAY, Decimal(11999)), power_row(SORA_DAY))


async def test_the_next_higher_players_are_listed_nearest_first(store: Store):
    await fill_store(store)
    await assert_query_returns(store, levels_up_from(DAY, Decimal(50)), level_row(HANA_DAY), level_row(SORA_DAY))
    await assert_query_returns(store, powers_up_from(DAY, Decimal(300)), power_row(HANA_DAY), power_row(MINHO_DAY))


async def test_a_name_is_found_in_any_spelling(store: Store):
    await store.write(enter_player(player(HANA, "Straße"), DAY, NOON))
    holder = NamedPlayer(user_id=HANA, name="Straße")
    for typed in ("Straße", "STRASSE", "ｓtrasse"):
        await assert_query_returns(store, find_by_name(typed), holder)
    await assert_query_returns(store, find_by_name("Strase"))


async def test_a_claim_names_the_holder(store: Store):
    await store.write(enter_player(player(HANA, "Hello"), DAY, NOON))
    claim = await store.get(name_claim("HELLO"))
    assert claim is not None
    assert (claim.holder, claim.name_lower, claim.claimed_at) == (HANA, "hello", NOON)
    assert await holder_of(store, "World") is None


async def test_a_profile_is_read_strongly(store: Store):
    entered = player(HANA, "Hello", "57.25", first_day=DAY, current_day=DAY, values_at=NOON)
    await store.write(enter_player(entered, DAY, NOON))
    assert profile(HANA).strong
    assert await load_profile(store, HANA) == entered


async def test_several_players_of_a_day_are_read_together(store: Store):
    await fill_store(store)
    keys = [snapshot(user_id, DAY) for user_id in (SORA, UserId("D404"), HANA)]
    assert await store.get_many(keys, strong=True) == [SORA_DAY, None, HANA_DAY]


async def test_a_snapshot_is_read_by_player_and_day(store: Store):
    await fill_store(store)
    assert await store.get(snapshot(HANA, DAY - timedelta(days=1)), strong=True) == BEFORE


def published(day: date) -> Day:
    return Day(date=day, players=3, as_of=NOON, published_at=TOMORROW)


async def test_the_newest_published_day_is_listed_first(store: Store):
    days = [published(day) for day in (date(2025, 12, 31), date(2026, 1, 2), date(2026, 1, 10))]
    await store.write_many(put=[days[2], days[0], days[1]])
    await eventually(lambda: store.first(newest_day()), days[2])


async def test_the_days_before_a_day_are_listed_from_the_last_published(store: Store):
    days = [published(day) for day in (date(2025, 12, 31), date(2026, 1, 2), date(2026, 1, 10))]
    await store.write_many(put=days)
    await assert_query_returns(store, days_before(date(2026, 1, 10)), days[1], days[0])
    await assert_query_returns(store, days_before(date(2025, 12, 31)))


async def test_published_days_between_two_days_are_listed_in_order(store: Store):
    days = [published(date(2026, 1, 1) + timedelta(days=at)) for at in range(5)]
    await store.write_many(put=days)
    await assert_query_returns(store, published_days(date(2026, 1, 2), date(2026, 1, 4)), *days[1:4])


async def test_a_published_day_is_read_strongly(store: Store):
    assert await store.get(published_day(DAY)) is None
    await store.put(published(DAY))
    assert await store.get(published_day(DAY)) == published(DAY)
    assert await store.get(published_day(NEXT)) is None


async def test_each_day_has_a_histogram_by_level_and_one_by_power(store: Store):
    start = BucketStart(value=Decimal("57.25"), user_id=HANA, above=0, through=2)
    by_level = Histogram(date=DAY, measure="LEVEL", players=2, size=50, starts=(start,))
    await store.put(by_level)
    assert await store.get(histogram(DAY, "LEVEL"), strong=True) == by_level
    assert await store.get(histogram(DAY, "POWER"), strong=True) is None


async def test_a_roster_part_keeps_the_players_and_their_standings(store: Store):
    part = RosterPart(date=DAY, number=7, rows=(standing(HANA, "57.25", "12000.5"),), missing=2, through=UserId("A101"))
    await store.put(part)
    assert roster_part(DAY, 7).strong
    assert await store.get(roster_part(DAY, 7)) == part
    assert await store.get(roster_part(DAY, 8)) is None


@pytest.mark.parametrize("search", [find_by_name, name_claim])
def test_searching_by_half_of_a_surrogate_pair_is_refused(search):
    with pytest.raises(WrongType, match="half of a surrogate pair"):
        search("a\ud800")


@pytest.mark.parametrize("number", [Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("-Infinity")])
def test_searching_by_a_value_that_is_not_finite_is_refused(number: Decimal):
    for pattern in (levels_down_from, powers_down_from, levels_up_from, powers_up_from):
        with pytest.raises(WrongType, match="not a level or power"):
            pattern(DAY, number)
    for pattern in (levels_between, powers_between):
        for ends in ((number, Decimal(1)), (Decimal(1), number)):
            with pytest.raises(WrongType, match="not a level or power"):
                pattern(DAY, *ends)


async def test_a_scan_of_the_names_lists_every_player_once_in_the_order_of_uuids(store: Store):
    for user_id, name in (("C3", "셋"), ("A1", "하나"), ("B2", "둘")):
        await store.write(enter_player(player(user_id, name), DAY, NOON))
    await store.write_many(put=[a_snapshot("A1", "1"), a_snapshot("Z9", "1")])
    await eventually(lambda: named_players(store), ["A1", "B2", "C3"])


async def test_days_histograms_and_claims_stay_out_of_the_rankings(store: Store):
    await store.write(enter_player(player(HANA, "Hello"), DAY, NOON))
    await store.put(published(DAY))
    await store.put(Histogram(date=DAY, measure="LEVEL", players=0, size=50, starts=()))
    await store.put(HANA_DAY)
    for query in (levels(DAY), powers(DAY), official_levels(DAY), official_powers(DAY)):

        async def count(query=query) -> int:
            return await store.count(query)

        await eventually(count, 1)
