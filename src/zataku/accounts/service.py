"""Use cases of accounts: sign up, in and out, change name, language and password, and delete."""

from collections.abc import Callable
from typing import TypeAlias

from msgspec.structs import replace

from zataku.accounts.api_keys import ApiKeys
from zataku.accounts.passwords import Passwords, check_password
from zataku.accounts.route_access import refuse_api_keys
from zataku.accounts.secrets import Secret, Token
from zataku.accounts.sessions import CredentialListener, SessionCutoff, Sessions, account_gone, ignore_ended
from zataku.accounts.table_writes import write_if_met, write_once
from zataku.clock import Clock, now_ms
from zataku.errors import Conflict, Forbidden, Unauthorized, Unavailable
from zataku.platform import writes
from zataku.platform.design import Account, ApiKey, account, owner_of_name
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId, Language, Scope
from zataku.platform.names import normalize_name
from zataku.table import Plan, Store, TransactionCancelled

AccountChange: TypeAlias = Callable[[Account], Plan[Account]]
# An account changes when its owner acts, and once a day: no change loses this many races.
_MAX_WRITE_ATTEMPTS = 8


class LateConflict(Conflict):
    """A concurrent request won, which was detected only after the password had been hashed."""


class Accounts:
    """The use cases. Each succeeds as a whole, or raises an error and changes nothing."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        passwords: Passwords,
        on_ended: CredentialListener = ignore_ended,
        cutoff: SessionCutoff | None = None,
    ) -> None:
        self.sessions = Sessions(store, clock, on_ended, cutoff)
        self.keys = ApiKeys(store, clock, on_ended)
        self.passwords = passwords
        self._store = store
        self._clock = clock
        self._on_ended = on_ended

    # Signing up, in and out

    async def sign_up(self, guest: Identity, typed: str, password: Secret, user_agent: str) -> tuple[Account, Token]:
        """Turn a guest into a user under a free name, with the same id and everything stored under it."""
        name = normalize_name(typed)
        check_password(password, name)
        if guest.role != "guest":
            raise Conflict("You're already signed in. Load the page again.", code="signed_in")
        if await self._store.get(owner_of_name(name)) is not None:
            # Checked before the password is hashed, which costs more than anything else here.
            raise _name_taken()
        password_hash = await self.passwords.hash(password)
        user = await self._create_user(guest, name, password_hash)
        token = await self.sessions.create(user, user_agent)
        # Open sockets of this browser still belong to the guest.
        self._on_ended(user.account_id, None)
        return user, token

    async def sign_in(self, typed: str, password: Secret, user_agent: str) -> tuple[Account, Token]:
        """Sign a user in. Neither the error nor the time it takes reveals which of the two was wrong."""
        owner = await self.find(typed)
        if not await self.passwords.matches(owner and owner.password, password) or owner is None:
            raise Unauthorized("That name and password don't match.", code="wrong_credentials")
        user = await self._with_current_hash(owner, password)
        return user, await self.sessions.create(user, user_agent)

    async def sign_out(self, identity: Identity) -> None:
        """End the session of the request, if it has one."""
        if identity.session_hash is not None:
            await self.sessions.end(identity.account_id, identity.session_hash)

    async def sign_out_everywhere(self, identity: Identity) -> None:
        """End all sessions of a user, including this one."""
        user = await self.user(identity)
        try:
            await self.sessions.end_all(user.account_id)
        except TransactionCancelled as refused:
            if refused.conflict:
                raise
            raise account_gone() from None

    # Accounts

    async def account_of(self, identity: Identity) -> Account | None:
        """The account of a caller; None for a guest of whom nothing is stored."""
        return await self._store.get(account(identity.account_id))

    async def user(self, identity: Identity) -> Account:
        """The current account of a user. Guests and API keys are refused."""
        refuse_api_keys(identity)
        if identity.role == "guest":
            raise Forbidden("Make an account to do that.", code="guest")
        return await self._load_user(identity.account_id)

    async def find(self, typed: str) -> Account | None:
        """The user of a name, in any spelling; None when it is free or its owner is being deleted."""
        claim = await self._store.get(owner_of_name(typed))
        owner = None if claim is None else await self._store.get(account(claim.account_id))
        return None if owner is None or owner.role == "guest" or owner.deleted_at is not None else owner

    async def rename(self, identity: Identity, typed: str) -> Account:
        """Rename a user; the old name is free at once."""
        name = normalize_name(typed)
        user = await self.user(identity)
        return await self._change(user, lambda current: writes.rename(current, name, now_ms(self._clock)))

    async def choose_language(self, identity: Identity, language: Language) -> Identity:
        """Set the language. For a guest without an account only the cookie stores it."""
        refuse_api_keys(identity)
        if await self.account_of(identity) is not None:
            chosen = writes.choose_language(identity.account_id, language)
            if not await write_if_met(self._store, chosen):
                raise account_gone()
        return replace(identity, language=language)

    # Passwords

    async def change_password(self, identity: Identity, old: Secret, new: Secret, user_agent: str) -> Token:
        """Change a user's password. All sessions end, and this browser gets a new one.

        Keys stay valid: a stolen session is not enough to create one.
        """
        user = await self.user(identity)
        check_password(new, user.name)
        await self._check_password(user, old)
        password_hash = await self.passwords.hash(new)
        changed = await self._replace_password(user, password_hash)
        token = await self.sessions.create(changed, user_agent)
        self._on_ended(user.account_id, None)
        return token

    async def reset_password(self, user: Account, new: Secret) -> None:
        """Set the password of a user who has forgotten it, or whose account others have used.

        All sessions end, and all keys are revoked.
        """
        check_password(new, user.name)
        password_hash = await self.passwords.hash(new)
        await self._change(user, lambda current: writes.change_password(current, password_hash, now_ms(self._clock)))
        self._on_ended(user.account_id, None)
        for key in await self.keys.of(user.account_id):
            await self.keys.revoke(user.account_id, key.key_hash)

    async def create_key(
        self, identity: Identity, password: Secret, label: str, scopes: frozenset[Scope], days: int | None
    ) -> tuple[Token, ApiKey]:
        """Create an API key. It outlives sessions, so that a session alone is not enough: the password is needed."""
        user = await self.user(identity)
        await self._check_password(user, password)
        return await self.keys.create(user.account_id, label, scopes, days)

    # Deletion and roles

    async def delete_account(self, identity: Identity, password: Secret | None) -> None:
        """Delete the caller's account; users give their password. What it owns is removed in the background."""
        refuse_api_keys(identity)
        stored = await self.account_of(identity)
        if stored is None or stored.deleted_at is not None:
            self._on_ended(identity.account_id, None)
            return
        if stored.role != "guest":
            if password is None:
                raise Forbidden("Enter your password to delete the account.", code="wrong_password")
            await self._check_password(stored, password)
        await self.mark_deleted(stored.account_id)

    async def mark_deleted(self, account_id: AccountId) -> None:
        """Mark an account as deleted, which ends its sessions. Marking it twice is not an error."""
        # An account that is marked already, or missing, stays as it is.
        await write_if_met(self._store, writes.mark_deleted(account_id, now_ms(self._clock)))
        self._on_ended(account_id, None)

    async def grant_admin(self, user: Account, *, admin: bool) -> None:
        """Make a user an admin, or an admin a user. Open sockets reconnect with the new role."""
        if not await write_if_met(self._store, writes.grant_role(user.account_id, admin)):
            raise account_gone()
        self._on_ended(user.account_id, None)

    async def _load_user(self, account_id: AccountId) -> Account:
        user = await self._store.get(account(account_id))
        if user is None or user.role == "guest" or user.deleted_at is not None:
            raise account_gone()
        return user

    async def _create_user(self, guest: Identity, name: str, password_hash: str) -> Account:
        for _ in range(_MAX_WRITE_ATTEMPTS):
            stored = await self._store.get(account(guest.account_id))
            now = now_ms(self._clock)
            if stored is None:
                plan = writes.sign_up(guest.account_id, name, password_hash, guest.language, now)
            elif stored.role != "guest" or stored.deleted_at is not None:
                raise LateConflict("This changed in another tab. Load the page again.", code="not_this_guest")
            else:
                plan = writes.become_user(stored, name, password_hash, now)
            if (saved := await self._try_write(plan)) is not None:
                return saved
        raise _busy()

    async def _change(self, user: Account, change: AccountChange) -> Account:
        """Apply a change to the current account, again after each concurrent change, and return the result."""
        for _ in range(_MAX_WRITE_ATTEMPTS):
            if (saved := await self._try_write(change(user))) is not None:
                return saved
            user = await self._load_user(user.account_id)
        raise _busy()

    async def _try_write(self, plan: Plan[Account]) -> Account | None:
        """The account after the plan; None when it had changed before. A taken name is refused."""
        try:
            return await write_once(self._store, plan)
        except TransactionCancelled as refused:
            failed = [reason.code == "condition_failed" for reason in refused.reasons]
            # The first step of every plan is the account, the others are names.
            if any(failed[:1]):
                return None
            if any(failed):
                raise _name_taken(LateConflict) from None
            raise

    async def _check_password(self, user: Account, password: Secret) -> None:
        if not await self.passwords.matches(user.password, password):
            raise _wrong_password()

    async def _replace_password(self, user: Account, password_hash: str) -> Account:
        checked = user.password

        def change(current: Account) -> Plan[Account]:
            if current.password != checked:
                # A concurrent change: the old password was checked against the previous one.
                raise _wrong_password()
            return writes.change_password(current, password_hash, now_ms(self._clock))

        return await self._change(user, change)

    async def _with_current_hash(self, user: Account, password: Secret) -> Account:
        """The user, with the password hashed again when its hash has outdated parameters."""
        assert user.password is not None
        assert user.password_changed_at is not None
        if not self.passwords.is_outdated(user.password):
            return user
        password_hash = await self.passwords.hash(password)
        # The password stays the same, and so does the time when it was set.
        plan = writes.change_password(user, password_hash, user.password_changed_at, sign_out=False)
        return await self._try_write(plan) or user


def _name_taken(error: type[Conflict] = Conflict) -> Conflict:
    return error("That name is taken. Choose another one.", code="name_taken")


def _wrong_password() -> Forbidden:
    return Forbidden("That's not your password.", code="wrong_password")


def _busy() -> Unavailable:
    return Unavailable("The account is being changed elsewhere. Try again in a moment.", code="busy")
