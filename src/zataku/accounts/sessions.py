"""Browsers that are signed in: each has a session of its own, which can be ended from any other."""

from collections.abc import Callable

from zataku.accounts.once import once
from zataku.accounts.tokens import Token
from zataku.clock import Clock, now_ms
from zataku.platform import writes
from zataku.platform.design import Account, Session, sessions_of
from zataku.platform.limits import AccountId
from zataku.table import Store

MAX_SESSIONS = 20
_LONGEST_AGENT = 200

Ended = Callable[[AccountId, str | None], None]
"""Told when a session or key ends, by its hash, or None for all sessions of an account: open sockets are to close."""


def ignore_ended(account_id: AccountId, what: str | None) -> None:
    """For those who have no sockets open."""


class Sessions:
    """Begins, lists and ends sessions."""

    def __init__(self, store: Store, clock: Clock, ended: Ended = ignore_ended) -> None:
        self._store = store
        self._clock = clock
        self._ended = ended

    async def begin(self, user: Account, user_agent: str) -> Token:
        """Sign a browser in, as the user that was read. With more than 20 sessions, the one longest unused ends."""
        token = Token.made(user.account_id)
        plan = writes.sign_in(user, token.secret.hashed(), _printable(user_agent), now_ms(self._clock))
        await once(self._store, plan)
        await self._make_room(user)
        return token

    async def of(self, user: Account) -> list[Session]:
        """The sessions that count, the latest used first."""
        found = [each async for each in self._store.each(sessions_of(user.account_id))]
        counting = [each for each in found if each.generation == user.generation]
        return sorted(counting, key=lambda each: (each.last_used_at, each.token_hash), reverse=True)

    async def end(self, account_id: AccountId, hashed: str) -> None:
        """End one. Ending it twice is no error."""
        await once(self._store, writes.sign_out(account_id, hashed))
        self._ended(account_id, hashed)

    async def end_all(self, account_id: AccountId) -> None:
        """End all at once. Raises TransactionCancelled when the account is not there, or is being deleted."""
        await once(self._store, writes.sign_out_everywhere(account_id))
        self._ended(account_id, None)

    async def _make_room(self, user: Account) -> None:
        """After the new one is there: however many sign in at once, the last to count sees them all."""
        for each in (await self.of(user))[MAX_SESSIONS:]:
            await self.end(user.account_id, each.token_hash)


def _printable(user_agent: str) -> str:
    return "".join(letter for letter in user_agent if " " <= letter <= "~")[:_LONGEST_AGENT]
