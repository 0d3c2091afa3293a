"""Every condition of a write is checked: against concurrent changes and against contradictory states."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from tests.ranking.players import DAY, EVENING, NEXT, NOON, TOMORROW, load_profile, player
from zataku.ranking.design import NameClaim, Profile, Standing
from zataku.ranking.limits import UserId
from zataku.ranking.roster import standing_on
from zataku.ranking.writes import enter_player, import_values, rename, retire_player, take_over_name
from zataku.table import ConditionFailed, Plan, Store, TransactionCancelled

AFTER = NEXT + timedelta(days=1)
LATER = "2026-02-23T03:00:00Z"


async def enter(store: Store, user_id: str, name: str) -> Profile:
    await store.write(enter_player(player(user_id, name, values_at=NOON), DAY, NOON))
    return await load_profile(store, user_id)


def import_plan(was: Profile, day: Any = NEXT, moment: str = TOMORROW) -> Plan[Profile]:
    return import_values(was, Decimal(60), Decimal(1), moment, day, LATER)


@pytest.mark.parametrize("name", ["World", "HELLO"])
async def test_values_that_close_a_day_under_an_old_name_are_refused(strict: Store, name: str):
    """Another spelling is another name, though it folds to the same."""
    hana = await enter(strict, "A101", "Hello")
    await strict.write(rename(hana, name, DAY, EVENING))
    with pytest.raises(ConditionFailed):
        await strict.write(import_plan(hana))
    await strict.write(import_plan(await load_profile(strict, "A101")))
    closed = standing_on(await load_profile(strict, "A101"), DAY)
    assert isinstance(closed, Standing)
    assert closed.name == name


async def test_values_that_close_a_day_for_a_player_who_left_on_it_are_refused(strict: Store):
    hana = await enter(strict, "A101", "Hello")
    await strict.write(retire_player(hana, DAY))
    with pytest.raises(ConditionFailed):
        await strict.write(import_plan(hana))
    await strict.write(import_plan(await load_profile(strict, "A101")))
    assert standing_on(await load_profile(strict, "A101"), DAY) is None


async def test_values_that_close_an_earlier_day_than_the_last_are_refused(strict: Store):
    """Name and values are as they were read, but a day has been closed since."""
    hana = await enter(strict, "A101", "Hello")
    await strict.write(rename(hana, "World", NEXT, TOMORROW))
    await strict.write(rename(await load_profile(strict, "A101"), "Hello", AFTER, LATER))
    with pytest.raises(ConditionFailed):
        await strict.write(import_plan(hana, AFTER, LATER))
    closed = standing_on(await load_profile(strict, "A101"), NEXT)
    assert isinstance(closed, Standing)
    assert closed.name == "World"


async def test_a_name_is_not_taken_over_on_an_old_state_of_its_holder(strict: Store):
    """It would close the holder's day with older values."""
    hana, minho = await enter(strict, "A101", "Hello"), await enter(strict, "B202", "World")
    await strict.write(import_plan(hana, DAY, EVENING))
    with pytest.raises(TransactionCancelled):
        await strict.write(take_over_name(minho, "Hello", NEXT, TOMORROW, hana))
    await strict.write(take_over_name(minho, "Hello", NEXT, TOMORROW, await load_profile(strict, "A101")))
    closed = standing_on(await load_profile(strict, "A101"), DAY)
    assert isinstance(closed, Standing)
    assert closed.level == 60


LEAVING: dict[str, Callable[[Profile, Profile], Plan[Profile]]] = {
    "a rename": lambda hana, _: rename(hana, "New", DAY, EVENING),
    "leaving": lambda hana, _: retire_player(hana, DAY),
    "a name taken over": lambda hana, minho: take_over_name(minho, "Hello", DAY, EVENING, hana),
    "entering": lambda hana, _: enter_player(player("C303", "Hello"), DAY, EVENING, holder=hana),
}


@pytest.mark.parametrize("write", LEAVING)
async def test_a_claim_of_another_player_is_never_changed(strict: Store, write: str):
    """The claim contradicts the profile, a state that no write produces."""
    hana, minho = await enter(strict, "A101", "Hello"), await enter(strict, "B202", "World")
    claim = NameClaim(name_lower="hello", holder=UserId("Z999"), claimed_at=NOON)
    await strict.put(claim)
    with pytest.raises(TransactionCancelled):
        await strict.write(LEAVING[write](hana, minho))
    assert await strict.get(NameClaim.key(name_lower="hello"), strong=True) == claim
    assert await load_profile(strict, "A101") == hana


@pytest.mark.parametrize("write", ["a name taken over", "entering"])
async def test_a_name_is_not_taken_from_a_profile_that_has_another(strict: Store, write: str):
    """The profile contradicts the claim, a state that no write produces."""
    hana, minho = await enter(strict, "A101", "Hello"), await enter(strict, "B202", "World")
    other = replace(hana, name_lower="other")
    await strict.put(other)
    with pytest.raises(TransactionCancelled):
        await strict.write(LEAVING[write](hana, minho))
    assert await load_profile(strict, "A101") == other
