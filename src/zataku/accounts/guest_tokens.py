"""A guest's mark: an id that this server gave out, signed, so that nobody can make one up or take another's.

Nothing is stored for it. It holds for 90 days after it was made, and is made anew while its guest keeps coming.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from hashlib import sha256

import msgspec

from zataku.platform.limits import GUEST_TTL, HOUR, AccountId
from zataku.table import UUID_PATTERN, Millis

_MARK = re.compile(rf"1\.({UUID_PATTERN})\.([0-9]{{1,15}})\.([A-Za-z0-9_-]{{43}})")
_PURPOSE = b"zataku/accounts/guest-mark/1"
# Two servers of one community may disagree about the time by a little, not by more.
_AHEAD = HOUR


class GuestToken(msgspec.Struct, frozen=True):
    """Who a guest is, and since when their mark holds."""

    account_id: AccountId
    issued_at: Millis


class GuestTokenSigner:
    """Makes marks and tells its own from others."""

    def __init__(self, secret: bytes) -> None:
        # A key of its own: what is signed here can never pass for anything else signed with the store's secret.
        self._key = hmac.digest(secret, _PURPOSE, sha256)

    def made(self, mark: GuestToken) -> str:
        """The mark as a text."""
        said = f"1.{mark.account_id}.{mark.issued_at}"
        return f"{said}.{self._signature(said)}"

    def read(self, text: str | None, now: Millis) -> GuestToken | None:
        """The mark in a text; None for anything else, and for one that is too old."""
        found = _MARK.fullmatch(text or "")
        if found is None:
            return None
        said, _, signature = found[0].rpartition(".")
        if not hmac.compare_digest(signature, self._signature(said)):
            return None
        issued_at = int(found[2])
        return GuestToken(AccountId(found[1]), issued_at) if -_AHEAD <= now - issued_at < GUEST_TTL else None

    def _signature(self, said: str) -> str:
        return urlsafe_b64encode(hmac.digest(self._key, said.encode(), sha256)).rstrip(b"=").decode()
