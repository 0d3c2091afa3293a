"""What a host does for others' accounts: look, help with a lost password, make admins, sign out, delete."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from zataku.accounts.messages import Asked, NewPassword, Shown, TypedName
from zataku.accounts.secrets import Secret
from zataku.accounts.service import Accounts
from zataku.errors import InvalidRequest, NotFound
from zataku.platform.design import Account
from zataku.platform.limits import AccountId, Language, Role
from zataku.table import Millis, TransactionCancelled

Verb: TypeAlias = Literal["reset-password", "grant-admin", "revoke-admin", "sign-out", "delete"]


class Order(Asked, frozen=True, kw_only=True):
    """Whom it is about. A new password goes with reset-password, and with nothing else."""

    name: TypedName
    password: Annotated[NewPassword, Meta(description="The new password")] | None = None


class Done(Shown, frozen=True, kw_only=True):
    """An order was carried out. `name` is spelt as its owner does."""

    name: str


class AccountFacts(Shown, frozen=True, kw_only=True):
    """A user's account as a host sees it."""

    account_id: AccountId
    name: str
    role: Role
    language: Language
    created_at: Millis
    last_seen_at: Millis
    sessions: int
    keys: int


class AccountAdministration:
    """Does it, by name. Nobody of that name is refused."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    async def show(self, name: str) -> AccountFacts:
        """What there is to know about a user."""
        user = await self._found(name)
        return AccountFacts(
            account_id=user.account_id,
            name=user.name or "",
            role=user.role,
            language=user.language,
            created_at=user.created_at,
            last_seen_at=user.last_seen_at,
            sessions=len(await self._accounts.sessions.of(user)),
            keys=len(await self._accounts.keys.of(user.account_id)),
        )

    async def do(self, verb: Verb, order: Order) -> Done:
        """Carry an order out."""
        user = await self._found(order.name)
        if (order.password is not None) != (verb == "reset-password"):
            raise InvalidRequest("A password goes with reset-password, and with nothing else.")
        acts: Mapping[Verb, Callable[[], Awaitable[None]]] = {
            "reset-password": lambda: self._accounts.reset_password(user, Secret(order.password or "")),
            "grant-admin": lambda: self._accounts.grant_admin(user, admin=True),
            "revoke-admin": lambda: self._accounts.grant_admin(user, admin=False),
            "sign-out": lambda: self._accounts.sessions.end_all(user.account_id),
            "delete": lambda: self._accounts.mark_deleted(user.account_id),
        }
        try:
            await acts[verb]()
        except TransactionCancelled as refused:
            if refused.conflict:
                raise
            raise no_such_account(order.name) from None
        return Done(name=user.name or "")

    async def _found(self, name: str) -> Account:
        found = await self._accounts.named(name)
        if found is None:
            raise no_such_account(name)
        return found


def no_such_account(name: str) -> NotFound:
    """Why nothing can be done for somebody who is not there."""
    return NotFound(f"Nobody is called {name!r}. Check the name.", code="no_such_account")
