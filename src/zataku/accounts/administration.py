"""Administration of others' accounts by the host: look up, reset a password, grant admin, sign out, delete.

The command line does it in the store, or through a running server, which it finds by the control file.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from zataku.accounts.messages import NewPassword, Request, Response, TypedName
from zataku.accounts.secrets import Secret
from zataku.accounts.service import Accounts
from zataku.errors import InvalidRequest, NotFound
from zataku.platform.design import Account
from zataku.platform.limits import AccountId, Language, Role
from zataku.table import Millis, TransactionCancelled

CONTROL_FILE = "control.json"
"""The name of the control file in the server's data folder. Only the server's user can read it."""

AdminAction: TypeAlias = Literal["reset-password", "grant-admin", "revoke-admin", "sign-out", "delete"]


class ControlFile(msgspec.Struct, frozen=True):
    """The address of the running server on this machine, and the token for its control routes."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"ControlFile({self.url!r}, …)"


class ActionRequest(Request, frozen=True, kw_only=True):
    """The account that an action is for. Only reset-password has a password."""

    name: TypedName
    password: Annotated[NewPassword, Meta(description="The new password")] | None = None


class ActionDone(Response, frozen=True, kw_only=True):
    """The action succeeded. `name` is spelt as its owner spells it."""

    name: str


class AccountFacts(Response, frozen=True, kw_only=True):
    """A user's account as the host sees it."""

    account_id: AccountId
    name: str
    role: Role
    language: Language
    created_at: Millis
    last_seen_at: Millis
    sessions: int
    keys: int


class AccountAdministration:
    """Performs actions on accounts by name. An unknown name is refused with `no_such_account`."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    async def show(self, name: str) -> AccountFacts:
        """The facts of a user's account."""
        user = await self._find(name)
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

    async def perform(self, action: AdminAction, request: ActionRequest) -> ActionDone:
        """Perform an action."""
        user = await self._find(request.name)
        if (request.password is not None) != (action == "reset-password"):
            raise InvalidRequest("Only reset-password takes a password.")
        actions: Mapping[AdminAction, Callable[[], Awaitable[None]]] = {
            "reset-password": lambda: self._accounts.reset_password(user, Secret(request.password or "")),
            "grant-admin": lambda: self._accounts.grant_admin(user, admin=True),
            "revoke-admin": lambda: self._accounts.grant_admin(user, admin=False),
            "sign-out": lambda: self._accounts.sessions.end_all(user.account_id),
            "delete": lambda: self._accounts.mark_deleted(user.account_id),
        }
        try:
            await actions[action]()
        except TransactionCancelled as refused:
            if refused.conflict:
                raise
            raise no_such_account(request.name) from None
        return ActionDone(name=user.name or "")

    async def _find(self, name: str) -> Account:
        user = await self._accounts.find(name)
        if user is None:
            raise no_such_account(name)
        return user


def no_such_account(name: str) -> NotFound:
    """The error for an unknown name."""
    return NotFound(f"There is no account named {name!r}. Check the name.", code="no_such_account")
