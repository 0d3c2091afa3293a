"""The daily job publishes the same day however often it runs, is killed, or overlaps with imports."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace

from tests.ranking.players import DAY, NEXT, NOON, TOMORROW, claim_of, load_profile, player, standing
from tests.support.store_reads import eventually
from zataku.ranking.daily_ranking import rank_day
from zataku.ranking.design import (
    Day,
    Histogram,
    Profile,
    RosterPart,
    Snapshot,
    Standing,
    histogram,
    levels,
    official_levels,
    published_day,
    snapshot,
)
from zataku.ranking.errors import DayNotOver, StandingsMissing
from zataku.ranking.limits import UserId
from zataku.ranking.roster import create_roster, named_players
from zataku.ranking.rules.ranks import RankInBucket, find_rank
from zataku.ranking.writes import enter_player, import_values, rename, retire_player, take_over_name
from zataku.table import Store

AS_OF = "2026-02-21T15:00:00Z"
# Levels 0 to 59 three times each: rank 100 is shared by three, so that 102 are official.
STANDINGS = [standing(f"p{at:03d}", str(at // 3), str(at % 40)) for at in range(180)]
IDS = [row.user_id for row in STANDINGS]


class Killed(Exception):
    """Stops a run in the middle."""


def as_player(row: Standing) -> Profile:
    """The profile of a player with this standing."""
    return player(row.user_id, row.name, str(row.level), str(row.power), first_day=DAY, current_day=DAY)


async def store_players(store: Store, *, fixed: bool = True) -> Store:
    """Store all players; with `fixed` also the roster, since an eventually consistent index may miss recent writes."""
    players = list(map(as_player, STANDINGS))
    await store.write_many(put=[*players, *map(claim_of, players)])
    if fixed:
        await create_roster(store, DAY, IDS)
    return store


async def stored_items(store: Store) -> list[str]:
    """All items of the day, in a form to compare."""
    items = [item async for item in store.scan(store.tables[0])]
    days = [replace(item, published_at=TOMORROW) if isinstance(item, Day) else item for item in items]
    return sorted(repr(item) for item in days if isinstance(item, Snapshot | Histogram | Day | RosterPart))


async def run_job(store: Store, now: str = TOMORROW, **options) -> Day:
    return await rank_day(store, DAY, as_of=AS_OF, now=now, **options)


async def run_and_kill_after(store: Store, batches: int) -> None:
    """Run the job and stop it after some batches."""
    batch_ends: list[str] = []

    async def count(user_id: UserId) -> None:
        batch_ends.append(user_id)
        if len(batch_ends) == batches:
            raise Killed

    with pytest.raises(Killed):
        await run_job(store, on_batch=count)
    assert batch_ends == ["p099", "p179"][:batches]


async def test_every_player_has_a_snapshot_of_a_published_day(store: Store):
    await store_players(store)
    assert await run_job(store) == Day(date=DAY, players=180, as_of=AS_OF, published_at=TOMORROW)
    snapshots = await store.get_many([snapshot(user_id, DAY) for user_id in IDS], strong=True)
    assert [(stored.user_id, stored.name, stored.level, stored.power) for stored in snapshots if stored] == [
        (row.user_id, row.name, row.level, row.power) for row in STANDINGS
    ]
    by_level = {stored.level: stored.level_rank for stored in snapshots if stored}
    assert (by_level[Decimal(59)], by_level[Decimal(26)], by_level[Decimal(25)]) == (1, 100, None)
    await eventually(lambda: store.count(official_levels(DAY)), 102)
    await eventually(lambda: store.count(levels(DAY)), 180)


async def test_the_histogram_of_the_day_leads_to_every_rank(embedded: Store):
    await run_job(await store_players(embedded))
    stored_histogram = await embedded.get(histogram(DAY, "LEVEL"), strong=True)
    assert stored_histogram is not None
    rank = find_rank(stored_histogram, Decimal(20))
    assert isinstance(rank, RankInBucket)
    inside = [row for row in STANDINGS if rank.low <= row.level <= rank.high]
    assert rank.base_rank + len(inside) == 118


async def test_two_runs_at_once_store_the_same_as_one_run(contested: Store):
    await store_players(contested)
    first, second = await asyncio.gather(run_job(contested), run_job(contested, now="2026-02-22T04:00:00Z"))
    assert first == second == await contested.get(published_day(DAY))
    stored = await stored_items(contested)
    await run_job(contested)
    assert await stored_items(contested) == stored
    assert len(stored) == 184


async def test_a_run_that_is_killed_and_restarted_stores_the_same_as_one_run(contested: Store):
    await store_players(contested)
    await run_and_kill_after(contested, 1)
    assert await contested.get(published_day(DAY)) is None
    await run_job(contested)
    snapshots = await contested.get_many([snapshot(user_id, DAY) for user_id in IDS], strong=True)
    assert all(snapshots)
    assert len(await stored_items(contested)) == 184


async def retire(store: Store) -> None:
    await store.write(retire_player(await load_profile(store, "p000"), NEXT))


async def lose_name(store: Store) -> None:
    first, last = await load_profile(store, "p000"), await load_profile(store, "p179")
    await store.write(take_over_name(last, first.name, NEXT, TOMORROW, first))


async def rename_player(store: Store) -> None:
    await store.write(rename(await load_profile(store, "p000"), "새 이름", NEXT, TOMORROW))


async def enter_late(store: Store) -> None:
    await store.write(enter_player(player("p0005", "늦은 사람"), NEXT, TOMORROW))


async def grow_for_days(store: Store) -> None:
    """Import values on several days, after which the standing at the end of the first day is unknown."""
    for day in (NEXT, NEXT + timedelta(days=1), NEXT + timedelta(days=2)):
        moment = f"{day}T03:00:00Z"
        await store.write(
            import_values(await load_profile(store, "p000"), Decimal(99), Decimal(1), moment, day, moment)
        )


CHANGES: dict[str, Callable[[Store], Awaitable[None]]] = {
    change.__name__: change for change in (retire, lose_name, rename_player, enter_late, grow_for_days)
}


async def test_changes_between_two_runs_do_not_change_the_day(embedded: Store, tmp_path):
    await store_players(embedded, fixed=False)
    await embedded.backup(tmp_path / "evening.db")
    await run_job(embedded)
    undisturbed = await stored_items(embedded)
    await embedded.restore(tmp_path / "evening.db")
    await run_and_kill_after(embedded, 1)
    await embedded.backup(tmp_path / "killed.db")
    for name, change in CHANGES.items():
        await embedded.restore(tmp_path / "killed.db")
        await change(embedded)
        assert (await run_job(embedded, now="2026-02-25T00:00:00Z")).players == 180
        assert await stored_items(embedded) == undisturbed, name


@pytest.mark.parametrize("change", ["lose_name", "grow_for_days"])
async def test_changes_during_a_run_do_not_change_the_day(embedded: Store, change: str, tmp_path):
    await store_players(embedded, fixed=False)
    await embedded.backup(tmp_path / "evening.db")
    await run_job(embedded)
    undisturbed = await stored_items(embedded)
    await embedded.restore(tmp_path / "evening.db")
    first = [True]

    async def change_once(_: UserId) -> None:
        if first:
            first.clear()
            await CHANGES[change](embedded)

    await run_job(embedded, on_batch=change_once)
    assert await stored_items(embedded) == undisturbed


@pytest.mark.parametrize("change", ["retire", "lose_name", "rename_player", "enter_late"])
async def test_changes_after_midnight_do_not_change_the_day_before(embedded: Store, change: str):
    """This holds without a roster of the day for all players of the day before."""
    await store_players(embedded)
    await run_job(embedded)
    await rank_day_after(embedded, NEXT, "2026-02-22T15:00:00Z", CHANGES[change])
    snapshots = await embedded.get_many([snapshot(user_id, NEXT) for user_id in IDS])
    assert [stored and (stored.name, stored.level) for stored in snapshots] == [
        (row.name, row.level) for row in STANDINGS
    ]
    assert await embedded.get(snapshot(UserId("p0005"), NEXT)) is None


async def rank_day_after(store: Store, day: date, end: str, change: Callable[[Store], Awaitable[None]]) -> None:
    """Rank a day after a change on the next one."""
    after = day + timedelta(days=1)
    moment = f"{after}T03:00:00Z"
    first, last = await load_profile(store, "p000"), await load_profile(store, "p179")
    plans = {
        "retire": lambda: retire_player(first, after),
        "lose_name": lambda: take_over_name(last, first.name, after, moment, first),
        "rename_player": lambda: rename(first, "새 이름", after, moment),
        "enter_late": lambda: enter_player(player("p0005", "늦은 사람"), after, moment),
    }
    await store.write(plans[change.__name__]())
    await rank_day(store, day, as_of=end, now=moment)


async def test_a_player_without_a_name_at_the_end_of_the_day_is_not_ranked_on_it(embedded: Store):
    await store_players(embedded, fixed=False)
    await embedded.write(retire_player(await load_profile(embedded, "p000"), DAY))
    await embedded.write(rename(await load_profile(embedded, "p000"), "새 이름", NEXT, TOMORROW))
    assert (await run_job(embedded)).players == 179
    assert await embedded.get(snapshot(UserId("p000"), DAY)) is None


async def test_a_snapshot_written_after_publication_changes_nothing(embedded: Store, monkeypatch: pytest.MonkeyPatch):
    """Another run publishes the day between a run's check for publication and its write."""
    await store_players(embedded)
    write_many, stored = embedded.write_many, list[str]()

    async def late(**writes) -> None:
        monkeypatch.setattr(embedded, "write_many", write_many)
        await retire(embedded)
        await run_job(embedded, now="2026-02-22T09:00:00Z")
        stored.extend(await stored_items(embedded))
        await write_many(**writes)

    monkeypatch.setattr(embedded, "write_many", late)
    assert (await run_job(embedded)).published_at == "2026-02-22T09:00:00Z"
    assert len(stored) == 184
    assert await stored_items(embedded) == stored


async def test_a_run_stops_when_another_has_published(embedded: Store):
    await store_players(embedded)
    batch_ends: list[str] = []

    async def publish_in_another_run(user_id: UserId) -> None:
        batch_ends.append(user_id)
        await run_job(embedded)

    assert (
        await run_job(embedded, now="2026-02-22T09:00:00Z", on_batch=publish_in_another_run)
    ).published_at == TOMORROW
    assert batch_ends == ["p099"]


async def test_a_published_day_is_never_changed(strict: Store):
    published = await run_job(await store_players(strict))
    stored = await stored_items(strict)
    await retire(strict)
    assert await run_job(strict, now="2026-02-23T00:00:00Z") == published
    assert await stored_items(strict) == stored


async def test_a_day_without_players_is_published(embedded: Store):
    assert (await run_job(embedded)).players == 0
    stored_histogram = await embedded.get(histogram(DAY, "POWER"), strong=True)
    assert stored_histogram is not None
    assert find_rank(stored_histogram, Decimal(1)) == 1


async def test_a_day_is_not_ranked_before_its_end(embedded: Store):
    with pytest.raises(DayNotOver, match="cannot be ranked at 2026-02-21T14:59:59Z"):
        await run_job(await store_players(embedded, fixed=False), now="2026-02-21T14:59:59Z")
    assert await stored_items(embedded) == []


async def test_a_missed_day_is_published_only_when_missing_standings_are_allowed(embedded: Store):
    await store_players(embedded, fixed=False)
    await grow_for_days(embedded)
    with pytest.raises(StandingsMissing, match="The standings of 1 players on 2026-02-21 are unknown"):
        await run_job(embedded)
    assert await embedded.get(published_day(DAY)) is None
    day = await run_job(embedded, max_missing=1)
    assert (day.players, day.missing) == (179, 1)


async def test_values_imported_after_midnight_belong_to_the_next_day(store: Store):
    for at in range(3):
        await store.write(enter_player(player(f"p{at}", f"이름{at}", str(10 + at), values_at=NOON), DAY, NOON))
    await eventually(lambda: named_players(store), ["p0", "p1", "p2"])
    await store.write(enter_player(player("p9", "늦은 사람", values_at=TOMORROW), NEXT, TOMORROW))
    await store.write(import_values(await load_profile(store, "p0"), Decimal(99), Decimal(1), TOMORROW, NEXT, TOMORROW))
    players = [UserId(f"p{at}") for at in (0, 1, 2, 9)]
    await create_roster(store, DAY, players)
    await store.write(import_values(await load_profile(store, "p1"), Decimal(98), Decimal(1), TOMORROW, NEXT, TOMORROW))
    await run_job(store)
    snapshots = await store.get_many([snapshot(user_id, DAY) for user_id in players], strong=True)
    assert [stored and (stored.level, stored.level_rank) for stored in snapshots] == [
        (10, 3),
        (11, 2),
        (12, 1),
        None,
    ]
