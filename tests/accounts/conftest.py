"""Stores with the platform's table, and a server's desk for accounts with passwords that are quick to hash."""

from collections.abc import AsyncIterator, Iterator

import pytest
from argon2 import PasswordHasher

from tests.accounts.account_services import AccountHarness, Ends, quick
from tests.support.stores import RACING_STORES, START, store_fixture
from zataku.accounts.authentication import Authenticator
from zataku.accounts.cookies import Cookies
from zataku.accounts.passwords import Passwords
from zataku.accounts.service import Accounts
from zataku.clock import ManualClock
from zataku.platform.design import TABLES
from zataku.table import Store

strict = store_fixture(["strict"], TABLES)
dynamodb = store_fixture(["dynoxide"], TABLES)
contested = store_fixture([each for each in RACING_STORES if each != "dynoxide"], TABLES)


@pytest.fixture
def clock() -> ManualClock:
    """The time of the test, moved by hand."""
    return ManualClock(START)


@pytest.fixture
def hasher() -> PasswordHasher:
    """Today's parameters, as far as the test is concerned."""
    return quick()


@pytest.fixture
def passwords(hasher: PasswordHasher) -> Iterator[Passwords]:
    """Passwords that are quick to hash."""
    made = Passwords(hasher)
    yield made
    made.close()


async def account_harness(store: Store, clock: ManualClock, passwords: Passwords) -> AccountHarness:
    """Everything there is about accounts, on a store."""
    ends: Ends = []
    accounts = Accounts(
        store, clock, passwords, on_ended=lambda account_id, credential: ends.append((account_id, credential))
    )
    return AccountHarness(store, clock, accounts, Authenticator(store, clock, Cookies(b"s" * 32, secure=False)), ends)


@pytest.fixture
async def harness(strict: Store, clock: ManualClock, passwords: Passwords) -> AsyncIterator[AccountHarness]:
    """On the store that refuses, delays and shortens."""
    made = await account_harness(strict, clock, passwords)
    yield made
    await made.authenticator.drain()


@pytest.fixture
async def rough(contested: Store, clock: ManualClock, passwords: Passwords) -> AsyncIterator[AccountHarness]:
    """On that store and on one that loses replies, too."""
    made = await account_harness(contested, clock, passwords)
    yield made
    await made.authenticator.drain()
