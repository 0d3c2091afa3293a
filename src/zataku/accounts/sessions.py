"""Sessions: browsers that are signed in. Each can be ended from any other."""

from collections.abc import Callable

import msgspec
import structlog

from zataku.accounts.secrets import Token
from zataku.accounts.table_writes import write_once
from zataku.clock import Clock, now_ms
from zataku.errors import Unauthorized
from zataku.platform import writes
from zataku.platform.design import Account, Session, sessions_of
from zataku.platform.limits import AccountId
from zataku.table import Millis, Store, UnreadableItem

MAX_SESSIONS = 20
_MAX_USER_AGENT_LENGTH = 200

log = structlog.stdlib.get_logger()

CredentialListener = Callable[[AccountId, str | None], None]
"""Called with the hash of a session or key that ends, or None for all sessions of an account, to close its sockets."""


def ignore_ended(account_id: AccountId, credential_hash: str | None) -> None:
    """The listener of a process without sockets."""


def report_unreadable(credential: UnreadableItem) -> None:
    """Log a session or key that cannot be read. It authenticates nobody, and must not hide the others."""
    log.error("credential_unreadable", kind=credential.entity, account=credential.key["PK"], problem=credential.reason)


def account_gone() -> Unauthorized:
    """The error for an account that was deleted during the request."""
    return Unauthorized("This account is gone. Sign in again.", code="account_gone")


class SessionCutoff(msgspec.Struct):
    """The time from which on sessions are valid: a restored backup revives some that have ended since it was made."""

    at: Millis = 0


class Sessions:
    """Creates, lists and ends sessions."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        on_ended: CredentialListener = ignore_ended,
        cutoff: SessionCutoff | None = None,
    ) -> None:
        self._cutoff = SessionCutoff() if cutoff is None else cutoff
        self._store = store
        self._clock = clock
        self._on_ended = on_ended

    async def create(self, user: Account, user_agent: str) -> Token:
        """Sign a browser in, as the user that was read. With more than 20 sessions, the least recently used ends."""
        token = Token.generate(user.account_id)
        # The clock may have been set back since the cutoff; a new session is valid nevertheless.
        now = max(now_ms(self._clock), self._cutoff.at)
        plan = writes.sign_in(user, token.secret.digest(), _printable(user_agent), now)
        await write_once(self._store, plan)
        await self._end_excess(user)
        return token

    async def of(self, user: Account) -> list[Session]:
        """The valid sessions of a user, the last used first."""
        sessions = self._store.each(sessions_of(user.account_id), unreadable=report_unreadable)
        stored = [session async for session in sessions]
        valid = [session for session in stored if session.generation == user.generation]
        return sorted(valid, key=lambda session: (session.last_used_at, session.token_hash), reverse=True)

    async def end(self, account_id: AccountId, token_hash: str) -> None:
        """End a session. Ending it twice is not an error."""
        await write_once(self._store, writes.sign_out(account_id, token_hash))
        self._on_ended(account_id, token_hash)

    async def end_all(self, account_id: AccountId) -> None:
        """End all sessions at once. Raises TransactionCancelled when the account is missing or being deleted."""
        await write_once(self._store, writes.sign_out_everywhere(account_id))
        self._on_ended(account_id, None)

    async def _end_excess(self, user: Account) -> None:
        """Run after the new session is stored: of concurrent sign-ins the last one counts them all."""
        for session in (await self.of(user))[MAX_SESSIONS:]:
            await self.end(user.account_id, session.token_hash)


def _printable(user_agent: str) -> str:
    return "".join(letter for letter in user_agent if " " <= letter <= "~")[:_MAX_USER_AGENT_LENGTH]
