"""Authentication: the identity of a caller, read again for each request, so that signing out takes effect at once."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from msgspec.structs import replace

from zataku.accounts.cookies import Cookies, language_in
from zataku.accounts.secrets import Token, key_token
from zataku.accounts.sessions import SessionCutoff, report_unreadable
from zataku.accounts.table_writes import BackgroundWrites, write_if_met
from zataku.clock import Clock, now_ms
from zataku.errors import Unauthorized
from zataku.platform import writes
from zataku.platform.design import Account, ApiKey, Session, account, api_key, session
from zataku.platform.identity import Identity
from zataku.platform.limits import (
    GUEST_TTL,
    KEY_TOUCH_INTERVAL,
    SECOND,
    SESSION_TOUCH_INTERVAL,
    VISIT_TOUCH_INTERVAL,
    AccountId,
    Language,
)
from zataku.table import Key, Millis, Store

if TYPE_CHECKING:
    from litestar.datastructures import Cookie

_BEARER = re.compile(r"bearer +(\S+) *", re.IGNORECASE)


class Authenticator:
    """Identifies callers by cookie, session or API key, and creates guests. Nothing is cached between requests."""

    def __init__(self, store: Store, clock: Clock, cookies: Cookies, cutoff: SessionCutoff | None = None) -> None:
        self.cookies = cookies
        self.cutoff = SessionCutoff() if cutoff is None else cutoff
        self._store = store
        self._clock = clock
        self._background_writes = BackgroundWrites(store)

    @classmethod
    async def open(
        cls, store: Store, clock: Clock, public_url: str, cutoff: SessionCutoff | None = None
    ) -> "Authenticator":
        """The authenticator of a store. Cookies are Secure when the public URL is https."""
        secure = public_url.lower().startswith("https:")
        return cls(store, clock, Cookies(await store.backend.secret(), secure=secure), cutoff)

    async def authenticate(
        self, cookies: Mapping[str, str], authorization: str | None = None, language: Language = "en"
    ) -> Identity | None:
        """The caller of a request; None when it has no valid credentials.

        A bearer key decides alone, and raises Unauthorized when it is invalid: a program must not continue as a
        guest. Otherwise a session decides, then a guest token. `language` is for guests who have not chosen one.
        """
        bearer = _BEARER.fullmatch(authorization or "")
        if bearer is not None:
            token = key_token(bearer[1])
            identity = None if token is None else await self._with_key(token)
            if identity is None:
                raise Unauthorized("The API key is not valid, or no longer. Create another one.", code="bad_key")
            return identity
        token = self.cookies.session_in(cookies)
        identity = None if token is None else await self._with_session(token)
        return identity or await self._guest(cookies, language)

    def new_guest(self, language: Language) -> tuple[Identity, "Cookie"]:
        """A new guest, with the cookie that identifies them. Nothing is stored."""
        account_id = AccountId(str(uuid4()))
        guest = Identity(account_id=account_id, role="guest", language=language, is_stored=False)
        return guest, self.cookies.guest(account_id, now_ms(self._clock))

    def renewed_cookies(self, identity: Identity, cookies: Mapping[str, str]) -> "list[Cookie]":
        """The caller's cookie, renewed for its full lifetime.

        The cookie of a session that has ended is deleted.
        """
        if identity.key_hash is not None:
            return []
        token, now = self.cookies.session_in(cookies), now_ms(self._clock)
        if identity.session_hash is not None:
            # A browser may send two cookies of one name; only the one that identified the caller is renewed.
            is_caller = token is not None and token.secret.digest() == identity.session_hash
            return [self.cookies.session(token)] if token is not None and is_caller else []
        ended = [self.cookies.no_session()] if self.cookies.session_name in cookies else []
        guest = self.cookies.guest_in(cookies, now)
        if guest is not None and guest.account_id == identity.account_id:
            # A token of a clock that lost its date has expired once that is set right.
            is_kept = guest.issued_at - now >= GUEST_TTL
            return [*ended, self.cookies.guest(identity.account_id, guest.issued_at if is_kept else now)]
        return ended

    async def ensure_account(self, identity: Identity) -> Identity:
        """Create the account of a guest, before something of theirs is stored; others have one already.

        Concurrent calls are safe. A guest who has been deleted or has signed up since is refused.
        """
        if identity.is_stored:
            return identity
        plan = writes.create_guest(identity.account_id, identity.language, now_ms(self._clock))
        # Refused when another request has created it, or the guest has signed up.
        await write_if_met(self._store, plan)
        stored = await self._store.get(account(identity.account_id))
        if stored is None or stored.role != "guest" or stored.deleted_at is not None:
            raise Unauthorized("This changed in another tab. Load the page again.", code="not_this_guest")
        return replace(identity, is_stored=True, language=stored.language)

    async def is_still_valid(self, identity: Identity) -> bool:
        """True when an earlier identity would be authenticated again with the same role. It records no visit."""
        owner: Account | None
        if identity.session_hash is not None:
            _, owner = await self._session(identity.account_id, identity.session_hash)
            return owner is not None and owner.role == identity.role
        if identity.key_hash is not None:
            _, owner = await self._key(identity.account_id, identity.key_hash)
            return owner is not None and owner.role == identity.role
        owner = await self._store.get(account(identity.account_id))
        return owner is None or (owner.role == "guest" and owner.deleted_at is None)

    def is_current(self, session: Session) -> bool:
        """True when a session began after the last restore of a backup."""
        return session.created_at >= self.cutoff.at

    async def drain(self) -> None:
        """Wait for all background writes, before the store is closed."""
        await self._background_writes.drain()

    # Credentials

    async def _with_session(self, token: Token) -> Identity | None:
        digest, now = token.secret.digest(), now_ms(self._clock)
        used, owner = await self._session(token.account_id, digest)
        if used is None or owner is None:
            return None
        if used.last_used_at <= now - SESSION_TOUCH_INTERVAL:
            self._background_writes.start(f"session {digest}", writes.touch_session(owner.account_id, digest, now))
        self._record_visit(owner, now)
        return _identity(owner, session_hash=digest)

    async def _with_key(self, token: Token) -> Identity | None:
        digest, now = token.secret.digest(), now_ms(self._clock)
        used, owner = await self._key(token.account_id, digest)
        if used is None or owner is None:
            return None
        if used.last_used_at is None or used.last_used_at <= now - KEY_TOUCH_INTERVAL:
            self._background_writes.start(f"key {digest}", writes.touch_key(owner.account_id, digest, now))
        return replace(_identity(owner), key_hash=digest, scopes=used.scopes)

    async def _guest(self, cookies: Mapping[str, str], language: Language) -> Identity | None:
        now = now_ms(self._clock)
        token = self.cookies.guest_in(cookies, now)
        if token is None:
            return None
        stored = await self._store.get(account(token.account_id))
        if stored is None:
            chosen = language_in(cookies) or language
            return Identity(account_id=token.account_id, role="guest", language=chosen, is_stored=False)
        if stored.role != "guest" or stored.deleted_at is not None:
            return None
        self._record_visit(stored, now)
        return _identity(stored)

    # Validity

    async def _session(self, account_id: AccountId, digest: str) -> tuple[Session, Account] | tuple[None, None]:
        keys: list[Key[Any]] = [session(account_id, digest), account(account_id)]
        used, owner = await self._store.get_many(keys, unreadable=report_unreadable)
        if not isinstance(used, Session) or not isinstance(owner, Account) or not _is_signed_up(owner):
            return None, None
        # DynamoDB may delete an expired item late.
        ended = used.generation != owner.generation or used.expires_at * SECOND <= now_ms(self._clock)
        return (used, owner) if self.is_current(used) and not ended else (None, None)

    async def _key(self, account_id: AccountId, digest: str) -> tuple[ApiKey, Account] | tuple[None, None]:
        keys: list[Key[Any]] = [api_key(account_id, digest), account(account_id)]
        used, owner = await self._store.get_many(keys, unreadable=report_unreadable)
        if not isinstance(used, ApiKey) or not isinstance(owner, Account) or not _is_signed_up(owner):
            return None, None
        ended = used.expires_at is not None and used.expires_at * SECOND <= now_ms(self._clock)
        return (None, None) if ended else (used, owner)

    def _record_visit(self, visitor: Account, now: Millis) -> None:
        if visitor.last_seen_at <= now - VISIT_TOUCH_INTERVAL:
            self._background_writes.start(f"visit {visitor.account_id}", writes.record_visit(visitor, now))


def _is_signed_up(owner: Account) -> bool:
    return owner.role != "guest" and owner.deleted_at is None


def _identity(owner: Account, session_hash: str | None = None) -> Identity:
    return Identity(
        account_id=owner.account_id,
        role=owner.role,
        language=owner.language,
        name=owner.name,
        session_hash=session_hash,
    )
