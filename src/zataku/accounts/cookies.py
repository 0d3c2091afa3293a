"""The cookies that a browser keeps for Zataku: who somebody is, and which language they read.

Only the language can be read by the pages; the others are for the server alone. Over https they carry the prefix
`__Host-`, under which a browser takes no cookie from another host or without encryption.
"""

from collections.abc import Mapping
from typing import get_args

from litestar.datastructures import Cookie

from zataku.accounts.guest_tokens import GuestToken, GuestTokenSigner
from zataku.accounts.tokens import Token, session_token
from zataku.platform.limits import DAY, GUEST_TTL, SECOND, SESSION_TTL, AccountId, Language
from zataku.table import Millis

LANGUAGE = "zataku_language"
_GUEST = "zataku_guest"
_SESSION = "zataku_session"
_HOST_ONLY = "__Host-"
_LANGUAGE_LASTS = 365 * DAY
_LANGUAGES: tuple[Language, ...] = get_args(Language)


class HiddenCookie(Cookie):
    """A cookie whose value is not shown where it is printed."""

    def __repr__(self) -> str:
        return f"HiddenCookie({self.key})"


class Cookies:
    """Writes and reads the cookies of one server. Reading never fails: a broken cookie is as good as none."""

    def __init__(self, secret: bytes, *, secure: bool) -> None:
        self._marks = GuestTokenSigner(secret)
        self._secure = secure
        prefix = _HOST_ONLY if secure else ""
        self.guest_name = prefix + _GUEST
        self.session_name = prefix + _SESSION

    def guest(self, account_id: AccountId, now: Millis) -> Cookie:
        """The cookie of a guest, from now on."""
        return self._hidden(self.guest_name, self._marks.made(GuestToken(account_id, now)), GUEST_TTL)

    def session(self, token: Token) -> Cookie:
        """The cookie of somebody who has signed in."""
        return self._hidden(self.session_name, token.as_session(), SESSION_TTL)

    def language(self, chosen: Language) -> Cookie:
        """The language, for the pages to read."""
        lasts = _LANGUAGE_LASTS // SECOND
        return Cookie(LANGUAGE, value=chosen, max_age=lasts, secure=self._secure, samesite="lax")

    def no_guest(self) -> Cookie:
        """Takes the cookie of a guest back."""
        return self._hidden(self.guest_name, "", 0)

    def no_session(self) -> Cookie:
        """Takes the cookie of a session back."""
        return self._hidden(self.session_name, "", 0)

    def guest_in(self, cookies: Mapping[str, str], now: Millis) -> GuestToken | None:
        """The guest that a browser says it is."""
        return self._marks.read(cookies.get(self.guest_name), now)

    def session_in(self, cookies: Mapping[str, str]) -> Token | None:
        """The session that a browser says it has."""
        return session_token(cookies.get(self.session_name))

    def _hidden(self, name: str, value: str, lasts: Millis) -> Cookie:
        return HiddenCookie(
            name, value=value, max_age=lasts // SECOND, secure=self._secure, httponly=True, samesite="lax"
        )


def language_in(cookies: Mapping[str, str]) -> Language | None:
    """The language that a browser was told to remember."""
    told = cookies.get(LANGUAGE)
    return next((language for language in _LANGUAGES if language == told), None)
