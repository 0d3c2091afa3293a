"""API keys: how programs act for a user, within the scopes that the user chose."""

from zataku.accounts.once import once
from zataku.accounts.sessions import Ended, ignore_ended
from zataku.accounts.tokens import Token
from zataku.clock import Clock, now_ms
from zataku.errors import Conflict, InvalidRequest, Unauthorized
from zataku.platform import writes
from zataku.platform.design import ApiKey, keys_of
from zataku.platform.limits import DAY, AccountId, Scope, expiry
from zataku.table import Store, TransactionCancelled

MAX_KEYS = 10


class Keys:
    """Makes, lists and revokes keys."""

    def __init__(self, store: Store, clock: Clock, ended: Ended = ignore_ended) -> None:
        self._store = store
        self._clock = clock
        self._ended = ended

    async def make(
        self, account_id: AccountId, label: str, scopes: frozenset[Scope], days: int | None = None
    ) -> tuple[Token, ApiKey]:
        """A new key, at most ten. The token is known to nobody but whoever gets it now."""
        if len(await self.of(account_id)) >= MAX_KEYS:
            raise Conflict(f"There are {MAX_KEYS} keys already. Revoke one first.", code="too_many_keys")
        token, now = Token.made(account_id), now_ms(self._clock)
        ends = None if days is None else expiry(now, days * DAY)
        try:
            plan = writes.add_key(account_id, token.secret.hashed(), label, scopes, now, ends)
        except ValueError as problem:
            raise InvalidRequest(str(problem), code="bad_label") from None
        try:
            made = await once(self._store, plan)
        except TransactionCancelled as refused:
            if refused.conflict:
                raise
            raise Unauthorized("The account is not there any more. Sign in anew.", code="account_gone") from None
        assert made is not None
        return token, made

    async def of(self, account_id: AccountId) -> list[ApiKey]:
        """The keys of an account, the newest first."""
        found = [each async for each in self._store.each(keys_of(account_id))]
        return sorted(found, key=lambda each: (each.created_at, each.key_hash), reverse=True)

    async def revoke(self, account_id: AccountId, hashed: str) -> None:
        """Make one good for nothing. Doing it twice is no error."""
        await once(self._store, writes.revoke_key(account_id, hashed))
        self._ended(account_id, hashed)
