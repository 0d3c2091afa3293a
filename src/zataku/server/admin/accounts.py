"""Accounts as an admin sees them: lookup by name, sessions, and open connections."""

from collections.abc import Callable, Iterable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Protocol, TypeAlias

from zataku.accounts.administration import no_such_account
from zataku.accounts.service import Accounts
from zataku.accounts.sessions import report_unreadable
from zataku.errors import Conflict, NotFound
from zataku.platform.design import Account, Session, account, owner_of_name, sessions_of
from zataku.platform.identity import Identity
from zataku.platform.limits import SECOND, AccountId, Sha256
from zataku.server.admin.messages import AccountSession, AccountSessions, AccountView, Online, OnlinePerson
from zataku.table import Store, TransactionCancelled

_MAX_LISTED = 500
_MAX_TOPICS = 50


class Connection(Protocol):
    """An open socket of this process."""

    @property
    def identity(self) -> Identity:
        """The caller who opened it."""
        ...

    @property
    def address(self) -> str:
        """The address of its other end."""
        ...

    @property
    def since(self) -> float:
        """When it was opened, in seconds since 1970."""
        ...

    @property
    def topics(self) -> Iterable[str]:
        """The topics it is subscribed to."""
        ...


Connections: TypeAlias = Callable[[], Iterable[Connection]]


class AccountDirectory:
    """Finds accounts, ends their sessions, and lists who is connected."""

    def __init__(self, store: Store, accounts: Accounts, connections: Connections) -> None:
        self._store = store
        self._accounts = accounts
        self._connections = connections

    async def find(self, name: str) -> AccountView:
        """The account with that name, in any spelling, also while it is being deleted."""
        claim = await self._store.get(owner_of_name(name))
        if claim is None:
            raise no_such_account(name)
        return _view(await self._account(claim.account_id))

    async def sessions(self, account_id: AccountId, admin: Identity) -> AccountSessions:
        """The sessions of an account, including those that are signed out but have not expired."""
        owner = await self._account(account_id)
        stored = self._store.each(sessions_of(account_id), unreadable=report_unreadable)
        sessions = [session async for session in stored]
        sessions.sort(key=lambda session: (-session.last_used_at, session.token_hash))
        return AccountSessions(account=_view(owner), sessions=[_session(each, owner, admin) for each in sessions])

    async def sign_out(self, account_id: AccountId) -> None:
        """End all sessions of an account at once."""
        await self._account(account_id)
        try:
            await self._accounts.sessions.end_all(account_id)
        except TransactionCancelled as refused:
            if refused.conflict:
                raise
            raise Conflict("The account is being deleted; its sessions have ended.", code="deleted") from None

    async def end_session(self, account_id: AccountId, session: Sha256) -> None:
        """End one session. Ending it twice is not an error."""
        await self._accounts.sessions.end(account_id, session)

    def online(self) -> Online:
        """Everyone who is connected to this process."""
        by_account: dict[AccountId, list[Connection]] = {}
        for connection in self._connections():
            by_account.setdefault(connection.identity.account_id, []).append(connection)
        people = [_person(connections) for connections in by_account.values()]
        people.sort(key=lambda person: (person.since, person.account_id))
        count = sum(person.sockets for person in people)
        return Online(people=people[:_MAX_LISTED], sockets=count, left_out=max(0, len(people) - _MAX_LISTED))

    async def _account(self, account_id: AccountId) -> Account:
        stored = await self._store.get(account(account_id))
        if stored is None:
            raise NotFound("There is no such account. A guest has one only when something of theirs is stored.")
        return stored


def address_network(address: str) -> str:
    """The /24 or /48 network of an address, which shows the neighbourhood of a client but not the client."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is None:
            return str(ip_network((parsed, 48), strict=False))
        parsed = parsed.ipv4_mapped
    return str(ip_network((parsed, 24), strict=False))


def _person(connections: list[Connection]) -> OnlinePerson:
    identity = connections[-1].identity
    topics = sorted({topic for connection in connections for topic in connection.topics})
    return OnlinePerson(
        account_id=identity.account_id,
        name=identity.name,
        role=identity.role,
        addresses=sorted({address_network(connection.address) for connection in connections}),
        since=round(min(connection.since for connection in connections) * SECOND),
        sockets=len(connections),
        topics=topics[:_MAX_TOPICS],
    )


def _view(account: Account) -> AccountView:
    return AccountView(
        account_id=account.account_id,
        name=account.name,
        role=account.role,
        language=account.language,
        created_at=account.created_at,
        last_seen_at=account.last_seen_at,
        deleted_at=account.deleted_at,
    )


def _session(session: Session, owner: Account, admin: Identity) -> AccountSession:
    return AccountSession(
        id=session.token_hash,
        user_agent=session.user_agent,
        created_at=session.created_at,
        last_used_at=session.last_used_at,
        expires_at=session.expires_at * SECOND,
        counts=session.generation == owner.generation and owner.deleted_at is None,
        mine=admin.session_hash == session.token_hash,
    )
