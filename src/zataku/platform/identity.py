"""Who is calling, as everything above the accounts sees it."""

import msgspec

from zataku.platform.limits import AccountId, Language, Role, Scope


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody at the table: a guest with a cookie, a user with a session, or a program with a key.

    `kept` is false while a guest has no account in the table yet. `session` and `key` are the hashes of what they came
    in with. `scopes` is None for people, who may do all that their role allows.
    """

    account_id: AccountId
    role: Role
    language: Language
    name: str | None = None
    kept: bool = True
    session: str | None = None
    key: str | None = None
    scopes: frozenset[Scope] | None = None

    @property
    def is_admin(self) -> bool:
        """True for whoever may look after the server, in a browser."""
        return self.role == "admin" and self.scopes is None

    def may(self, scope: Scope) -> bool:
        """True when nothing keeps the caller from it but the rules of the system."""
        return self.scopes is None or scope in self.scopes
