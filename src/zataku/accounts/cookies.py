"""The cookies of Zataku: guest, session and language.

Pages can read the language only; the others are HttpOnly. Over https those carry the prefix `__Host-`, under which a
browser accepts no cookie from another host or without encryption.
"""

from collections.abc import Mapping
from typing import get_args

from litestar.datastructures import Cookie

from zataku.accounts.guest_tokens import GuestToken, GuestTokenSigner
from zataku.accounts.secrets import Token, session_token
from zataku.platform.limits import DAY, GUEST_TTL, SECOND, SESSION_TTL, AccountId, Language
from zataku.table import Millis

LANGUAGE = "zataku_language"
_GUEST = "zataku_guest"
_SESSION = "zataku_session"
_HOST_PREFIX = "__Host-"
_LANGUAGE_TTL = 365 * DAY
_LANGUAGES: tuple[Language, ...] = get_args(Language)


class HiddenCookie(Cookie):
    """A cookie whose value is not printed."""

    def __repr__(self) -> str:
        return f"HiddenCookie({self.key})"


class Cookies:
    """Writes and reads the cookies of one server. Reading never raises: an invalid cookie is none."""

    def __init__(self, secret: bytes, *, secure: bool) -> None:
        self._guests = GuestTokenSigner(secret)
        self._secure = secure
        prefix = _HOST_PREFIX if secure else ""
        self.guest_name = prefix + _GUEST
        self.session_name = prefix + _SESSION

    def guest(self, account_id: AccountId, now: Millis) -> Cookie:
        """The cookie of a guest, issued now."""
        return self._hidden(self.guest_name, self._guests.sign(GuestToken(account_id, now)), GUEST_TTL)

    def session(self, token: Token) -> Cookie:
        """The cookie of a session."""
        return self._hidden(self.session_name, token.as_session(), SESSION_TTL)

    def language(self, chosen: Language) -> Cookie:
        """The cookie of the chosen language, which the pages read."""
        max_age = _LANGUAGE_TTL // SECOND
        return Cookie(LANGUAGE, value=chosen, max_age=max_age, secure=self._secure, samesite="lax")

    def no_guest(self) -> Cookie:
        """Deletes the cookie of a guest."""
        return self._hidden(self.guest_name, "", 0)

    def no_session(self) -> Cookie:
        """Deletes the cookie of a session."""
        return self._hidden(self.session_name, "", 0)

    def guest_in(self, cookies: Mapping[str, str], now: Millis) -> GuestToken | None:
        """The guest in a browser's cookies."""
        return self._guests.read(cookies.get(self.guest_name), now)

    def session_in(self, cookies: Mapping[str, str]) -> Token | None:
        """The session in a browser's cookies."""
        return session_token(cookies.get(self.session_name))

    def _hidden(self, name: str, value: str, ttl: Millis) -> Cookie:
        return HiddenCookie(
            name, value=value, max_age=ttl // SECOND, secure=self._secure, httponly=True, samesite="lax"
        )


def language_in(cookies: Mapping[str, str]) -> Language | None:
    """The language in a browser's cookies."""
    value = cookies.get(LANGUAGE)
    return next((language for language in _LANGUAGES if language == value), None)
