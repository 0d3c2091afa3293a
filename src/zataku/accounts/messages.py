"""Requests and responses of the accounts API. Their repr shows no secrets."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from zataku.accounts.passwords import MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH
from zataku.platform.design import Account, ApiKey, Session
from zataku.platform.identity import Identity
from zataku.platform.limits import SECOND, AccountId, Label, Language, Role, Scopes, Sha256
from zataku.table import Millis

TypedPassword = Annotated[str, Meta(min_length=1, max_length=MAX_PASSWORD_LENGTH, description="A password as typed")]
NewPassword = Annotated[
    str,
    Meta(
        min_length=MIN_PASSWORD_LENGTH,
        max_length=MAX_PASSWORD_LENGTH,
        description=f"A new password of {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters",
    ),
]
TypedName = Annotated[str, Meta(min_length=1, max_length=60, description="A name as typed")]
KeyDays = Annotated[int, Meta(ge=1, le=3650, description="Days until the key expires; without, it never does")]


class Response(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of the responses."""


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Base of the requests. They may hold secrets, so that their repr is empty."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


# Responses


class Me(Response, frozen=True, kw_only=True):
    """The caller. Guests have no name; `createdAt` is null until something of theirs is stored."""

    account_id: AccountId
    role: Role
    name: str | None
    language: Language
    created_at: Millis | None

    @classmethod
    def of(cls, caller: Account | Identity) -> "Me":
        """The caller's own view; the identity for a guest without an account."""
        return cls(
            account_id=caller.account_id,
            role=caller.role,
            name=caller.name,
            language=caller.language,
            created_at=caller.created_at if isinstance(caller, Account) else None,
        )


class SessionView(Response, frozen=True, kw_only=True):
    """A browser in which the caller is signed in. Its id is not a secret."""

    id: Sha256
    user_agent: str
    created_at: Millis
    last_used_at: Millis
    expires_at: Millis
    current: bool

    @classmethod
    def of(cls, session: Session, current: str | None) -> "SessionView":
        """The owner's view of a session; `current` is the hash of the session of the request."""
        return cls(
            id=session.token_hash,
            user_agent=session.user_agent,
            created_at=session.created_at,
            last_used_at=session.last_used_at,
            expires_at=session.expires_at * SECOND,
            current=session.token_hash == current,
        )


class KeyView(Response, frozen=True, kw_only=True):
    """An API key of the caller, without its secret."""

    id: Sha256
    label: str
    scopes: list[str]
    created_at: Millis
    last_used_at: Millis | None
    expires_at: Millis | None

    @classmethod
    def of(cls, key: ApiKey) -> "KeyView":
        """The owner's view of a key."""
        return cls(
            id=key.key_hash,
            label=key.label,
            scopes=sorted(key.scopes),
            created_at=key.created_at,
            last_used_at=key.last_used_at,
            expires_at=None if key.expires_at is None else key.expires_at * SECOND,
        )


class KeyCreated(Response, frozen=True, kw_only=True):
    """A new API key. `key` is returned this once and not stored."""

    key: str
    view: KeyView

    def __repr__(self) -> str:
        return f"KeyCreated(…, {self.view!r})"


# Requests


class SignUp(Request, frozen=True, kw_only=True):
    """Sign up under a name."""

    name: TypedName
    password: NewPassword


class SignIn(Request, frozen=True, kw_only=True):
    """Sign in under a name."""

    name: TypedName
    password: TypedPassword


class ChangeMe(Request, frozen=True, kw_only=True):
    """Change the name or the language. A field that is left out stays unchanged."""

    name: TypedName | UnsetType = UNSET
    language: Language | UnsetType = UNSET


class ChangePassword(Request, frozen=True, kw_only=True):
    """Change the password. API keys stay valid: revoke those that you do not trust."""

    old: TypedPassword
    new: NewPassword


class DeleteAccount(Request, frozen=True, kw_only=True):
    """Delete the account. Users give their password."""

    password: TypedPassword | None = None


class CreateKey(Request, frozen=True, kw_only=True):
    """Create an API key for a program. It needs the password."""

    password: TypedPassword
    label: Label
    scopes: Scopes
    days: KeyDays | None = None
