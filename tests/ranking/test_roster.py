"""The roster of a day is the same for all runs that create it."""

import asyncio
from datetime import timedelta

import pytest

from tests.ranking.players import DAY, NEXT, TOMORROW, claim_of, load_profile, player, publish_plan
from zataku.ranking import roster
from zataku.ranking.design import Day, RosterPart, roster_part
from zataku.ranking.errors import RosterIncomplete
from zataku.ranking.limits import UserId
from zataku.ranking.roster import candidate_players, create_roster, read_roster
from zataku.ranking.writes import retire_player
from zataku.table import Store

IDS = [UserId(f"p{at:02d}") for at in range(20)]


@pytest.fixture(autouse=True)
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of three players, so that a few players make a chain."""
    monkeypatch.setattr(roster, "MAX_PART_ROWS", 3)


async def store_players(store: Store) -> None:
    players = [player(user_id, f"이름{user_id}", first_day=DAY, current_day=DAY) for user_id in IDS]
    await store.write_many(put=[*players, *map(claim_of, players)])


async def read_player_ids(store: Store) -> list[UserId]:
    return [row.user_id async for part in read_roster(store, DAY) for row in part.rows]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 6, 20])
async def test_a_roster_has_every_player_once_in_order(embedded: Store, count: int):
    await store_players(embedded)
    await create_roster(embedded, DAY, IDS[:count])
    assert await read_player_ids(embedded) == IDS[:count]
    assert len([part async for part in read_roster(embedded, DAY)]) == max(1, -(-count // 3))


async def test_concurrent_runs_with_different_players_create_one_roster_without_duplicates(contested: Store):
    await store_players(contested)
    lists = [IDS, IDS[1:], IDS[::2], IDS[:-1], [*IDS[:5], *IDS[9:]]]
    await asyncio.gather(*(create_roster(contested, DAY, players) for players in lists))
    player_ids = await read_player_ids(contested)
    assert player_ids == sorted(set(player_ids))
    # The players of all lists are in it.
    assert set(IDS[10:-1:2]) <= set(player_ids)
    await create_roster(contested, DAY, IDS)
    assert await read_player_ids(contested) == player_ids


async def test_an_incomplete_roster_is_continued_after_its_last_part(contested: Store):
    await store_players(contested)
    rows = [roster.standing_on(await load_profile(contested, user_id), DAY) for user_id in IDS[:2]]
    begun = RosterPart(date=DAY, number=0, rows=tuple(rows), through=IDS[4])
    await contested.put(begun)
    await create_roster(contested, DAY, IDS)
    assert await contested.get(roster_part(DAY, 0)) == begun
    assert await read_player_ids(contested) == [*IDS[:2], *IDS[5:]]


async def test_a_run_continues_after_the_part_that_another_run_put_first(
    embedded: Store, monkeypatch: pytest.MonkeyPatch
):
    """The other run puts its part between the read and the write of this one."""
    await store_players(embedded)
    write = embedded.write

    async def late(plan):
        monkeypatch.setattr(embedded, "write", write)
        await embedded.put(RosterPart(date=DAY, number=0, rows=(), through=IDS[4]))
        return await write(plan)

    monkeypatch.setattr(embedded, "write", late)
    await create_roster(embedded, DAY, IDS)
    assert await read_player_ids(embedded) == IDS[5:]


async def test_reading_an_incomplete_roster_is_refused(embedded: Store):
    await embedded.put(RosterPart(date=DAY, number=0, rows=(), through=IDS[4]))
    with pytest.raises(RosterIncomplete, match="has no part 1"):
        await read_player_ids(embedded)


async def test_players_of_the_last_published_day_are_candidates(embedded: Store):
    await store_players(embedded)
    await create_roster(embedded, DAY)
    await embedded.write(publish_plan(Day(date=DAY, players=20, as_of=TOMORROW, published_at=TOMORROW)))
    for user_id in (IDS[0], IDS[7]):
        await embedded.write(retire_player(await load_profile(embedded, user_id), NEXT))
    assert await candidate_players(embedded, DAY) == [user_id for user_id in IDS if user_id not in (IDS[0], IDS[7])]
    assert await candidate_players(embedded, NEXT) == IDS
    await create_roster(embedded, NEXT)
    ranked = [row.user_id async for part in read_roster(embedded, NEXT) for row in part.rows]
    assert ranked == [user_id for user_id in IDS if user_id not in (IDS[0], IDS[7])]


async def test_a_player_who_occurs_twice_in_the_scan_is_listed_once(embedded: Store, monkeypatch: pytest.MonkeyPatch):
    await store_players(embedded)
    scan_index = embedded.scan_index

    async def scan_twice(index, kind):
        for _ in range(2):
            async for row in scan_index(index, kind):
                yield row

    monkeypatch.setattr(embedded, "scan_index", scan_twice)
    assert await roster.named_players(embedded) == IDS


async def test_players_without_a_profile_or_before_their_first_day_are_left_out(embedded: Store):
    await store_players(embedded)
    await create_roster(embedded, DAY - timedelta(days=1), [*IDS, UserId("p99")])
    parts = [part async for part in read_roster(embedded, DAY - timedelta(days=1))]
    assert [(part.rows, part.missing) for part in parts] == [((), 0)] * 7
