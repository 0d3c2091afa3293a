"""The authenticated caller, as all packages above the accounts see it."""

import msgspec

from zataku.errors import Forbidden
from zataku.platform.limits import AccountId, Language, Role, Scope

# Processes of an earlier version read these names from the bus.
_ENCODED_NAMES = {"is_stored": "kept", "session_hash": "session", "key_hash": "key"}


class Identity(msgspec.Struct, frozen=True, kw_only=True, rename=_ENCODED_NAMES):
    """The authenticated caller: a guest with a cookie, a user with a session, or a program with an API key.

    `is_stored` is false while a guest has no account in the table yet. `session_hash` and `key_hash` are hashes of the
    credentials of the request. `scopes` is None for people, who may do everything that their role allows.
    """

    account_id: AccountId
    role: Role
    language: Language
    name: str | None = None
    is_stored: bool = True
    session_hash: str | None = None
    key_hash: str | None = None
    scopes: frozenset[Scope] | None = None

    @property
    def is_admin(self) -> bool:
        """True for an admin in a browser, who may administer the server."""
        return self.role == "admin" and self.scopes is None

    def may(self, scope: Scope) -> bool:
        """True when the credential has the scope; the rules of the system still apply."""
        return self.scopes is None or scope in self.scopes

    def require_scope(self, scope: Scope) -> None:
        """Raise Forbidden for a caller with an API key that lacks the scope."""
        if not self.may(scope):
            raise Forbidden("This API key can't do that. Make one with the scope it needs.", code="scope_missing")
