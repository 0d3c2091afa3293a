"""Stores with the platform table, and account services with passwords that are fast to hash."""

from collections.abc import AsyncIterator, Iterator

import pytest
from argon2 import PasswordHasher

from tests.accounts.account_services import AccountHarness, EndedCredentials, fast_hasher
from tests.support.manual_clock import ManualClock
from tests.support.stores import RACING_STORES, START, store_fixture
from zataku.accounts.authentication import Authenticator
from zataku.accounts.cookies import Cookies
from zataku.accounts.passwords import Passwords
from zataku.accounts.service import Accounts
from zataku.platform.design import TABLES
from zataku.table import Store

strict = store_fixture(["strict"], TABLES)
dynamodb = store_fixture(["dynoxide"], TABLES)
contested = store_fixture([kind for kind in RACING_STORES if kind != "dynoxide"], TABLES)


@pytest.fixture
def clock() -> ManualClock:
    """A clock that the test advances."""
    return ManualClock(START)


@pytest.fixture
def hasher() -> PasswordHasher:
    """The hasher with the current parameters of the test."""
    return fast_hasher()


@pytest.fixture
def passwords(hasher: PasswordHasher) -> Iterator[Passwords]:
    """Passwords that are fast to hash."""
    service = Passwords(hasher)
    yield service
    service.close()


async def account_harness(store: Store, clock: ManualClock, passwords: Passwords) -> AccountHarness:
    """The account services on a store."""
    ended: EndedCredentials = []
    authenticator = Authenticator(store, clock, Cookies(b"s" * 32, secure=False))
    accounts = Accounts(
        store,
        clock,
        passwords,
        on_ended=lambda account_id, credential: ended.append((account_id, credential)),
        cutoff=authenticator.cutoff,
    )
    return AccountHarness(store, clock, accounts, authenticator, ended)


@pytest.fixture
async def harness(strict: Store, clock: ManualClock, passwords: Passwords) -> AsyncIterator[AccountHarness]:
    """The account services on the strict store, which throttles, delays and shortens pages."""
    services = await account_harness(strict, clock, passwords)
    yield services
    await services.authenticator.drain()


@pytest.fixture
async def racing(contested: Store, clock: ManualClock, passwords: Passwords) -> AsyncIterator[AccountHarness]:
    """The account services on the strict store, and on one that loses replies."""
    services = await account_harness(contested, clock, passwords)
    yield services
    await services.authenticator.drain()
