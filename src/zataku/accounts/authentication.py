"""Who is calling: found out anew for each request from what it carries, so that whoever signs out is out at once."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from msgspec.structs import replace

from zataku.accounts.cookies import Cookies, language_in
from zataku.accounts.once import happened
from zataku.accounts.table_writes import Asides
from zataku.accounts.tokens import Token, key_token
from zataku.clock import Clock, now_ms
from zataku.errors import Unauthorized
from zataku.platform import writes
from zataku.platform.design import Account, ApiKey, Session, account, api_key, session
from zataku.platform.identity import Identity
from zataku.platform.limits import (
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
    """Tells who is calling, and makes guests. Nothing is remembered between two requests."""

    def __init__(self, store: Store, clock: Clock, cookies: Cookies, sessions_from: Millis = 0) -> None:
        self.cookies = cookies
        self.sessions_from = sessions_from
        """Sessions that began before this moment do not count: a backup brings back some that have ended since."""
        self._store = store
        self._clock = clock
        self._asides = Asides(store)

    @classmethod
    async def open(cls, store: Store, clock: Clock, public_url: str, sessions_from: Millis = 0) -> "Authenticator":
        """Those of a store. Cookies are only for encrypted connections when people reach the server by https."""
        secure = public_url.lower().startswith("https:")
        return cls(store, clock, Cookies(await store.backend.secret(), secure=secure), sessions_from)

    async def authenticate(
        self, cookies: Mapping[str, str], authorization: str | None = None, language: Language = "en"
    ) -> Identity | None:
        """Whoever the request comes from; None when it says nothing that counts.

        A bearer key decides alone, and raises Unauthorized when it is not good: a program must not go on as somebody
        else. Then a session counts, then the mark of a guest. `language` is for guests who have not chosen any.
        """
        bearer = _BEARER.fullmatch(authorization or "")
        if bearer is not None:
            token = key_token(bearer[1])
            found = None if token is None else await self._with_key(token)
            if found is None:
                raise Unauthorized("The API key is not valid, or not any more. Make another one.", code="bad_key")
            return found
        token = self.cookies.session_in(cookies)
        found = None if token is None else await self._with_session(token)
        return found or await self._guest(cookies, language)

    def new_guest(self, language: Language) -> tuple[Identity, "Cookie"]:
        """A guest whom nobody knows yet, and the cookie by which they are known from now on. Nothing is stored."""
        account_id = AccountId(str(uuid4()))
        guest = Identity(account_id=account_id, role="guest", language=language, is_stored=False)
        return guest, self.cookies.guest(account_id, now_ms(self._clock))

    def renewed_cookies(self, identity: Identity, cookies: Mapping[str, str]) -> "list[Cookie]":
        """The cookie that a caller came with once more, so that it lasts for its full time from now on.

        The cookie of a session that has ended is taken back.
        """
        if identity.key_hash is not None:
            return []
        token, now = self.cookies.session_in(cookies), now_ms(self._clock)
        if identity.session_hash is not None:
            # A browser may carry two of one name; only the one that the caller was known by is set again.
            known = token is not None and token.secret.hashed() == identity.session_hash
            return [self.cookies.session(token)] if token is not None and known else []
        ended = [self.cookies.no_session()] if self.cookies.session_name in cookies else []
        mark = self.cookies.guest_in(cookies, now)
        if mark is not None and mark.account_id == identity.account_id:
            return [*ended, self.cookies.guest(identity.account_id, now)]
        return ended

    async def ensure_account(self, identity: Identity) -> Identity:
        """Give a guest an account, since something of theirs is kept; the same for everybody who has one.

        It may be asked for twice at once. Who was deleted or has signed up meanwhile is refused.
        """
        if identity.is_stored:
            return identity
        kept = writes.create_guest(identity.account_id, identity.language, now_ms(self._clock))
        # Another request may have been earlier, or may have made something else of the guest.
        await happened(self._store, kept)
        there = await self._store.get(account(identity.account_id))
        if there is None or there.role != "guest" or there.deleted_at is not None:
            raise Unauthorized("This browser is somebody else by now. Load the page anew.", code="not_this_guest")
        return replace(identity, is_stored=True, language=there.language)

    async def is_still_valid(self, identity: Identity) -> bool:
        """Whether somebody who was let in earlier would be let in again as the same. Looking is no visit."""
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
        """Whether a session began after everything was last replaced by a backup."""
        return session.created_at >= self.sessions_from

    async def drain(self) -> None:
        """Wait until every visit and use is noted, or has failed to be. Before the store is closed."""
        await self._asides.settle()

    # By what they carry

    async def _with_session(self, token: Token) -> Identity | None:
        hashed, now = token.secret.hashed(), now_ms(self._clock)
        used, owner = await self._session(token.account_id, hashed)
        if used is None or owner is None:
            return None
        if used.last_used_at <= now - SESSION_TOUCH_INTERVAL:
            self._asides.note(f"session {hashed}", writes.touch_session(owner.account_id, hashed, now))
        self._note_visit(owner, now)
        return _identity(owner, session_hash=hashed)

    async def _with_key(self, token: Token) -> Identity | None:
        hashed, now = token.secret.hashed(), now_ms(self._clock)
        used, owner = await self._key(token.account_id, hashed)
        if used is None or owner is None:
            return None
        if used.last_used_at is None or used.last_used_at <= now - KEY_TOUCH_INTERVAL:
            self._asides.note(f"key {hashed}", writes.touch_key(owner.account_id, hashed, now))
        return replace(_identity(owner), key_hash=hashed, scopes=used.scopes)

    async def _guest(self, cookies: Mapping[str, str], language: Language) -> Identity | None:
        now = now_ms(self._clock)
        mark = self.cookies.guest_in(cookies, now)
        if mark is None:
            return None
        there = await self._store.get(account(mark.account_id))
        if there is None:
            spoken = language_in(cookies) or language
            return Identity(account_id=mark.account_id, role="guest", language=spoken, is_stored=False)
        if there.role != "guest" or there.deleted_at is not None:
            return None
        self._note_visit(there, now)
        return _identity(there)

    # What counts

    async def _session(self, whose: AccountId, hashed: str) -> tuple[Session, Account] | tuple[None, None]:
        keys: list[Key[Any]] = [session(whose, hashed), account(whose)]
        used, owner = await self._store.get_many(keys)
        if not isinstance(used, Session) or not isinstance(owner, Account) or not _signed_up(owner):
            return None, None
        # A service may be slow to delete what has expired, and its clock is not ours.
        ended = used.generation != owner.generation or used.expires_at * SECOND <= now_ms(self._clock)
        return (used, owner) if self.is_current(used) and not ended else (None, None)

    async def _key(self, whose: AccountId, hashed: str) -> tuple[ApiKey, Account] | tuple[None, None]:
        keys: list[Key[Any]] = [api_key(whose, hashed), account(whose)]
        used, owner = await self._store.get_many(keys)
        if not isinstance(used, ApiKey) or not isinstance(owner, Account) or not _signed_up(owner):
            return None, None
        ended = used.expires_at is not None and used.expires_at * SECOND <= now_ms(self._clock)
        return (None, None) if ended else (used, owner)

    def _note_visit(self, visitor: Account, now: Millis) -> None:
        if visitor.last_seen_at <= now - VISIT_TOUCH_INTERVAL:
            self._asides.note(f"visit {visitor.account_id}", writes.record_visit(visitor, now))


def _signed_up(owner: Account) -> bool:
    return owner.role != "guest" and owner.deleted_at is None


def _identity(owner: Account, session_hash: str | None = None) -> Identity:
    return Identity(
        account_id=owner.account_id,
        role=owner.role,
        language=owner.language,
        name=owner.name,
        session_hash=session_hash,
    )
