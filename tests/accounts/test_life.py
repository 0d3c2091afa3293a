"""The whole life of an account on a DynamoDB that others wrote."""

import asyncio

import pytest

from tests.accounts.conftest import household
from tests.accounts.people import OTHER, PASSWORD
from zataku.accounts.passwords import Passwords
from zataku.accounts.removal import AccountRemoval
from zataku.clock import ManualClock
from zataku.errors import Conflict
from zataku.platform.design import job, owner_of_name
from zataku.table import Store


async def test_from_the_first_visit_to_the_removal(dynamodb: Store, clock: ManualClock, passwords: Passwords) -> None:
    house = await household(dynamodb, clock, passwords)
    guest = house.guest()
    await asyncio.gather(*(house.authenticator.ensure_account(guest) for _ in range(3)))
    user, first = await house.user(guest=guest)
    with pytest.raises(Conflict) as refused:
        await house.user("ＨＡＮＡ")
    assert refused.value.code == "name_taken"
    await clock.advance(2 * 86_400)
    identity = await house.known(first)
    await house.authenticator.drain()
    await house.accounts.rename(identity, "Nana")
    key, _ = await house.accounts.keys.create(user.account_id, "bot", frozenset({"kifu:read"}))
    assert await house.with_key(key) is not None
    second = await house.accounts.change_password(identity, PASSWORD, OTHER, "")
    assert await house.with_session(first) is None
    await house.accounts.delete_account(await house.known(second), OTHER)
    due = await dynamodb.get(job("platform", "remove_account", user.account_id))
    assert due is not None
    for _ in range(2):
        await AccountRemoval(dynamodb, clock, []).run(due)
    assert await dynamodb.get(owner_of_name("Nana")) is None
    assert await house.with_session(second) is None
    await house.authenticator.drain()
