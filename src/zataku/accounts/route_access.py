"""Who may call a route. Every route declares it with `opt`, and the server does not start with one that does not."""

from typing import Any

import msgspec

from zataku.errors import Forbidden
from zataku.platform.identity import Identity

OPTION = "access"
"""The name of the declaration in a handler's or router's `opt`."""


class RouteAccess(msgspec.Struct, frozen=True, kw_only=True):
    """The callers that a route accepts.

    - `is_public`: the response is the same for every caller, so the caller is not identified.
    - `is_admin_only`: only admins may call it, in a browser.
    - `accepts_any_key`: any API key may call it, whatever its scopes.
    - `system`: API keys need the scope `SYSTEM:read` to read and `SYSTEM:write` to write.

    Without the last two, API keys are refused.
    """

    is_public: bool = False
    is_admin_only: bool = False
    accepts_any_key: bool = False
    system: str | None = None

    @property
    def opt(self) -> dict[str, Any]:
        """The declaration, for the `opt` of a handler or router."""
        return {OPTION: self}

    def check(self, identity: Identity, *, is_write: bool) -> None:
        """Raise Forbidden for a caller that may not call the route."""
        if self.is_admin_only:
            require_admin(identity)
        elif self.system is not None:
            identity.require_scope(f"{self.system}:{'write' if is_write else 'read'}")
        elif not self.accepts_any_key:
            refuse_api_keys(identity)


PUBLIC = RouteAccess(is_public=True)
ANY_CALLER = RouteAccess(accepts_any_key=True)
NO_API_KEYS = RouteAccess()
ADMINS = RouteAccess(is_admin_only=True)


def require_admin(identity: Identity) -> None:
    """Raise Forbidden unless the caller is an admin in a browser."""
    if not identity.is_admin:
        raise Forbidden("Only an admin may do that. Sign in as one; `zataku accounts grant-admin NAME` makes one.")


def refuse_api_keys(identity: Identity) -> None:
    """Raise Forbidden for a caller with an API key."""
    if identity.scopes is not None:
        raise Forbidden("An API key cannot be used for this. Sign in with a browser.", code="not_for_keys")
