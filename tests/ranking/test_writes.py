"""Writes of players, names and values, one at a time."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace

from tests.ranking.players import (
    DAY,
    EVENING,
    NEXT,
    NOON,
    TOMORROW,
    a_snapshot,
    assert_name_claims_match,
    holder_of,
    load_profile,
    player,
    publish_plan,
    standing,
)
from tests.support.store_reads import assert_query_returns, eventually
from zataku.ranking.design import Day, NamedPlayer, RosterPart, Standing, find_by_name, roster_part, snapshot
from zataku.ranking.errors import FutureValues, NotANewPlayer, NothingChanges, OlderValues, WrongHolder
from zataku.ranking.limits import UserId
from zataku.ranking.roster import UnknownStanding, named_players, standing_on
from zataku.ranking.writes import (
    add_to_roster,
    enter_player,
    import_values,
    rename,
    retire_player,
    roll_over_day,
    take_over_name,
    write_snapshot,
)
from zataku.table import ConditionFailed, Store, TransactionCancelled

HANA, MINHO = "A101", "B202"


async def enter(store: Store, user_id: str, name: str):
    """Add a player and return the profile."""
    await store.write(enter_player(player(user_id, name, current_day=DAY, values_at=NOON), DAY, NOON))
    return await load_profile(store, user_id)


async def test_entering_with_a_held_name_is_refused(strict: Store):
    await enter(strict, HANA, "Hello")
    with pytest.raises(TransactionCancelled):
        await strict.write(enter_player(player(MINHO, "ＨＥＬＬＯ"), DAY, NOON))
    assert await holder_of(strict, "hello") == HANA
    await assert_name_claims_match(strict)


async def test_entering_twice_is_refused(strict: Store):
    await enter(strict, HANA, "Hello")
    with pytest.raises(TransactionCancelled):
        await strict.write(enter_player(player(HANA, "World"), DAY, NOON))
    assert await holder_of(strict, "world") is None


async def test_a_new_player_can_take_over_a_name(strict: Store):
    hana = await enter(strict, HANA, "Hello")
    await strict.write(enter_player(player(MINHO, "hello"), DAY, NOON, holder=hana))
    assert await holder_of(strict, "Hello") == MINHO
    assert (await load_profile(strict, HANA)).name_lower is None
    await assert_name_claims_match(strict)


async def test_a_new_name_is_found_and_the_old_one_is_free(strict: Store):
    hana = await enter(strict, HANA, "Hello")
    await strict.write(rename(hana, "World", DAY, NOON))
    await assert_query_returns(strict, find_by_name("WORLD"), NamedPlayer(user_id=UserId(HANA), name="World"))
    await assert_query_returns(strict, find_by_name("hello"))
    await enter(strict, MINHO, "Hello")
    await assert_name_claims_match(strict)


async def test_another_spelling_of_the_same_name_keeps_the_claim(strict: Store):
    hana = await enter(strict, HANA, "hello")
    await strict.write(rename(hana, "HeLLo", DAY, TOMORROW))
    assert (await load_profile(strict, HANA)).name == "HeLLo"
    await assert_name_claims_match(strict)


async def test_a_rename_to_the_same_name_is_refused(strict: Store):
    hana = await enter(strict, HANA, "hello")
    with pytest.raises(NothingChanges, match="already has this name"):
        rename(hana, "hello", DAY, NOON)


async def test_a_held_name_is_not_taken_by_renaming(strict: Store):
    await enter(strict, HANA, "Hello")
    minho = await enter(strict, MINHO, "World")
    with pytest.raises(TransactionCancelled):
        await strict.write(rename(minho, "Hello", DAY, NOON))
    assert (await load_profile(strict, MINHO)).name == "World"
    await assert_name_claims_match(strict)


async def test_a_name_taken_over_leaves_the_old_holder_without_one(strict: Store):
    hana, minho = await enter(strict, HANA, "Hello"), await enter(strict, MINHO, "World")
    await strict.write(take_over_name(minho, "Hello", DAY, NOON, hana))
    old_holder = await load_profile(strict, HANA)
    assert (old_holder.name, old_holder.name_lower, old_holder.current_level) == ("Hello", None, hana.current_level)
    await assert_query_returns(strict, find_by_name("hello"), NamedPlayer(user_id=UserId(MINHO), name="Hello"))
    await eventually(lambda: named_players(strict), [MINHO])
    await assert_name_claims_match(strict)


async def test_a_player_who_lost_a_name_is_ranked_again_with_a_new_one(strict: Store):
    hana, minho = await enter(strict, HANA, "Hello"), await enter(strict, MINHO, "World")
    await strict.write(take_over_name(minho, "Hello", DAY, NOON, hana))
    await strict.write(rename(await load_profile(strict, HANA), "World", DAY, EVENING))
    await eventually(lambda: named_players(strict), [HANA, MINHO])
    await assert_name_claims_match(strict)


async def test_a_name_is_taken_only_from_its_holder(strict: Store):
    hana, minho = await enter(strict, HANA, "Hello"), await enter(strict, MINHO, "World")
    for name, holder in (("Other", hana), ("Hello", minho)):
        with pytest.raises(WrongHolder):
            take_over_name(minho, name, DAY, NOON, holder)


async def test_a_retired_player_releases_the_name_and_is_not_ranked(strict: Store):
    hana = await enter(strict, HANA, "Hello")
    await strict.write(retire_player(hana, DAY))
    assert await holder_of(strict, "hello") is None
    await eventually(lambda: named_players(strict), [])
    gone = await load_profile(strict, HANA)
    with pytest.raises(NothingChanges):
        retire_player(gone, DAY)


async def test_newer_values_replace_older_ones(strict: Store):
    hana = await enter(strict, HANA, "Hello")
    await strict.write(import_values(hana, Decimal(58), Decimal("12500.5"), EVENING, DAY, TOMORROW))
    stored = await load_profile(strict, HANA)
    assert (stored.current_level, stored.current_power, stored.values_at) == (58, Decimal("12500.5"), EVENING)


@pytest.mark.parametrize("moment", [NOON, "2026-02-20T03:00:00Z"])
async def test_values_that_are_not_newer_are_refused(strict: Store, moment: str):
    hana = await enter(strict, HANA, "Hello")
    with pytest.raises(OlderValues, match="not newer"):
        import_values(hana, Decimal(1), Decimal(1), moment, DAY, TOMORROW)


async def test_values_planned_on_an_old_state_are_refused(strict: Store):
    hana = await enter(strict, HANA, "Hello")
    await strict.write(import_values(hana, Decimal(58), Decimal(2), TOMORROW, DAY, TOMORROW))
    with pytest.raises(ConditionFailed):
        await strict.write(import_values(hana, Decimal(1), Decimal(1), EVENING, DAY, TOMORROW))
    assert (await load_profile(strict, HANA)).current_level == 58


async def test_impossible_values_are_refused_before_anything_is_written():
    with pytest.raises(ValueError, match="A level"):
        import_values(player(HANA, "Hello"), Decimal(-1), Decimal(1), EVENING, DAY, TOMORROW)


async def test_the_first_values_of_a_day_close_the_day_before(strict: Store):
    hana = await enter(strict, HANA, "Hello")
    await strict.write(import_values(hana, Decimal(60), Decimal(1), TOMORROW, NEXT, TOMORROW))
    rename_plan = rename(await load_profile(strict, HANA), "World", NEXT, TOMORROW)
    await strict.write(rename_plan)
    stored = await load_profile(strict, HANA)
    ended, today = standing_on(stored, DAY), standing_on(stored, NEXT)
    assert isinstance(ended, Standing)
    assert isinstance(today, Standing)
    assert (ended.name, ended.level, ended.power) == ("Hello", Decimal("57.25"), 12000)
    assert (today.name, today.level, today.power) == ("World", 60, 1)


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59Z", "2026-02-21T12:05:01Z"])
def test_values_of_a_future_time_are_refused(moment: str):
    with pytest.raises(FutureValues, match="cannot be known"):
        import_values(player(HANA, "Hello"), Decimal(1), Decimal(1), moment, DAY, EVENING)
    with pytest.raises(FutureValues, match="cannot be known"):
        enter_player(player(HANA, "Hello", values_at=moment), DAY, EVENING)


async def test_a_clock_may_be_five_minutes_ahead(strict: Store):
    hana = await enter(strict, HANA, "Hello")
    await strict.write(import_values(hana, Decimal(58), Decimal(1), "2026-02-21T12:05:00Z", DAY, EVENING))
    assert (await load_profile(strict, HANA)).current_level == 58


@pytest.mark.parametrize("moment", ["2026-02-31T00:00:00Z", "2026-02-21T03:00:00", "yesterday"])
def test_an_invalid_instant_is_refused_before_anything_is_written(moment: str):
    with pytest.raises(ValueError, match="moment|day is out of range|isoformat"):
        import_values(player(HANA, "Hello"), Decimal(1), Decimal(1), moment, DAY, EVENING)


async def test_a_new_player_has_standings_from_the_day_of_entry_on(strict: Store):
    await strict.write(enter_player(player(HANA, "Hello", current_day=date(2020, 1, 1)), DAY, NOON))
    stored = await load_profile(strict, HANA)
    assert (stored.first_day, stored.current_day) == (DAY, DAY)
    assert standing_on(stored, DAY - timedelta(days=1)) is None


def test_a_new_player_with_a_closing_state_is_refused():
    past = {"closing_day": DAY, "closing_name": "Hello", "closing_level": Decimal(1), "closing_power": Decimal(1)}
    with pytest.raises(NotANewPlayer, match="cannot have closed"):
        enter_player(player(HANA, "Hello", current_day=NEXT, **past), NEXT, TOMORROW)


def test_a_rename_after_midnight_does_not_change_the_day_that_ended():
    before = player(HANA, "Hello", current_day=DAY)
    standing_then = standing_on(roll_over_day(before, NEXT), DAY)
    assert standing_then == standing_on(before, DAY)


def test_a_player_has_no_standing_before_the_first_day():
    assert standing_on(player(HANA, "Hello", first_day=NEXT, current_day=NEXT), DAY) is None


@pytest.mark.parametrize("days", [{}, {"current_day": NEXT}])
def test_the_standing_of_a_player_without_a_known_day_is_unknown(days: dict[str, date]):
    assert standing_on(player(HANA, "Hello", **days), DAY) == UnknownStanding(UserId(HANA))


def test_a_retired_player_is_ranked_until_the_day_before_and_not_later():
    before = player(HANA, "Hello", first_day=DAY, current_day=DAY)
    retired = replace(roll_over_day(before, NEXT), name_lower=None)
    assert standing_on(retired, DAY) == standing_on(before, DAY)
    assert standing_on(retired, NEXT) is None


def test_a_player_without_a_name_at_the_end_of_a_day_is_not_ranked_on_it_with_a_later_name():
    nameless = replace(player(HANA, "Hello", first_day=DAY, current_day=DAY), name_lower=None)
    later = replace(roll_over_day(nameless, NEXT), name="World", name_lower="world")
    assert standing_on(later, DAY) is None
    assert isinstance(standing_on(later, NEXT), Standing)


def test_a_player_without_new_values_keeps_the_standing():
    standing_then = standing_on(player(HANA, "Hello", current_day=DAY), date(2026, 3, 21))
    assert isinstance(standing_then, Standing)
    assert standing_then.level == Decimal("57.25")


def test_the_standing_before_the_closing_day_is_unknown():
    profile = roll_over_day(roll_over_day(player(HANA, "Hello", current_day=DAY), NEXT), date(2026, 2, 23))
    assert isinstance(standing_on(profile, NEXT), Standing)
    assert standing_on(profile, DAY) == UnknownStanding(UserId(HANA))


async def test_writing_a_snapshot_twice_stores_it_once(strict: Store):
    for _ in range(2):
        await strict.write(write_snapshot(a_snapshot(HANA, "1", level_rank=1)))
    assert await strict.get(snapshot(UserId(HANA), DAY), strong=True) == a_snapshot(HANA, "1", level_rank=1)


async def test_a_part_of_a_roster_is_never_replaced(strict: Store):
    part = RosterPart(date=DAY, number=0, rows=(standing(HANA, "1"),))
    await strict.write(add_to_roster(part))
    with pytest.raises(ConditionFailed):
        await strict.write(add_to_roster(RosterPart(date=DAY, number=0, rows=())))
    assert await strict.get(roster_part(DAY, 0)) == part


async def test_a_day_is_published_once(strict: Store):
    await strict.write(publish_plan(Day(date=DAY, players=1, as_of=EVENING, published_at=TOMORROW)))
    with pytest.raises(TransactionCancelled):
        await strict.write(publish_plan(Day(date=DAY, players=2, as_of=EVENING, published_at=TOMORROW)))
