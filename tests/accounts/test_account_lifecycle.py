"""The whole life of an account on a DynamoDB that others wrote."""

import asyncio

import pytest

from tests.accounts.account_services import OTHER, PASSWORD
from tests.accounts.conftest import account_harness
from zataku.accounts.passwords import Passwords
from zataku.accounts.removal import AccountRemoval
from zataku.clock import ManualClock
from zataku.errors import Conflict
from zataku.platform.design import job, owner_of_name
from zataku.table import Store


async def test_from_the_first_visit_to_the_removal(dynamodb: Store, clock: ManualClock, passwords: Passwords) -> None:
    harness = await account_harness(dynamodb, clock, passwords)
    guest = harness.guest()
    await asyncio.gather(*(harness.authenticator.ensure_account(guest) for _ in range(3)))
    user, first = await harness.user(guest=guest)
    with pytest.raises(Conflict) as refused:
        await harness.user("ＨＡＮＡ")
    assert refused.value.code == "name_taken"
    await clock.advance(2 * 86_400)
    identity = await harness.known(first)
    await harness.authenticator.drain()
    await harness.accounts.rename(identity, "Nana")
    key, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset({"kifu:read"}))
    assert await harness.with_key(key) is not None
    second = await harness.accounts.change_password(identity, PASSWORD, OTHER, "")
    assert await harness.with_session(first) is None
    await harness.accounts.delete_account(await harness.known(second), OTHER)
    due = await dynamodb.get(job("platform", "remove_account", user.account_id))
    assert due is not None
    for _ in range(2):
        await AccountRemoval(dynamodb, clock, []).run(due)
    assert await dynamodb.get(owner_of_name("Nana")) is None
    assert await harness.with_session(second) is None
    await harness.authenticator.drain()
