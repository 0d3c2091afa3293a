"""Concurrent writes of names, values and days."""

import asyncio
from decimal import Decimal
from random import Random

from msgspec.structs import replace

from tests.ranking.players import (
    DAY,
    EVENING,
    NEXT,
    NOON,
    TOMORROW,
    assert_name_claims_match,
    holder_of,
    load_profile,
    player,
    publish_plan,
    write_until_known,
)
from tests.support.concurrency import race
from zataku.ranking.design import Day, Profile, Standing, name_claim, profile, published_day
from zataku.ranking.errors import OlderValues
from zataku.ranking.limits import UserId
from zataku.ranking.roster import standing_on
from zataku.ranking.writes import (
    enter_player,
    import_values,
    rename,
    retire_player,
    take_over_name,
)
from zataku.table import Plan, Store


async def enter(store: Store, *names: str) -> list[str]:
    """Add players p0, p1, ... with these names."""
    for at, name in enumerate(names):
        newcomer = player(f"p{at}", name, current_day=DAY, values_at=NOON)
        await store.write(enter_player(newcomer, DAY, NOON), token=f"enter-{at}")
    return [f"p{at}" for at in range(len(names))]


async def test_many_players_enter_under_one_name_and_one_gets_it(contested: Store):
    spellings = ["Hello", "hello", "HELLO", "Ｈｅｌｌｏ"]
    outcome = await race(
        *(
            contested.write(enter_player(player(f"p{at}", spellings[at % 4]), DAY, NOON), token=f"enter-{at}")
            for at in range(12)
        )
    )
    assert (len(outcome.won), len(outcome.refused)) == (1, 11)
    await assert_name_claims_match(contested)


async def test_many_players_take_one_free_name_and_one_gets_it(contested: Store):
    names = [f"이름{at}" for at in range(8)]
    players = [await load_profile(contested, user_id) for user_id in await enter(contested, *names)]
    outcome = await race(
        *(
            contested.write(rename(renamed, "한월", DAY, EVENING), token=f"rename-{renamed.user_id}")
            for renamed in players
        )
    )
    assert (len(outcome.won), len(outcome.refused)) == (1, 7)
    holder = await holder_of(contested, "한월")
    assert holder is not None
    assert (await load_profile(contested, holder)).name == "한월"
    await assert_name_claims_match(contested)


async def test_many_players_take_over_one_name_and_one_gets_it(contested: Store):
    ids = await enter(contested, "한월", *(f"이름{at}" for at in range(6)))
    holder, *takers = [await load_profile(contested, user_id) for user_id in ids]
    outcome = await race(
        *(
            contested.write(take_over_name(taker, "한월", DAY, EVENING, holder), token=f"take-{taker.user_id}")
            for taker in takers
        )
    )
    assert (len(outcome.won), len(outcome.refused)) == (1, 5)
    assert (await load_profile(contested, "p0")).name_lower is None
    await assert_name_claims_match(contested)


async def try_rename(store: Store, user_id: str, name: str) -> bool:
    """Give a player a name as an import does: a free one, or one taken over from its holder."""

    async def plan() -> Plan[Profile] | None:
        # A consistent read of both: a claim that has just passed to another player must not look like the player's own.
        me, claim = await store.snapshot(profile(UserId(user_id)), name_claim(name))
        assert me is not None
        if claim is None:
            return rename(me, name, DAY, EVENING)
        if claim.holder == user_id:
            return None
        holder = await store.get(profile(claim.holder))
        if holder is None or holder.name_lower != claim.name_lower:
            return await plan()
        return take_over_name(me, name, DAY, EVENING, holder)

    return await write_until_known(store, plan)


async def test_players_can_rotate_their_names_concurrently(contested: Store):
    names = [f"이름{at}" for at in range(6)]
    ids = await enter(contested, *names)
    await asyncio.gather(*(try_rename(contested, user_id, names[(at + 1) % 6]) for at, user_id in enumerate(ids)))
    await assert_name_claims_match(contested)
    # A player who lost the name again to a late rename gets it now, as with the next import.
    for at, user_id in enumerate(ids):
        await try_rename(contested, user_id, names[(at + 1) % 6])
    assert [await holder_of(contested, name) for name in names] == [ids[at - 1] for at in range(6)]
    await assert_name_claims_match(contested)


async def test_claims_match_profiles_after_concurrent_renames(contested: Store):
    names, random = [f"이름{at}" for at in range(4)], Random(11)
    ids = await enter(contested, *names)
    renames = [(user_id, random.choice([*names, "한월", "달빛"])) for user_id in ids for _ in range(4)]
    await asyncio.gather(*(try_rename(contested, user_id, name) for user_id, name in renames))
    await assert_name_claims_match(contested)


async def test_leaving_and_losing_the_name_at_once_leaves_one_holder_or_none(contested: Store):
    ids = await enter(contested, "한월", "달빛")
    hana, minho = [await load_profile(contested, user_id) for user_id in ids]
    outcome = await race(
        contested.write(retire_player(hana, DAY), token="retire"),
        contested.write(take_over_name(minho, "한월", DAY, EVENING, hana), token="take"),
    )
    assert (len(outcome.won), len(outcome.refused)) == (1, 1)
    await assert_name_claims_match(contested)


async def try_import(store: Store, user_id: str, level: int, moment: str) -> bool:
    """Import values until these or newer ones are stored."""

    async def plan() -> Plan[Profile] | None:
        try:
            return import_values(
                await load_profile(store, user_id), Decimal(level), Decimal(level), moment, NEXT, TOMORROW
            )
        except OlderValues:
            return None

    return await write_until_known(store, plan)


async def test_the_newest_of_many_imports_stays_and_the_previous_day_is_unchanged(contested: Store):
    await enter(contested, "한월")
    moments = [(level, f"2026-02-21T15:{level:02d}:00Z") for level in range(10, 30)]
    Random(5).shuffle(moments)
    await asyncio.gather(*(try_import(contested, "p0", level, moment) for level, moment in moments))
    stored = await load_profile(contested, "p0")
    assert (stored.current_level, stored.values_at) == (29, "2026-02-21T15:29:00Z")
    ended = standing_on(stored, DAY)
    assert isinstance(ended, Standing)
    assert (ended.name, ended.level) == ("한월", Decimal("57.25"))


async def test_only_one_of_two_imports_planned_on_the_same_state_is_written(contested: Store):
    await enter(contested, "한월")
    hana = await load_profile(contested, "p0")
    plans = [
        import_values(hana, Decimal(level), Decimal(1), moment, DAY, TOMORROW)
        for level, moment in ((60, TOMORROW), (58, EVENING))
    ]
    outcome = await race(*(contested.write(plan) for plan in plans))
    assert outcome.allows(1)
    assert (await load_profile(contested, "p0")).current_level in (60, 58)


async def test_a_rename_and_an_import_at_midnight_close_the_day_once(contested: Store):
    await enter(contested, "한월")

    async def new_name() -> Plan[Profile] | None:
        me = await load_profile(contested, "p0")
        return None if me.name == "달빛" else rename(me, "달빛", NEXT, TOMORROW)

    await asyncio.gather(try_import(contested, "p0", 60, TOMORROW), write_until_known(contested, new_name))
    stored = await load_profile(contested, "p0")
    ended, today = standing_on(stored, DAY), standing_on(stored, NEXT)
    assert isinstance(ended, Standing)
    assert isinstance(today, Standing)
    assert (ended.name, ended.level) == ("한월", Decimal("57.25"))
    assert (today.name, today.level) == ("달빛", 60)
    await assert_name_claims_match(contested)


async def test_a_day_published_by_many_at_once_is_published_once(contested: Store):
    day = Day(date=DAY, players=1, as_of=EVENING, published_at=TOMORROW)
    outcome = await race(*(contested.write(publish_plan(replace(day, players=at))) for at in range(10)))
    assert outcome.allows(1)
    published = await contested.get(published_day(DAY))
    assert published is not None
    assert not outcome.won or published == outcome.won[0]
