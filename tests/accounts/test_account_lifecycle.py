"""The whole lifecycle of an account on an independent implementation of DynamoDB."""

import asyncio

import pytest

from tests.accounts.account_services import OTHER_PASSWORD, PASSWORD
from tests.accounts.conftest import account_harness
from tests.support.manual_clock import ManualClock
from zataku.accounts.passwords import Passwords
from zataku.accounts.removal import AccountRemoval
from zataku.errors import Conflict
from zataku.platform.design import job, owner_of_name
from zataku.table import Store


async def test_an_account_works_from_the_first_visit_to_its_removal(
    dynamodb: Store, clock: ManualClock, passwords: Passwords
) -> None:
    harness = await account_harness(dynamodb, clock, passwords)
    guest = harness.guest()
    await asyncio.gather(*(harness.authenticator.ensure_account(guest) for _ in range(3)))
    user, first = await harness.user(guest=guest)
    with pytest.raises(Conflict) as error:
        await harness.user("ＨＡＮＡ")
    assert error.value.code == "name_taken"
    await clock.advance(2 * 86_400)
    identity = await harness.identity_of(first)
    await harness.authenticator.drain()
    await harness.accounts.rename(identity, "Nana")
    key, _ = await harness.accounts.keys.create(user.account_id, "bot", frozenset({"kifu:read"}))
    assert await harness.authenticate_key(key) is not None
    second = await harness.accounts.change_password(identity, PASSWORD, OTHER_PASSWORD, "")
    assert await harness.authenticate_session(first) is None
    await harness.accounts.delete_account(await harness.identity_of(second), OTHER_PASSWORD)
    due = await dynamodb.get(job("platform", "remove_account", user.account_id))
    assert due is not None
    for _ in range(2):
        await AccountRemoval(dynamodb, clock, []).run(due)
    assert await dynamodb.get(owner_of_name("Nana")) is None
    assert await harness.authenticate_session(second) is None
    await harness.authenticator.drain()
