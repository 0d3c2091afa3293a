"""Account services on a store, with shortcuts for guests, users and their credentials."""

from functools import partial
from typing import TypeAlias

from argon2 import PasswordHasher
from msgspec import Struct

from tests.support.manual_clock import ManualClock
from zataku.accounts.authentication import Authenticator
from zataku.accounts.secrets import Secret, Token
from zataku.accounts.service import Accounts
from zataku.platform.design import Account, ApiKey, Session
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.table import Store
from zataku.table.backend.port import PutItem
from zataku.table.schema.entity import binding_of

PASSWORD = Secret("correct horse")
OTHER_PASSWORD = Secret("battery staple")
EndedCredentials: TypeAlias = list[tuple[AccountId, str | None]]


def fast_hasher(passes: int = 1) -> PasswordHasher:
    """A hasher with parameters too weak for a server."""
    return PasswordHasher(time_cost=passes, memory_cost=64, parallelism=1, hash_len=16, salt_len=16)


class AccountHarness(Struct):
    """The account services on a store, and the credentials whose sockets were closed."""

    store: Store
    clock: ManualClock
    accounts: Accounts
    authenticator: Authenticator
    ended_credentials: EndedCredentials

    def guest(self) -> Identity:
        """A new guest without a stored account."""
        return self.authenticator.new_guest("ja")[0]

    async def user(self, name: str = "Hana", guest: Identity | None = None) -> tuple[Account, Token]:
        """A guest who signs up: the account and the token of its session."""
        return await self.accounts.sign_up(guest or self.guest(), name, PASSWORD, "Firefox")

    async def damage(self, credential: Session | ApiKey) -> None:
        """Store a session or key as another program might: with a time that is a text."""
        item = binding_of(type(credential)).encode(credential) | {"createdAt": "yesterday"}
        request = PutItem(self.store.schema_of(type(credential)), item)
        await self.store.calls("damage", partial(self.store.backend.write, request), repeatable=True)

    async def authenticate_session(self, token: Token) -> Identity | None:
        """The identity of a session; None when it is not valid."""
        return await self.authenticator.authenticate({self.authenticator.cookies.session_name: token.as_session()})

    async def identity_of(self, token: Token) -> Identity:
        """The identity of a valid session."""
        identity = await self.authenticate_session(token)
        assert identity is not None
        return identity

    async def authenticate_key(self, token: Token) -> Identity | None:
        """The identity of an API key."""
        return await self.authenticator.authenticate({}, f"Bearer {token.as_key()}")
