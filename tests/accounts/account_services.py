"""People who come and go in the tests."""

from typing import TypeAlias

from argon2 import PasswordHasher
from msgspec import Struct

from zataku.accounts.authentication import Authenticator
from zataku.accounts.secrets import Secret, Token
from zataku.accounts.service import Accounts
from zataku.clock import ManualClock
from zataku.platform.design import Account
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.table import Store

PASSWORD = Secret("correct horse")
OTHER = Secret("battery staple")
Ends: TypeAlias = list[tuple[AccountId, str | None]]


def quick(passes: int = 1) -> PasswordHasher:
    """Parameters that no server should use."""
    return PasswordHasher(time_cost=passes, memory_cost=64, parallelism=1, hash_len=16, salt_len=16)


class AccountHarness(Struct):
    """A store, its accounts, and whose sockets were told to close."""

    store: Store
    clock: ManualClock
    accounts: Accounts
    authenticator: Authenticator
    ends: Ends

    def guest(self) -> Identity:
        """Somebody who has just come."""
        return self.authenticator.new_guest("ja")[0]

    async def user(self, name: str = "Hana", guest: Identity | None = None) -> tuple[Account, Token]:
        """Somebody who signs up."""
        return await self.accounts.sign_up(guest or self.guest(), name, PASSWORD, "Firefox")

    async def with_session(self, token: Token) -> Identity | None:
        """Whoever comes with a session."""
        return await self.authenticator.authenticate({self.authenticator.cookies.session_name: token.as_session()})

    async def known(self, token: Token) -> Identity:
        """Whoever comes with a session that counts."""
        found = await self.with_session(token)
        assert found is not None
        return found

    async def with_key(self, token: Token) -> Identity | None:
        """A program that comes with a key."""
        return await self.authenticator.authenticate({}, f"Bearer {token.as_key()}")
