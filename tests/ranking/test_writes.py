"""What happens to players, names and values. The races and the costs try the same writes over HTTP."""

from datetime import date
from decimal import Decimal

import pytest

from tests.contract.asking import eventually, finds
from tests.ranking.people import (
    DAY,
    EVENING,
    NEXT,
    NOON,
    TOMORROW,
    assert_names_are_kept,
    holder_of,
    now_of,
    player,
    snap,
)
from zataku.ranking.days import named_players, standing_on
from zataku.ranking.design import Day, NamedPlayer, find_by_name, snapshot
from zataku.ranking.errors import NothingChanges, OlderValues, WrongHolder
from zataku.ranking.limits import UserId
from zataku.ranking.writes import (
    enter_player,
    import_values,
    publish_day,
    rename,
    retire_player,
    rolled,
    take_over_name,
    write_snapshot,
)
from zataku.table import ConditionFailed, Store, TransactionCancelled

HANA, MINHO = "A101", "B202"


async def entered(store: Store, user_id: str, name: str):
    """A player who has entered the game."""
    await store.write(enter_player(player(user_id, name, current_day=DAY, values_at=NOON), NOON))
    return await now_of(store, user_id)


async def test_nobody_enters_under_a_name_that_is_taken(strict: Store):
    await entered(strict, HANA, "Hello")
    with pytest.raises(TransactionCancelled):
        await strict.write(enter_player(player(MINHO, "ＨＥＬＬＯ"), NOON))
    assert await holder_of(strict, "hello") == HANA
    await assert_names_are_kept(strict)


async def test_nobody_enters_twice(strict: Store):
    await entered(strict, HANA, "Hello")
    with pytest.raises(TransactionCancelled):
        await strict.write(enter_player(player(HANA, "World"), NOON))
    assert await holder_of(strict, "world") is None


async def test_whoever_enters_may_take_over_a_name(strict: Store):
    hana = await entered(strict, HANA, "Hello")
    await strict.write(enter_player(player(MINHO, "hello"), NOON, holder=hana))
    assert await holder_of(strict, "Hello") == MINHO
    assert (await now_of(strict, HANA)).name_lower is None
    await assert_names_are_kept(strict)


async def test_a_new_name_is_found_and_the_old_one_is_free(strict: Store):
    hana = await entered(strict, HANA, "Hello")
    await strict.write(rename(hana, "World", DAY, NOON))
    await finds(strict, find_by_name("WORLD"), NamedPlayer(user_id=UserId(HANA), name="World"))
    await finds(strict, find_by_name("hello"))
    await entered(strict, MINHO, "Hello")
    await assert_names_are_kept(strict)


async def test_another_spelling_of_the_same_name_keeps_the_claim(strict: Store):
    hana = await entered(strict, HANA, "hello")
    await strict.write(rename(hana, "HeLLo", DAY, TOMORROW))
    assert (await now_of(strict, HANA)).name == "HeLLo"
    await assert_names_are_kept(strict)


async def test_the_same_name_again_is_no_change(strict: Store):
    hana = await entered(strict, HANA, "hello")
    with pytest.raises(NothingChanges, match="already is"):
        rename(hana, "hello", DAY, NOON)


async def test_a_held_name_is_not_taken_by_renaming(strict: Store):
    await entered(strict, HANA, "Hello")
    minho = await entered(strict, MINHO, "World")
    with pytest.raises(TransactionCancelled):
        await strict.write(rename(minho, "Hello", DAY, NOON))
    assert (await now_of(strict, MINHO)).name == "World"
    await assert_names_are_kept(strict)


async def test_a_name_taken_over_leaves_the_old_holder_without_one(strict: Store):
    hana, minho = await entered(strict, HANA, "Hello"), await entered(strict, MINHO, "World")
    await strict.write(take_over_name(minho, "Hello", DAY, NOON, hana))
    lost = await now_of(strict, HANA)
    assert (lost.name, lost.name_lower, lost.current_level) == ("Hello", None, hana.current_level)
    await finds(strict, find_by_name("hello"), NamedPlayer(user_id=UserId(MINHO), name="Hello"))
    await eventually(lambda: named_players(strict), [MINHO])
    await assert_names_are_kept(strict)


async def test_whoever_lost_a_name_gets_a_new_one_and_is_ranked_again(strict: Store):
    hana, minho = await entered(strict, HANA, "Hello"), await entered(strict, MINHO, "World")
    await strict.write(take_over_name(minho, "Hello", DAY, NOON, hana))
    await strict.write(rename(await now_of(strict, HANA), "World", DAY, EVENING))
    await eventually(lambda: named_players(strict), [HANA, MINHO])
    await assert_names_are_kept(strict)


async def test_a_name_is_taken_only_from_its_holder(strict: Store):
    hana, minho = await entered(strict, HANA, "Hello"), await entered(strict, MINHO, "World")
    for name, holder in (("Other", hana), ("Hello", minho)):
        with pytest.raises(WrongHolder):
            take_over_name(minho, name, DAY, NOON, holder)


async def test_who_leaves_frees_the_name_and_is_not_ranked(strict: Store):
    hana = await entered(strict, HANA, "Hello")
    await strict.write(retire_player(hana))
    assert await holder_of(strict, "hello") is None
    await eventually(lambda: named_players(strict), [])
    gone = await now_of(strict, HANA)
    with pytest.raises(NothingChanges):
        retire_player(gone)


async def test_newer_values_replace_older_ones(strict: Store):
    hana = await entered(strict, HANA, "Hello")
    await strict.write(import_values(hana, Decimal(58), Decimal("12500.5"), EVENING, DAY))
    found = await now_of(strict, HANA)
    assert (found.current_level, found.current_power, found.values_at) == (58, Decimal("12500.5"), EVENING)


@pytest.mark.parametrize("moment", [NOON, "2026-02-20T03:00:00Z"])
async def test_values_that_are_not_newer_are_refused(strict: Store, moment: str):
    hana = await entered(strict, HANA, "Hello")
    with pytest.raises(OlderValues, match="not newer"):
        import_values(hana, Decimal(1), Decimal(1), moment, DAY)


async def test_values_planned_on_an_old_state_are_refused(strict: Store):
    hana = await entered(strict, HANA, "Hello")
    await strict.write(import_values(hana, Decimal(58), Decimal(2), TOMORROW, DAY))
    with pytest.raises(ConditionFailed):
        await strict.write(import_values(hana, Decimal(1), Decimal(1), EVENING, DAY))
    assert (await now_of(strict, HANA)).current_level == 58


async def test_impossible_values_are_refused_before_anything_is_written():
    with pytest.raises(ValueError, match="a level"):
        import_values(player(HANA, "Hello"), Decimal(-1), Decimal(1), EVENING, DAY)


async def test_the_first_values_of_a_day_close_the_day_before(strict: Store):
    hana = await entered(strict, HANA, "Hello")
    await strict.write(import_values(hana, Decimal(60), Decimal(1), TOMORROW, NEXT))
    renamed = rename(await now_of(strict, HANA), "World", NEXT, TOMORROW)
    await strict.write(renamed)
    found = await now_of(strict, HANA)
    ended, today = standing_on(found, DAY), standing_on(found, NEXT)
    assert ended is not None
    assert today is not None
    assert (ended.name, ended.level, ended.power) == ("Hello", Decimal("57.25"), 12000)
    assert (today.name, today.level, today.power) == ("World", 60, 1)


def test_a_rename_after_midnight_does_not_change_the_day_that_ended():
    before = player(HANA, "Hello", current_day=DAY)
    found = standing_on(rolled(before, NEXT), DAY)
    assert found == standing_on(before, DAY)


def test_a_player_who_came_later_has_no_standing_before():
    assert standing_on(player(HANA, "Hello", current_day=NEXT), DAY) is None


def test_a_player_without_news_stands_as_before():
    found = standing_on(player(HANA, "Hello", current_day=DAY), date(2026, 3, 21))
    assert found is not None
    assert found.level == Decimal("57.25")


def test_what_is_too_long_ago_is_not_made_up():
    profile = rolled(rolled(player(HANA, "Hello", current_day=DAY), NEXT), date(2026, 2, 23))
    assert standing_on(profile, NEXT) is not None
    assert standing_on(profile, DAY) is None


async def test_a_snapshot_is_written_until_its_day_is_published(strict: Store):
    await strict.write(write_snapshot(snap(HANA, "1")))
    await strict.write(write_snapshot(snap(HANA, "2")))
    await strict.write(publish_day(Day(date=DAY, players=1, as_of=EVENING, published_at=TOMORROW)))
    with pytest.raises(TransactionCancelled):
        await strict.write(write_snapshot(snap(HANA, "3")))
    found = await strict.get(snapshot(UserId(HANA), DAY), strong=True)
    assert found is not None
    assert found.level == 2


async def test_a_day_is_published_once(strict: Store):
    await strict.write(publish_day(Day(date=DAY, players=1, as_of=EVENING, published_at=TOMORROW)))
    with pytest.raises(ConditionFailed):
        await strict.write(publish_day(Day(date=DAY, players=2, as_of=EVENING, published_at=TOMORROW)))
