"""The daily job: the same day however often it runs, however it is stopped, whatever comes in meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal

import pytest

from tests.contract.asking import eventually
from tests.ranking.people import DAY, NEXT, NOON, TOMORROW, now_of, player, standing
from zataku.ranking.days import Standings, named_players, standings, write_day
from zataku.ranking.design import (
    Day,
    Histogram,
    Snapshot,
    histogram,
    levels,
    official_levels,
    published_day,
    snapshot,
)
from zataku.ranking.limits import UserId
from zataku.ranking.ranks import Inside, Standing, find_rank
from zataku.ranking.writes import enter_player, import_values
from zataku.table import Store

AS_OF = "2026-02-21T15:00:00Z"
# Levels 0 to 59 three times each: rank 100 is shared by three, so that 102 are official.
CROWD = [standing(f"p{at:03d}", str(at // 3), str(at % 40)) for at in range(180)]


class Killed(Exception):
    """The run ends here."""


def rows_of(some: list[Standing]) -> Standings:
    """The same rows each time."""

    async def rows() -> AsyncIterator[Standing]:
        for row in some:
            yield row

    return rows


async def kept(store: Store) -> list[str]:
    """Everything of the day, for comparing."""
    items = [it async for it in store.scan(store.tables[0])]
    return sorted(repr(it) for it in items if isinstance(it, Snapshot | Histogram | Day))


async def run(store: Store, some: list[Standing] = CROWD, now: str = TOMORROW, **options) -> Day:
    return await write_day(store, DAY, rows_of(some), as_of=AS_OF, now=now, **options)


async def test_a_day_has_a_snapshot_of_everybody_and_is_published(store: Store):
    assert await run(store) == Day(date=DAY, players=180, as_of=AS_OF, published_at=TOMORROW)
    found = await store.get_many([snapshot(row.user_id, DAY) for row in CROWD], strong=True)
    assert [(it.user_id, it.name, it.level, it.power) for it in found if it] == [
        (row.user_id, row.name, row.level, row.power) for row in CROWD
    ]
    by_level = {it.level: it.level_rank for it in found if it}
    assert (by_level[Decimal(59)], by_level[Decimal(26)], by_level[Decimal(25)]) == (1, 100, None)
    await eventually(lambda: store.count(official_levels(DAY)), 102)
    await eventually(lambda: store.count(levels(DAY)), 180)


async def test_the_histogram_of_the_day_leads_to_every_rank(store: Store):
    await run(store)
    made = await store.get(histogram(DAY, "LEVEL"), strong=True)
    assert made is not None
    found = find_rank(made, Decimal(20))
    assert isinstance(found, Inside)
    inside = [row for row in CROWD if found.low <= row.level <= found.high]
    assert found.known + len(inside) == 118


async def test_two_runs_at_once_leave_what_one_leaves(contested: Store):
    first, second = await asyncio.gather(run(contested), run(contested, now="2026-02-22T04:00:00Z"))
    assert first == second == await contested.get(published_day(DAY))
    left = await kept(contested)
    await run(contested)
    assert await kept(contested) == left
    assert len(left) == 183


@pytest.mark.parametrize("batches", [1, 2])
async def test_a_run_that_is_killed_and_started_again_leaves_what_one_leaves(contested: Store, batches: int):
    told: list[str] = []

    async def killed_after(user_id: UserId) -> None:
        told.append(user_id)
        if len(told) == batches:
            raise Killed

    with pytest.raises(Killed):
        await run(contested, wrote=killed_after)
    assert await contested.get(published_day(DAY)) is None
    await run(contested)
    found = await contested.get_many([snapshot(row.user_id, DAY) for row in CROWD], strong=True)
    assert all(found)
    assert len(await kept(contested)) == 183
    assert told == ["p099", "p179"][:batches]


async def test_a_published_day_is_never_changed(contested: Store):
    published = await run(contested)
    left = await kept(contested)
    assert await run(contested, [standing("p000", "999")], now="2026-02-23T00:00:00Z") == published
    assert await kept(contested) == left


async def test_a_run_stops_when_another_has_published(embedded: Store):
    """Here the other had other rows, so that anything written after it would show."""
    others = [standing(row.user_id, "7") for row in CROWD]
    left: list[str] = []

    async def meanwhile(_: UserId) -> None:
        await run(embedded, others)
        left.extend(await kept(embedded))

    assert (await run(embedded, now="2026-02-22T09:00:00Z", wrote=meanwhile)).published_at == TOMORROW
    assert await kept(embedded) == left


async def test_a_day_without_players_is_published_all_the_same(store: Store):
    assert (await run(store, [])).players == 0
    made = await store.get(histogram(DAY, "POWER"), strong=True)
    assert made is not None
    assert find_rank(made, Decimal(1)) == 1


async def test_values_that_come_in_after_midnight_belong_to_the_next_day(store: Store):
    for at in range(3):
        made = player(f"p{at}", f"이름{at}", str(10 + at), current_day=DAY, values_at=NOON)
        await store.write(enter_player(made, NOON))
    await eventually(lambda: named_players(store), ["p0", "p1", "p2"])
    await store.write(enter_player(player("p9", "늦은 사람", current_day=NEXT, values_at=TOMORROW), TOMORROW))
    early = import_values(await now_of(store, "p0"), Decimal(99), Decimal(1), TOMORROW, NEXT)
    await store.write(early)

    async def during(_: UserId) -> None:
        late = import_values(await now_of(store, "p1"), Decimal(98), Decimal(1), TOMORROW, NEXT)
        await store.write(late)

    players = [UserId(f"p{at}") for at in (0, 1, 2, 9)]
    await write_day(store, DAY, lambda: standings(store, players, DAY), as_of=AS_OF, now=TOMORROW, wrote=during)
    found = await store.get_many([snapshot(user_id, DAY) for user_id in players], strong=True)
    assert [it and (it.level, it.level_rank) for it in found] == [(10, 3), (11, 2), (12, 1), None]
