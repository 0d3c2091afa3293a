"""What the pages and programs send and get about accounts. No secret is shown by printing one of these."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from zataku.platform.design import Account, ApiKey, Session
from zataku.platform.identity import Identity
from zataku.platform.limits import SECOND, AccountId, Label, Language, Role, Scopes, Sha256
from zataku.table import Millis

MOST_PASSWORD = 200
TypedPassword = Annotated[
    str, Meta(min_length=1, max_length=MOST_PASSWORD, description="A password as somebody typed it")
]
NewPassword = Annotated[
    str, Meta(min_length=8, max_length=MOST_PASSWORD, description="A new password of 8 to 200 characters")
]
TypedName = Annotated[str, Meta(min_length=1, max_length=60, description="A name as somebody typed it")]
KeyDays = Annotated[int, Meta(ge=1, le=3650, description="How many days the key is good for; for good without")]


class Shown(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that is sent to whoever it belongs to."""


class Asked(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Something that somebody asks for. It may hold a secret, so that nothing in it is printed."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


# What is shown


class Me(Shown, frozen=True, kw_only=True):
    """Who you are to this server. Guests have no name; `createdAt` is null until something of theirs is kept."""

    account_id: AccountId
    role: Role
    name: str | None
    language: Language
    created_at: Millis | None

    @classmethod
    def of(cls, who: Account | Identity) -> "Me":
        """Somebody as they see themselves; of a guest without an account only the cookies know."""
        return cls(
            account_id=who.account_id,
            role=who.role,
            name=who.name,
            language=who.language,
            created_at=who.created_at if isinstance(who, Account) else None,
        )


class SessionView(Shown, frozen=True, kw_only=True):
    """A browser in which you are signed in. Its id is no secret."""

    id: Sha256
    user_agent: str
    created_at: Millis
    last_used_at: Millis
    expires_at: Millis
    current: bool

    @classmethod
    def of(cls, session: Session, current: str | None) -> "SessionView":
        """A session as its owner sees it; `current` is the hash of the one they came with."""
        return cls(
            id=session.token_hash,
            user_agent=session.user_agent,
            created_at=session.created_at,
            last_used_at=session.last_used_at,
            expires_at=session.expires_at * SECOND,
            current=session.token_hash == current,
        )


class KeyView(Shown, frozen=True, kw_only=True):
    """An API key of yours, without its secret."""

    id: Sha256
    label: str
    scopes: list[str]
    created_at: Millis
    last_used_at: Millis | None
    expires_at: Millis | None

    @classmethod
    def of(cls, key: ApiKey) -> "KeyView":
        """A key as its owner sees it."""
        return cls(
            id=key.key_hash,
            label=key.label,
            scopes=sorted(key.scopes),
            created_at=key.created_at,
            last_used_at=key.last_used_at,
            expires_at=None if key.expires_at is None else key.expires_at * SECOND,
        )


class KeyMade(Shown, frozen=True, kw_only=True):
    """A key that was just made. `key` is shown this once and stored nowhere."""

    key: str
    view: KeyView

    def __repr__(self) -> str:
        return f"KeyMade(…, {self.view!r})"


# What is asked for


class SignUp(Asked, frozen=True, kw_only=True):
    """Become a user under a name."""

    name: TypedName
    password: NewPassword


class SignIn(Asked, frozen=True, kw_only=True):
    """Come back under a name."""

    name: TypedName
    password: TypedPassword


class ChangeMe(Asked, frozen=True, kw_only=True):
    """Take another name, or read another language. What is left out stays."""

    name: TypedName | UnsetType = UNSET
    language: Language | UnsetType = UNSET


class ChangePassword(Asked, frozen=True, kw_only=True):
    """Another password for the old one. API keys stay in force: revoke those that you do not trust."""

    old: TypedPassword
    new: NewPassword


class DeleteAccount(Asked, frozen=True, kw_only=True):
    """Delete the account. Users give their password."""

    password: TypedPassword | None = None


class MakeKey(Asked, frozen=True, kw_only=True):
    """An API key for a program. It is made for whoever gives the password."""

    password: TypedPassword
    label: Label
    scopes: Scopes
    days: KeyDays | None = None
