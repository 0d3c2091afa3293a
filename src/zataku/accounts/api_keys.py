"""API keys: credentials of programs that act for a user, within scopes."""

from zataku.accounts.secrets import Token
from zataku.accounts.sessions import CredentialListener, account_gone, ignore_ended, report_unreadable
from zataku.accounts.table_writes import write_once
from zataku.clock import Clock, now_ms
from zataku.errors import Conflict, InvalidRequest
from zataku.platform import writes
from zataku.platform.design import ApiKey, keys_of
from zataku.platform.limits import DAY, AccountId, Scope, expiry
from zataku.table import Store, TransactionCancelled

MAX_KEYS = 10


class ApiKeys:
    """Creates, lists and revokes API keys."""

    def __init__(self, store: Store, clock: Clock, on_ended: CredentialListener = ignore_ended) -> None:
        self._store = store
        self._clock = clock
        self._on_ended = on_ended

    async def create(
        self, account_id: AccountId, label: str, scopes: frozenset[Scope], days: int | None = None
    ) -> tuple[Token, ApiKey]:
        """A new key, at most ten per account. Its token is returned this once and not stored."""
        if len(await self.of(account_id)) >= MAX_KEYS:
            raise Conflict(f"You can have up to {MAX_KEYS} keys. Revoke one you no longer use.", code="too_many_keys")
        token, now = Token.generate(account_id), now_ms(self._clock)
        expires_at = None if days is None else expiry(now, days * DAY)
        try:
            plan = writes.add_key(account_id, token.secret.digest(), label, scopes, now, expires_at)
        except ValueError as problem:
            raise InvalidRequest(str(problem), code="bad_label") from None
        try:
            created = await write_once(self._store, plan)
        except TransactionCancelled as refused:
            if refused.conflict:
                raise
            raise account_gone() from None
        assert created is not None
        return token, created

    async def of(self, account_id: AccountId) -> list[ApiKey]:
        """The keys of an account, the newest first."""
        keys = [key async for key in self._store.each(keys_of(account_id), unreadable=report_unreadable)]
        return sorted(keys, key=lambda key: (key.created_at, key.key_hash), reverse=True)

    async def revoke(self, account_id: AccountId, key_hash: str) -> None:
        """Revoke a key. Revoking it twice is not an error."""
        await write_once(self._store, writes.revoke_key(account_id, key_hash))
        self._on_ended(account_id, key_hash)
