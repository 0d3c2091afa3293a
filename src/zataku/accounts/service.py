"""What people do with their accounts: sign up, in and out, change name, language and password, and leave."""

from collections.abc import Callable
from typing import TypeAlias

from msgspec.structs import replace

from zataku.accounts.api_keys import Keys
from zataku.accounts.once import happened, once
from zataku.accounts.passwords import Passwords, check_password
from zataku.accounts.route_access import refuse_api_keys
from zataku.accounts.secrets import Secret
from zataku.accounts.sessions import Ended, Sessions, ignore_ended
from zataku.accounts.tokens import Token
from zataku.clock import Clock, now_ms
from zataku.errors import Conflict, Forbidden, Unauthorized, Unavailable
from zataku.platform import writes
from zataku.platform.design import Account, ApiKey, account, owner_of_name
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId, Language, Scope
from zataku.platform.names import normalize_name
from zataku.table import Plan, Store, TransactionCancelled

Change: TypeAlias = Callable[[Account], Plan[Account]]
# An account changes when its owner does something, and once a day: nobody meets this many others.
_TRIES = 8


class LateConflict(Conflict):
    """Somebody else was faster, and that came out only after the password had been hashed."""


class Accounts:
    """The use cases. Each changes everything it is about, or nothing and says why."""

    def __init__(self, store: Store, clock: Clock, passwords: Passwords, ended: Ended = ignore_ended) -> None:
        self.sessions = Sessions(store, clock, ended)
        self.keys = Keys(store, clock, ended)
        self.passwords = passwords
        self._store = store
        self._clock = clock
        self._ended = ended

    # Coming and going

    async def sign_up(self, guest: Identity, typed: str, password: Secret, user_agent: str) -> tuple[Account, Token]:
        """A guest becomes a user under a name that nobody has, and keeps the id with all that hangs on it."""
        name = normalize_name(typed)
        check_password(password, name)
        if guest.role != "guest":
            raise Conflict("You are signed in. Sign out first.", code="signed_in")
        if await self._store.get(owner_of_name(name)) is not None:
            # Asked before the password is hashed, which costs more than anything else here.
            raise _taken()
        kept = await self.passwords.hashed(password)
        user = await self._signed_up(guest, name, kept)
        token = await self.sessions.begin(user, user_agent)
        # What is open in this browser came in as a guest.
        self._ended(user.account_id, None)
        return user, token

    async def sign_in(self, typed: str, password: Secret, user_agent: str) -> tuple[Account, Token]:
        """A user comes back. Which of the two was wrong is not said, nor can it be told from the time it takes."""
        found = await self.named(typed)
        if not await self.passwords.matches(found and found.password, password) or found is None:
            raise Unauthorized("The name or the password is wrong. Check both.", code="wrong_credentials")
        user = await self._with_todays_hash(found, password)
        return user, await self.sessions.begin(user, user_agent)

    async def sign_out(self, identity: Identity) -> None:
        """The session that somebody came with ends; who has none is out already."""
        if identity.session_hash is not None:
            await self.sessions.end(identity.account_id, identity.session_hash)

    async def sign_out_everywhere(self, identity: Identity) -> None:
        """All sessions of a user end, this one too."""
        user = await self.user(identity)
        try:
            await self.sessions.end_all(user.account_id)
        except TransactionCancelled as refused:
            if refused.conflict:
                raise
            raise _gone() from None

    # Who somebody is

    async def account_of(self, identity: Identity) -> Account | None:
        """The account of a caller; None for a guest of whom nothing is kept."""
        return await self._store.get(account(identity.account_id))

    async def user(self, identity: Identity) -> Account:
        """The account of a user as it is now. Guests are refused, and so are programs: keys are for the systems."""
        refuse_api_keys(identity)
        if identity.role == "guest":
            raise Forbidden("Guests have no name, password or keys. Sign up first.", code="guest")
        return await self._present(identity.account_id)

    async def named(self, typed: str) -> Account | None:
        """The user of a name, however it is spelt; None when nobody has it, or whoever had it is being deleted."""
        claim = await self._store.get(owner_of_name(typed))
        found = None if claim is None else await self._store.get(account(claim.account_id))
        return None if found is None or found.role == "guest" or found.deleted_at is not None else found

    async def rename(self, identity: Identity, typed: str) -> Account:
        """A user takes another name; the old one is free at once."""
        name = normalize_name(typed)
        user = await self.user(identity)
        return await self._changed(user, lambda now_is: writes.rename(now_is, name, now_ms(self._clock)))

    async def choose_language(self, identity: Identity, language: Language) -> Identity:
        """Somebody reads another language from now on. Of a guest without an account only the browser knows it."""
        refuse_api_keys(identity)
        if await self.account_of(identity) is not None:
            chosen = writes.choose_language(identity.account_id, language)
            if not await happened(self._store, chosen):
                raise _gone()
        return replace(identity, language=language)

    # Passwords

    async def change_password(self, identity: Identity, old: Secret, new: Secret, user_agent: str) -> Token:
        """A user sets another password for the old one. All sessions end, and this browser gets a new one.

        Keys stay: whoever has only stolen a session cannot have made one.
        """
        user = await self.user(identity)
        check_password(new, user.name)
        await self._demand(user, old)
        kept = await self.passwords.hashed(new)
        changed = await self._repassworded(user, kept)
        token = await self.sessions.begin(changed, user_agent)
        self._ended(user.account_id, None)
        return token

    async def reset_password(self, user: Account, new: Secret) -> None:
        """The host sets a password for somebody who has forgotten theirs, or whose account others have used.

        All sessions end, and all keys are revoked.
        """
        check_password(new, user.name)
        kept = await self.passwords.hashed(new)
        await self._changed(user, lambda now_is: writes.change_password(now_is, kept, now_ms(self._clock)))
        self._ended(user.account_id, None)
        for key in await self.keys.of(user.account_id):
            await self.keys.revoke(user.account_id, key.key_hash)

    async def make_key(
        self, identity: Identity, password: Secret, label: str, scopes: frozenset[Scope], days: int | None
    ) -> tuple[Token, ApiKey]:
        """A user makes a key for a program. It outlives sessions, so a session alone is not enough to make one."""
        user = await self.user(identity)
        await self._demand(user, password)
        return await self.keys.make(user.account_id, label, scopes, days)

    # Leaving

    async def delete_account(self, identity: Identity, password: Secret | None) -> None:
        """Somebody leaves: users give their password. What they own in every system goes in the background."""
        refuse_api_keys(identity)
        found = await self.account_of(identity)
        if found is None or found.deleted_at is not None:
            self._ended(identity.account_id, None)
            return
        if found.role != "guest":
            if password is None:
                raise Forbidden("Give your password to delete the account.", code="wrong_password")
            await self._demand(found, password)
        await self.mark_deleted(found.account_id)

    async def mark_deleted(self, account_id: AccountId) -> None:
        """An account is to go: nobody is signed in with it any more. Asking twice is no error."""
        # One that was marked before, or is not there, is left as it is.
        await happened(self._store, writes.mark_deleted(account_id, now_ms(self._clock)))
        self._ended(account_id, None)

    async def grant_admin(self, user: Account, *, admin: bool) -> None:
        """A user may look after the server, or may no more. Sockets open anew, as who the user is from now on."""
        if not await happened(self._store, writes.grant_role(user.account_id, admin)):
            raise _gone()
        self._ended(user.account_id, None)

    # Inside

    async def _present(self, account_id: AccountId) -> Account:
        found = await self._store.get(account(account_id))
        if found is None or found.role == "guest" or found.deleted_at is not None:
            raise _gone()
        return found

    async def _signed_up(self, guest: Identity, name: str, kept: str) -> Account:
        for _ in range(_TRIES):
            found = await self._store.get(account(guest.account_id))
            now = now_ms(self._clock)
            if found is None:
                plan = writes.sign_up(guest.account_id, name, kept, guest.language, now)
            elif found.role != "guest" or found.deleted_at is not None:
                raise LateConflict(
                    "This guest has signed up or left meanwhile. Load the page anew.", code="not_this_guest"
                )
            else:
                plan = writes.become_user(found, name, kept, now)
            if (made := await self._tried(plan)) is not None:
                return made
        raise _busy()

    async def _changed(self, user: Account, change: Change) -> Account:
        """The account after the change, made to what it is by then; others may change it at the same time."""
        for _ in range(_TRIES):
            if (made := await self._tried(change(user))) is not None:
                return made
            user = await self._present(user.account_id)
        raise _busy()

    async def _tried(self, plan: Plan[Account]) -> Account | None:
        """The account after the plan; None when it had changed before. A name that somebody else has is refused."""
        try:
            return await once(self._store, plan)
        except TransactionCancelled as refused:
            met = [reason.code == "condition_failed" for reason in refused.reasons]
            # The first step of every plan is the account, the others are about names.
            if any(met[:1]):
                return None
            if any(met):
                raise _taken(LateConflict) from None
            raise

    async def _demand(self, user: Account, password: Secret) -> None:
        if not await self.passwords.matches(user.password, password):
            raise Forbidden("The password is wrong. Check it.", code="wrong_password")

    async def _repassworded(self, user: Account, kept: str) -> Account:
        checked = user.password

        def change(now_is: Account) -> Plan[Account]:
            if now_is.password != checked:
                # Somebody else changed it meanwhile, and the old one was held against what it was before.
                raise Forbidden("The password is wrong. Check it.", code="wrong_password")
            return writes.change_password(now_is, kept, now_ms(self._clock))

        return await self._changed(user, change)

    async def _with_todays_hash(self, user: Account, password: Secret) -> Account:
        """The user, whose password is kept with today's parameters from now on if it was kept with earlier ones."""
        assert user.password is not None
        assert user.password_changed_at is not None
        if not self.passwords.outdated(user.password):
            return user
        kept = await self.passwords.hashed(password)
        # The password stays the same, and so does the moment in which it was set.
        plan = writes.change_password(user, kept, user.password_changed_at, sign_out=False)
        return await self._tried(plan) or user


def _taken(kind: type[Conflict] = Conflict) -> Conflict:
    return kind("Somebody has this name. Choose another one.", code="name_taken")


def _gone() -> Unauthorized:
    return Unauthorized("The account is not there any more. Sign in anew.", code="account_gone")


def _busy() -> Unavailable:
    return Unavailable("The account is being changed elsewhere. Try again in a moment.", code="busy")
