"""The home card, the demo and the account removal of the rankings."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from tests.support.app_context import FailingStore, StoreFailed, all_items, app_context, user_identity
from tests.support.manual_clock import ManualClock
from tests.support.stores import START
from zataku.ranking.demo import DAYS, PLAYERS
from zataku.ranking.design import (
    NameClaim,
    Profile,
    Snapshot,
    history,
    newest_day,
    official_levels,
    official_powers,
    published_days,
    ranking,
)
from zataku.ranking.system import RankingHome, plug
from zataku.system import Plugin
from zataku.table import Store

YESTERDAY = datetime.fromtimestamp(START, UTC).date() - timedelta(days=1)


async def fill_demo(store: Store, clock: ManualClock) -> Plugin:
    plugin = plug(app_context(store, clock))
    assert plugin.demo is not None
    await plugin.demo()
    return plugin


async def test_the_card_is_empty_without_a_published_day(embedded: Store, clock: ManualClock):
    home = await plug(app_context(embedded, clock)).home(user_identity())
    assert msgspec.to_builtins(home) == {"day": None, "first": []}


async def test_the_demo_has_two_weeks_that_end_yesterday(embedded: Store, clock: ManualClock):
    plugin = await fill_demo(embedded, clock)
    days = [day async for day in embedded.each(published_days(YESTERDAY - timedelta(days=60), YESTERDAY))]
    assert [day.date for day in days] == [YESTERDAY - timedelta(days=n) for n in reversed(range(DAYS))]
    assert {day.missing for day in days} == {0}
    assert all(PLAYERS - 10 < day.players <= PLAYERS for day in days)
    home = await plugin.home(user_identity())
    assert isinstance(home, RankingHome)
    top = [row async for row in embedded.each(official_levels(YESTERDAY))]
    assert (home.day, home.first) == (YESTERDAY, [row.name for row in top[:3]])
    assert len([row async for row in embedded.each(official_powers(YESTERDAY))]) == days[-1].players


async def test_profiles_of_the_demo_match_their_last_day(embedded: Store, clock: ManualClock):
    await fill_demo(embedded, clock)
    items = [item async for item in embedded.scan(ranking)]
    profiles = [profile for profile in items if isinstance(profile, Profile)]
    assert len(profiles) == PLAYERS
    claims = {claim.name_lower: claim.holder for claim in items if isinstance(claim, NameClaim)}
    assert claims == {profile.name_lower: profile.user_id for profile in profiles if profile.name_lower is not None}
    last = {
        snapshot.user_id: snapshot
        for snapshot in items
        if isinstance(snapshot, Snapshot) and snapshot.date == YESTERDAY
    }
    assert set(last) == {profile.user_id for profile in profiles if profile.name_lower is not None}
    for player in profiles:
        if player.user_id in last:
            snapshot = last[player.user_id]
            assert (player.name, player.current_level) == (snapshot.name, snapshot.level)
    assert len([snapshot async for snapshot in embedded.each(history(profiles[0].user_id))]) > 5


async def test_the_demo_is_filled_once(strict: Store, clock: ManualClock):
    plugin = await fill_demo(strict, clock)
    assert plugin.demo is not None
    before = await all_items(strict, [ranking])
    for _ in range(2):
        await plugin.demo()
        await clock.advance(3 * 86_400)
    assert await all_items(strict, [ranking]) == before


async def test_an_interrupted_demo_is_continued(strict: Store, clock: ManualClock):
    with pytest.raises(StoreFailed):
        await fill_demo(FailingStore(strict, 95), clock)  # type: ignore[arg-type]  delegates to a store
    await fill_demo(strict, clock)
    newest = await strict.first(newest_day())
    assert newest is not None
    assert (newest.date, newest.missing) == (YESTERDAY, 0)


async def test_an_account_owns_nothing_in_the_rankings(embedded: Store, clock: ManualClock):
    plugin = await fill_demo(embedded, clock)
    before = await all_items(embedded, [ranking])
    await plugin.remove(user_identity().account_id)
    assert await all_items(embedded, [ranking]) == before
