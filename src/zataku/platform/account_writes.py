"""Writes of accounts: signing up, in and out, names, passwords, API keys, and deletion.

Accounts, names, sessions and keys fit one write unit each, the largest included.
"""

from msgspec.structs import replace

from zataku.platform.design import Account, ApiKey, Job, NameClaim, Session, platform
from zataku.platform.errors import AccountDeleted, NotAGuest, NotAUser, NotDeleted
from zataku.platform.limits import (
    GUEST_TTL,
    KEY_TOUCH_INTERVAL,
    SECOND,
    SESSION_TOUCH_INTERVAL,
    SESSION_TTL,
    VISIT_TOUCH_INTERVAL,
    AccountId,
    AccountName,
    AccountUuid,
    Language,
    PasswordHash,
    Scope,
    Sha256,
    UserAgent,
    expiry,
)
from zataku.table import Budget, Condition, Millis, Plan, Seconds, Step, check, delete, path, put, save, update
from zataku.text import fold

_HASH = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$aGFzaGhhc2hoYXNoaGFzaA"
# Examples for the design document: the fields of an account depend on its role, so that none can be derived from types.
_GUEST = Account(
    account_id=AccountId("456e7890-e89b-42d3-a456-426614174001"),
    role="guest",
    language="ja",
    created_at=1,
    last_seen_at=1,
    expires_at=2,
)
_USER = replace(_GUEST, role="user", name="hana", password=_HASH, password_changed_at=1, expires_at=None)
_DELETED = replace(_USER, deleted_at=1)

role = path(Account, lambda it: it.role)
generation = path(Account, lambda it: it.generation)
language = path(Account, lambda it: it.language)
last_seen = path(Account, lambda it: it.last_seen_at)
deleted = path(Account, lambda it: it.deleted_at)
account_expires = path(Account, lambda it: it.expires_at)
claimed_by = path(NameClaim, lambda it: it.account_id)
session_used = path(Session, lambda it: it.last_used_at)
session_expires = path(Session, lambda it: it.expires_at)
key_used = path(ApiKey, lambda it: it.last_used_at)


@platform.write(budget=Budget(writes=1))
def create_guest(account_id: AccountUuid, language: Language, now: Millis) -> Plan[Account]:
    """Create the account of a guest when something of theirs is stored. Refused when there is one."""
    guest = Account(
        account_id=account_id,
        role="guest",
        language=language,
        created_at=now,
        last_seen_at=now,
        expires_at=expiry(now, GUEST_TTL),
    )
    return Plan(put(guest, if_absent=True))


@platform.write(budget=Budget(writes=4), example={"name": "hana", "password": _HASH})
def sign_up(
    account_id: AccountUuid, name: AccountName, password: PasswordHash, language: Language, now: Millis
) -> Plan[Account]:
    """Create a user under a free name. A guest without an account keeps the id of the cookie."""
    user = Account(
        account_id=account_id,
        name=name,
        password=password,
        password_changed_at=now,
        language=language,
        created_at=now,
        last_seen_at=now,
    )
    return Plan(put(user, if_absent=True), _claim(user, name, now))


@platform.write(budget=Budget(writes=4), example={"guest": _GUEST, "name": "hana", "password": _HASH})
def become_user(guest: Account, name: AccountName, password: PasswordHash, now: Millis) -> Plan[Account]:
    """Turn a guest's account into a user's, with the same id. The guest's cookie is void from then on."""
    if guest.role != "guest":
        raise NotAGuest("This account has signed up already. Sign in instead.")
    _refuse_deleted(guest)
    user = replace(
        guest,
        role="user",
        name=name,
        password=password,
        password_changed_at=now,
        generation=guest.generation + 1,
        last_seen_at=now,
        expires_at=None,
    )
    return Plan(save(user, was=guest), _claim(user, name, now))


@platform.write(
    budget=Budget(writes=6, of="a new name; 1 for another spelling of the same"),
    example={"user": _USER, "name": "nana"},
)
def rename(user: Account, name: AccountName, now: Millis) -> Plan[Account]:
    """Rename a user; the old name is free at once. Another spelling of the same name keeps its claim."""
    _refuse_deleted(user)
    old = _name_of(user)
    renamed = save(replace(user, name=name), was=user)
    if fold(name) == fold(old):
        return Plan(renamed)
    return Plan(renamed, _claim(user, name, now), _release(user, old))


@platform.write(budget=Budget(writes=1), example={"user": _USER, "password": _HASH})
def change_password(user: Account, password: PasswordHash, now: Millis, sign_out: bool = True) -> Plan[Account]:
    """Set a user's password, which ends all sessions unless `sign_out` is false.

    Without signing out, a sign-in with the old password in the same moment stays valid.
    """
    _refuse_deleted(user)
    _name_of(user)
    generation = user.generation + 1 if sign_out else user.generation
    return Plan(save(replace(user, password=password, password_changed_at=now, generation=generation), was=user))


@platform.write(budget=Budget(writes=1))
def choose_language(account_id: AccountUuid, chosen: Language) -> Plan[Account]:
    """Set the language of the pages."""
    return Plan(update(Account.key(account_id=account_id), language.set(chosen), when=deleted.missing()))


@platform.write(budget=Budget(writes=1))
def grant_role(account_id: AccountUuid, admin: bool) -> Plan[Account]:
    """Make a user an admin, or an admin a user. Refused for guests."""
    signed_up = role.is_in("user", "admin") & deleted.missing()
    return Plan(update(Account.key(account_id=account_id), role.set("admin" if admin else "user"), when=signed_up))


@platform.write(budget=Budget(writes=1), example={"account": _GUEST})
def record_visit(account: Account, now: Millis) -> Plan[Account]:
    """Record a visit, once a day at most; a guest lasts 90 days more. Refused when one was recorded within the day."""
    edits = [last_seen.set(now)]
    unchanged = last_seen.at_most(now - VISIT_TOUCH_INTERVAL) & deleted.missing()
    if account.role == "guest":
        edits.append(account_expires.set(expiry(now, GUEST_TTL)))
        # A guest who has signed up since must not expire.
        unchanged = unchanged & role.equals("guest")
    return Plan(update(Account.key(account_id=account.account_id), *edits, when=unchanged))


@platform.write(budget=Budget(writes=1), example={"user": _USER})
def sign_in(user: Account, token_hash: Sha256, user_agent: UserAgent, now: Millis) -> Plan[Session]:
    """Create a session for a user whose password was checked against this state of the account.

    One put and nothing else: the session belongs to the generation that was read. Signing out everywhere, changing the
    password or deleting the account in the same moment makes it void.
    """
    _refuse_deleted(user)
    _name_of(user)
    session = Session(
        account_id=user.account_id,
        token_hash=token_hash,
        generation=user.generation,
        user_agent=user_agent,
        created_at=now,
        last_used_at=now,
        expires_at=expiry(now, SESSION_TTL),
    )
    return Plan(put(session, if_absent=True))


@platform.write(budget=Budget(writes=1))
def touch_session(account_id: AccountUuid, token_hash: Sha256, now: Millis) -> Plan[Session]:
    """Record the use of a session, which lasts 30 days more: every ten minutes at most, and refused in between."""
    key = Session.key(account_id=account_id, token_hash=token_hash)
    edits = session_used.set(now), session_expires.set(expiry(now, SESSION_TTL))
    return Plan(update(key, *edits, when=session_used.at_most(now - SESSION_TOUCH_INTERVAL)))


@platform.write(budget=Budget(writes=1))
def sign_out(account_id: AccountUuid, token_hash: Sha256) -> Plan[Session]:
    """End one session. Ending it twice is not an error."""
    return Plan(delete(Session.key(account_id=account_id, token_hash=token_hash)))


@platform.write(budget=Budget(writes=1, of="any number of sessions"))
def sign_out_everywhere(account_id: AccountUuid) -> Plan[Account]:
    """End all sessions at once: they belong to an earlier generation from now on.

    Refused for an account that is marked as deleted, which has ended them: its removal must not be disturbed.
    """
    return Plan(update(Account.key(account_id=account_id), generation.add(1), when=deleted.missing()))


@platform.write(budget=Budget(writes=4))
def add_key(
    account_id: AccountUuid,
    key_hash: Sha256,
    label: str,
    scopes: frozenset[Scope],
    now: Millis,
    expires_at: Seconds | None = None,
) -> Plan[ApiKey]:
    """Create an API key of a user. Refused for guests and deleted accounts.

    The caller limits the number of keys by counting `keys_of` first; two keys in one moment may exceed the limit by
    one. There is no stored counter, since keys also expire. The same holds for sessions.
    """
    if expires_at is not None and expires_at * SECOND <= now:
        raise ValueError("A key expires after it is created.")
    key = ApiKey(
        account_id=account_id, key_hash=key_hash, label=label, scopes=scopes, created_at=now, expires_at=expires_at
    )
    signed_up = role.is_in("user", "admin") & deleted.missing()
    return Plan(put(key, if_absent=True), check(Account.key(account_id=account_id), signed_up))


@platform.write(budget=Budget(writes=1))
def touch_key(account_id: AccountUuid, key_hash: Sha256, now: Millis) -> Plan[ApiKey]:
    """Record the use of an API key, once a day at most. Refused when one was recorded within the day."""
    is_stale: Condition[ApiKey] = key_used.missing() | key_used.at_most(now - KEY_TOUCH_INTERVAL)
    return Plan(update(ApiKey.key(account_id=account_id, key_hash=key_hash), key_used.set(now), when=is_stale))


@platform.write(budget=Budget(writes=1))
def revoke_key(account_id: AccountUuid, key_hash: Sha256) -> Plan[ApiKey]:
    """Delete an API key. Revoking it twice is not an error."""
    return Plan(delete(ApiKey.key(account_id=account_id, key_hash=key_hash)))


@platform.write(budget=Budget(writes=5))
def mark_deleted(account_id: AccountUuid, now: Millis) -> Plan[Account]:
    """Mark an account as deleted: its sessions end, and the job that removes it is due at once.

    The name stays claimed until the job is done, so that no other account uses it before everything is removed.
    """
    removal = Job(system="platform", kind="remove_account", subject=account_id, scheduled_for=now, due_at=now, run=now)
    marked = update(Account.key(account_id=account_id), deleted.set(now), generation.add(1), when=deleted.missing())
    return Plan(marked, put(removal, if_absent=True))


@platform.write(budget=Budget(writes=4, of="a user; 1 for a guest"), example={"account": _DELETED})
def remove_account(account: Account, now: Millis) -> Plan[Account]:
    """The last step of a removal: delete name and password, and free the name.

    Before this step the job removes, in batches, what the account owned in every system, and its sessions and keys
    here: they may be more than the 100 items of a transaction.
    """
    if account.deleted_at is None:
        raise NotDeleted("Mark the account as deleted first.")
    anonymous = replace(
        account,
        role="guest",
        name=None,
        password=None,
        password_changed_at=None,
        expires_at=expiry(now, GUEST_TTL),
    )
    saved = save(anonymous, was=account)
    return Plan(saved) if account.name is None else Plan(saved, _release(account, account.name))


def _claim(account: Account, name: str, now: Millis) -> Step[NameClaim]:
    claim = NameClaim(folded_name=fold(name), account_id=account.account_id, claimed_at=now)
    return put(claim, if_absent=True)


def _release(account: Account, name: str) -> Step[NameClaim]:
    return delete(NameClaim.key(folded_name=fold(name)), when=claimed_by.equals(account.account_id))


def _refuse_deleted(account: Account) -> None:
    if account.deleted_at is not None:
        raise AccountDeleted("This account is being deleted. Sign up for a new one.")


def _name_of(user: Account) -> str:
    if user.name is None:
        raise NotAUser("A guest has no name and no password. Sign up first.")
    return user.name
