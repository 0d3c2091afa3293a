"""Who is ranked on a day: one roster, whoever fixes it."""

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
    """Parts of three players, so that few make a chain."""
    monkeypatch.setattr(roster, "MAX_PART_ROWS", 3)


async def store_players(store: Store) -> None:
    people = [player(user_id, f"이름{user_id}", first_day=DAY, current_day=DAY) for user_id in IDS]
    await store.write_many(put=[*people, *map(claim_of, people)])


async def stored_roster(store: Store) -> list[UserId]:
    return [row.user_id async for part in read_roster(store, DAY) for row in part.rows]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 6, 20])
async def test_a_roster_has_everybody_once_in_order(embedded: Store, count: int):
    await store_players(embedded)
    await create_roster(embedded, DAY, IDS[:count])
    assert await stored_roster(embedded) == IDS[:count]
    assert len([part async for part in read_roster(embedded, DAY)]) == max(1, -(-count // 3))


async def test_many_who_fix_a_roster_from_different_lists_make_one_that_has_nobody_twice(contested: Store):
    await store_players(contested)
    lists = [IDS, IDS[1:], IDS[::2], IDS[:-1], [*IDS[:5], *IDS[9:]]]
    await asyncio.gather(*(create_roster(contested, DAY, some) for some in lists))
    made = await stored_roster(contested)
    assert made == sorted(set(made))
    # Whoever is on all lists is in it.
    assert set(IDS[10:-1:2]) <= set(made)
    await create_roster(contested, DAY, IDS)
    assert await stored_roster(contested) == made


async def test_a_roster_that_was_begun_is_finished_behind_its_last_part(contested: Store):
    await store_players(contested)
    rows = [roster.standing_on(await load_profile(contested, user_id), DAY) for user_id in IDS[:2]]
    begun = RosterPart(date=DAY, number=0, rows=tuple(rows), through=IDS[4])
    await contested.put(begun)
    await create_roster(contested, DAY, IDS)
    assert await contested.get(roster_part(DAY, 0)) == begun
    assert await stored_roster(contested) == [*IDS[:2], *IDS[5:]]


async def test_a_run_that_is_late_by_a_moment_goes_on_behind_the_part_of_the_other(
    embedded: Store, monkeypatch: pytest.MonkeyPatch
):
    """The other part comes between looking for one and putting one's own."""
    await store_players(embedded)
    write = embedded.write

    async def late(plan):
        monkeypatch.setattr(embedded, "write", write)
        await embedded.put(RosterPart(date=DAY, number=0, rows=(), through=IDS[4]))
        return await write(plan)

    monkeypatch.setattr(embedded, "write", late)
    await create_roster(embedded, DAY, IDS)
    assert await stored_roster(embedded) == IDS[5:]


async def test_a_roster_that_is_not_whole_is_not_read(embedded: Store):
    await embedded.put(RosterPart(date=DAY, number=0, rows=(), through=IDS[4]))
    with pytest.raises(RosterIncomplete, match="has no part 1"):
        await stored_roster(embedded)


async def test_who_was_ranked_on_the_last_published_day_is_looked_at_again(embedded: Store):
    await store_players(embedded)
    await create_roster(embedded, DAY)
    await embedded.write(publish_plan(Day(date=DAY, players=20, as_of=TOMORROW, published_at=TOMORROW)))
    for user_id in (IDS[0], IDS[7]):
        await embedded.write(retire_player(await load_profile(embedded, user_id), NEXT))
    assert await candidate_players(embedded, DAY) == [it for it in IDS if it not in (IDS[0], IDS[7])]
    assert await candidate_players(embedded, NEXT) == IDS
    await create_roster(embedded, NEXT)
    rank_by_histogram = [row.user_id async for part in read_roster(embedded, NEXT) for row in part.rows]
    assert rank_by_histogram == [it for it in IDS if it not in (IDS[0], IDS[7])]


async def test_a_walk_that_meets_somebody_twice_lists_them_once(embedded: Store, monkeypatch: pytest.MonkeyPatch):
    await store_players(embedded)
    walk = embedded.scan_index

    async def twice(index, kind):
        for _ in range(2):
            async for found in walk(index, kind):
                yield found

    monkeypatch.setattr(embedded, "scan_index", twice)
    assert await roster.named_players(embedded) == IDS


async def test_who_is_gone_altogether_is_left_out(embedded: Store):
    await store_players(embedded)
    await create_roster(embedded, DAY - timedelta(days=1), [*IDS, UserId("p99")])
    found = [part async for part in read_roster(embedded, DAY - timedelta(days=1))]
    assert [(part.rows, part.missing) for part in found] == [((), 0)] * 7
