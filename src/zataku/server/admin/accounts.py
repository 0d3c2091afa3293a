"""Who has an account, where they are signed in, and who is connected now."""

from collections.abc import Callable, Iterable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Protocol, TypeAlias

from zataku.accounts.service import Accounts
from zataku.errors import Conflict, NotFound
from zataku.platform.design import Account, Session, account, owner_of_name, sessions_of
from zataku.platform.identity import Identity
from zataku.platform.limits import SECOND, AccountId, Sha256
from zataku.server.admin.messages import AccountSession, AccountSessions, AccountView, Online, OnlinePerson
from zataku.table import Store, TransactionCancelled

_MOST_LISTED = 500
_TOPICS_LISTED = 50


class Connection(Protocol):
    """A socket that somebody has open in this process, since a moment in seconds."""

    @property
    def identity(self) -> Identity:
        """Whose it is."""
        ...

    @property
    def address(self) -> str:
        """Where it comes from."""
        ...

    @property
    def since(self) -> float:
        """When it was opened."""
        ...

    @property
    def topics(self) -> Iterable[str]:
        """What it hears."""
        ...


Connections: TypeAlias = Callable[[], Iterable[Connection]]


class People:
    """Everybody, as an admin sees them."""

    def __init__(self, store: Store, accounts: Accounts, connections: Connections) -> None:
        self._store = store
        self._accounts = accounts
        self._connections = connections

    async def named(self, name: str) -> AccountView:
        """Whoever has that name, however it is spelt; also somebody who is being deleted."""
        claim = await self._store.get(owner_of_name(name))
        if claim is None:
            raise NotFound(f"Nobody is called {name}.", code="no_such_account")
        return _view(await self._account(claim.account_id))

    async def sessions(self, account_id: AccountId, asking: Identity) -> AccountSessions:
        """Where somebody is signed in, also what does not count any more but has not expired."""
        found = await self._account(account_id)
        sessions = [each async for each in self._store.each(sessions_of(account_id))]
        sessions.sort(key=lambda each: (-each.last_used_at, each.token_hash))
        return AccountSessions(account=_view(found), sessions=[_session(each, found, asking) for each in sessions])

    async def sign_out(self, account_id: AccountId) -> None:
        """End all sessions of somebody at once."""
        await self._account(account_id)
        try:
            await self._accounts.sessions.end_all(account_id)
        except TransactionCancelled as refused:
            if refused.conflict:
                raise
            raise Conflict("The account is being deleted, which has ended all its sessions.", code="deleted") from None

    async def end_session(self, account_id: AccountId, session: Sha256) -> None:
        """End one session. Ending it twice is no error."""
        await self._accounts.sessions.end(account_id, session)

    def online(self) -> Online:
        """Who is connected to this process now."""
        sockets: dict[AccountId, list[Connection]] = {}
        for each in self._connections():
            sockets.setdefault(each.identity.account_id, []).append(each)
        people = [_person(own) for own in sockets.values()]
        people.sort(key=lambda person: (person.since, person.account_id))
        count = sum(person.sockets for person in people)
        return Online(people=people[:_MOST_LISTED], sockets=count, left_out=max(0, len(people) - _MOST_LISTED))

    async def _account(self, account_id: AccountId) -> Account:
        found = await self._store.get(account(account_id))
        if found is None:
            raise NotFound("There is no such account. Guests have one when something of theirs is kept.")
        return found


def coarse(address: str) -> str:
    """The network that an address is in, which is enough to tell a household from a school."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is None:
            return str(ip_network((found, 48), strict=False))
        found = found.ipv4_mapped
    return str(ip_network((found, 24), strict=False))


def _person(own: list[Connection]) -> OnlinePerson:
    who = own[-1].identity
    topics = sorted({topic for each in own for topic in each.topics})
    return OnlinePerson(
        account_id=who.account_id,
        name=who.name,
        role=who.role,
        addresses=sorted({coarse(each.address) for each in own}),
        since=round(min(each.since for each in own) * SECOND),
        sockets=len(own),
        topics=topics[:_TOPICS_LISTED],
    )


def _view(found: Account) -> AccountView:
    return AccountView(
        account_id=found.account_id,
        name=found.name,
        role=found.role,
        language=found.language,
        created_at=found.created_at,
        last_seen_at=found.last_seen_at,
        deleted_at=found.deleted_at,
    )


def _session(each: Session, found: Account, asking: Identity) -> AccountSession:
    return AccountSession(
        id=each.token_hash,
        user_agent=each.user_agent,
        created_at=each.created_at,
        last_used_at=each.last_used_at,
        expires_at=each.expires_at * SECOND,
        counts=each.generation == found.generation and found.deleted_at is None,
        mine=asking.session_hash == each.token_hash,
    )
