"""The cases that the budgets of the rankings describe."""

from datetime import timedelta
from decimal import Decimal
from functools import partial

from msgspec.structs import replace

from tests.ranking.players import DAY, EVENING, NEXT, NOON, TOMORROW, a_snapshot, load_profile, player
from tests.ranking.test_ranks import histogram_of_a_million
from tests.support.cost_assertions import Case
from zataku.ranking import design, writes
from zataku.ranking.design import Day, RosterPart, Standing
from zataku.ranking.limits import UserId
from zataku.table import Query, Store

HANA = "456e7890-e89b-12d3-a456-426614174001"
MINHO = "456e7890-e89b-12d3-a456-426614174002"


def uuid(at: int) -> str:
    """A UUID of 36 characters."""
    return f"456e7890-e89b-12d3-a456-{at:012d}"


async def store_top_100(store: Store) -> None:
    """Store the snapshots of the first hundred of a day."""
    days = [
        a_snapshot(uuid(at), f"{200 - at}.25", f"{900_000 - at}", name="달빛여우님", level_rank=at, power_rank=at)
        for at in range(1, 101)
    ]
    await store.write_many(put=days)


async def store_month(store: Store) -> None:
    """Store thirty snapshots of a player, and thirty published days."""
    dates = [DAY - timedelta(days=at) for at in range(30)]
    await store.write_many(put=[a_snapshot(HANA, "57.25", "123456", day=day, name="달빛여우님") for day in dates])
    await store.write_many(put=[Day(date=day, players=10**6, as_of=NOON, published_at=EVENING) for day in dates])


async def store_two_players(store: Store) -> None:
    """Store two players with names of five Hangul."""
    for user_id, name in ((HANA, "달빛여우님"), (MINHO, "푸른호랑이")):
        new_player = player(user_id, name, "57.25", "123456", current_day=DAY, values_at=NOON)
        await store.write(writes.enter_player(new_player, DAY, NOON))


def page_case(fill, query: Query, limit: int) -> Case:
    """The case of reading one page of a query."""

    async def case(store: Store):
        await fill(store)
        return partial(store.page, query, limit=limit)

    return case


def get_case(fill, key) -> Case:
    """The case of reading one item."""

    async def case(store: Store):
        await fill(store)
        return partial(store.get, key)

    return case


def write_case(fill, make_plan) -> Case:
    """The case of one write, planned from the state of the store."""

    async def case(store: Store):
        await fill(store)
        plan = await make_plan(store)
        return partial(store.write, plan)

    return case


async def store_nothing(store: Store) -> None:
    """Leave the store empty."""


async def plan_rename(store: Store):
    return writes.rename(await load_profile(store, HANA), "작은마법사", NEXT, TOMORROW)


async def plan_take_over(store: Store):
    hana, minho = await load_profile(store, HANA), await load_profile(store, MINHO)
    return writes.take_over_name(hana, minho.name, NEXT, TOMORROW, minho)


async def plan_import(store: Store):
    return writes.import_values(
        await load_profile(store, HANA), Decimal("58.5"), Decimal(130_000), TOMORROW, NEXT, TOMORROW
    )


async def plan_retirement(store: Store):
    return writes.retire_player(await load_profile(store, HANA), NEXT)


async def plan_entry(store: Store):
    return writes.enter_player(player(HANA, "달빛여우님", current_day=DAY, values_at=NOON), DAY, NOON)


async def plan_snapshot(store: Store):
    return writes.write_snapshot(a_snapshot(HANA, "57.25", "123456", name="달빛여우님", level_rank=1, power_rank=100))


def roster_of_1000() -> RosterPart:
    """A full part of a roster."""
    rows = [
        Standing(UserId(uuid(at)), "달빛여우님", Decimal(f"{at % 90}.25"), Decimal(123_456 + at)) for at in range(1000)
    ]
    return RosterPart(date=DAY, number=0, rows=tuple(rows), through=rows[-1].user_id)


async def plan_roster_part(store: Store):
    return writes.add_to_roster(roster_of_1000())


async def store_roster(store: Store) -> None:
    """Store a part of a roster with a thousand players."""
    await store.put(roster_of_1000())


async def plan_publication(store: Store):
    day = Day(date=DAY, players=10**6, as_of=EVENING, published_at=TOMORROW)
    return writes.publish_day(day, replace(histogram_of_a_million(), measure="LEVEL"), histogram_of_a_million())


async def store_histogram(store: Store) -> None:
    """Store the histogram of a million players."""
    await store.put(histogram_of_a_million())


LOW, HIGH = Decimal(0), Decimal(1_000_000)
CASES: dict[str, Case] = {
    "official_levels": page_case(store_top_100, design.official_levels(DAY), 150),
    "official_powers": page_case(store_top_100, design.official_powers(DAY), 150),
    "levels": page_case(store_top_100, design.levels(DAY), 50),
    "powers": page_case(store_top_100, design.powers(DAY), 50),
    "history": page_case(store_month, design.history(UserId(HANA)), 100),
    "history_between": page_case(store_month, design.history_between(UserId(HANA), DAY - timedelta(days=29), DAY), 100),
    "levels_between": page_case(store_top_100, design.levels_between(DAY, LOW, HIGH), 50),
    "powers_between": page_case(store_top_100, design.powers_between(DAY, LOW, HIGH), 50),
    "levels_down_from": page_case(store_top_100, design.levels_down_from(DAY, HIGH), 50),
    "powers_down_from": page_case(store_top_100, design.powers_down_from(DAY, HIGH), 50),
    "levels_up_from": page_case(store_top_100, design.levels_up_from(DAY, LOW), 50),
    "powers_up_from": page_case(store_top_100, design.powers_up_from(DAY, LOW), 50),
    "find_by_name": page_case(store_two_players, design.find_by_name("달빛여우님"), 1),
    "name_claim": get_case(store_two_players, design.name_claim("달빛여우님")),
    "profile": get_case(store_two_players, design.profile(UserId(HANA))),
    "snapshot": get_case(store_month, design.snapshot(UserId(HANA), DAY)),
    "newest_day": page_case(store_month, design.newest_day(), 1),
    "days_before": page_case(store_month, design.days_before(DAY), 1),
    "published_days": page_case(store_month, design.published_days(DAY - timedelta(days=29), DAY), 100),
    "published_day": get_case(store_month, design.published_day(DAY)),
    "histogram": get_case(store_histogram, design.histogram(DAY, "POWER")),
    "roster_part": get_case(store_roster, design.roster_part(DAY, 0)),
    "enter_player": write_case(store_nothing, plan_entry),
    "rename": write_case(store_two_players, plan_rename),
    "take_over_name": write_case(store_two_players, plan_take_over),
    "retire_player": write_case(store_two_players, plan_retirement),
    "import_values": write_case(store_two_players, plan_import),
    "add_to_roster": write_case(store_nothing, plan_roster_part),
    "write_snapshot": write_case(store_nothing, plan_snapshot),
    "publish_day": write_case(store_nothing, plan_publication),
}
