"""The cases that the budgets of the rankings speak of."""

from datetime import timedelta
from decimal import Decimal
from functools import partial

from msgspec.structs import replace

from tests.ranking.players import DAY, EVENING, NEXT, NOON, TOMORROW, now_of, player, snap
from tests.ranking.test_ranks import million
from tests.support.cost_assertions import Case
from zataku.ranking import design, writes
from zataku.ranking.design import Day, RosterPart, Standing
from zataku.ranking.limits import UserId
from zataku.table import Query, Store

HANA = "456e7890-e89b-12d3-a456-426614174001"
MINHO = "456e7890-e89b-12d3-a456-426614174002"


def uuid(at: int) -> str:
    """UUIDs as games have them."""
    return f"456e7890-e89b-12d3-a456-{at:012d}"


async def hundred(store: Store) -> None:
    """The first hundred of a day."""
    days = [
        snap(uuid(at), f"{200 - at}.25", f"{900_000 - at}", name="달빛여우님", level_rank=at, power_rank=at)
        for at in range(1, 101)
    ]
    await store.write_many(put=days)


async def month(store: Store) -> None:
    """A player's thirty days, and thirty published days."""
    dates = [DAY - timedelta(days=at) for at in range(30)]
    await store.write_many(put=[snap(HANA, "57.25", "123456", day=day, name="달빛여우님") for day in dates])
    await store.write_many(put=[Day(date=day, players=10**6, as_of=NOON, published_at=EVENING) for day in dates])


async def two_players(store: Store) -> None:
    """Two players with names of five Hangul."""
    for user_id, name in ((HANA, "달빛여우님"), (MINHO, "푸른호랑이")):
        made = player(user_id, name, "57.25", "123456", current_day=DAY, values_at=NOON)
        await store.write(writes.enter_player(made, DAY, NOON))


def paged(fill, query: Query, limit: int) -> Case:
    """One page of a query."""

    async def case(store: Store):
        await fill(store)
        return partial(store.page, query, limit=limit)

    return case


def got(fill, key) -> Case:
    """One item."""

    async def case(store: Store):
        await fill(store)
        return partial(store.get, key)

    return case


def written(fill, make_plan) -> Case:
    """One plan, made from the state of the store."""

    async def case(store: Store):
        await fill(store)
        plan = await make_plan(store)
        return partial(store.write, plan)

    return case


async def nothing(store: Store) -> None:
    """An empty store."""


async def renaming(store: Store):
    return writes.rename(await now_of(store, HANA), "작은마법사", NEXT, TOMORROW)


async def taking_over(store: Store):
    hana, minho = await now_of(store, HANA), await now_of(store, MINHO)
    return writes.take_over_name(hana, minho.name, NEXT, TOMORROW, minho)


async def importing(store: Store):
    return writes.import_values(await now_of(store, HANA), Decimal("58.5"), Decimal(130_000), TOMORROW, NEXT, TOMORROW)


async def retiring(store: Store):
    return writes.retire_player(await now_of(store, HANA), NEXT)


async def entering(store: Store):
    return writes.enter_player(player(HANA, "달빛여우님", current_day=DAY, values_at=NOON), DAY, NOON)


async def snapping(store: Store):
    return writes.write_snapshot(snap(HANA, "57.25", "123456", name="달빛여우님", level_rank=1, power_rank=100))


def thousand() -> RosterPart:
    """A whole part of a roster."""
    rows = [
        Standing(UserId(uuid(at)), "달빛여우님", Decimal(f"{at % 90}.25"), Decimal(123_456 + at)) for at in range(1000)
    ]
    return RosterPart(date=DAY, number=0, rows=tuple(rows), through=rows[-1].user_id)


async def adding_to_roster(store: Store):
    return writes.add_to_roster(thousand())


async def roster(store: Store) -> None:
    """A thousand players of a day."""
    await store.put(thousand())


async def publishing(store: Store):
    day = Day(date=DAY, players=10**6, as_of=EVENING, published_at=TOMORROW)
    return writes.publish_day(day, replace(million(), measure="LEVEL"), million())


async def histograms(store: Store) -> None:
    """The histogram of a million players."""
    await store.put(million())


LOW, HIGH = Decimal(0), Decimal(1_000_000)
CASES: dict[str, Case] = {
    "official_levels": paged(hundred, design.official_levels(DAY), 150),
    "official_powers": paged(hundred, design.official_powers(DAY), 150),
    "levels": paged(hundred, design.levels(DAY), 50),
    "powers": paged(hundred, design.powers(DAY), 50),
    "history": paged(month, design.history(UserId(HANA)), 100),
    "history_between": paged(month, design.history_between(UserId(HANA), DAY - timedelta(days=29), DAY), 100),
    "levels_between": paged(hundred, design.levels_between(DAY, LOW, HIGH), 50),
    "powers_between": paged(hundred, design.powers_between(DAY, LOW, HIGH), 50),
    "levels_down_from": paged(hundred, design.levels_down_from(DAY, HIGH), 50),
    "powers_down_from": paged(hundred, design.powers_down_from(DAY, HIGH), 50),
    "levels_up_from": paged(hundred, design.levels_up_from(DAY, LOW), 50),
    "powers_up_from": paged(hundred, design.powers_up_from(DAY, LOW), 50),
    "find_by_name": paged(two_players, design.find_by_name("달빛여우님"), 1),
    "name_claim": got(two_players, design.name_claim("달빛여우님")),
    "profile": got(two_players, design.profile(UserId(HANA))),
    "snapshot": got(month, design.snapshot(UserId(HANA), DAY)),
    "newest_day": paged(month, design.newest_day(), 1),
    "days_before": paged(month, design.days_before(DAY), 1),
    "published_days": paged(month, design.published_days(DAY - timedelta(days=29), DAY), 100),
    "published_day": got(month, design.published_day(DAY)),
    "histogram": got(histograms, design.histogram(DAY, "POWER")),
    "roster_part": got(roster, design.roster_part(DAY, 0)),
    "enter_player": written(nothing, entering),
    "rename": written(two_players, renaming),
    "take_over_name": written(two_players, taking_over),
    "retire_player": written(two_players, retiring),
    "import_values": written(two_players, importing),
    "add_to_roster": written(nothing, adding_to_roster),
    "write_snapshot": written(nothing, snapping),
    "publish_day": written(nothing, publishing),
}
