"""Guest tokens: account ids signed by this server, so that they can be neither invented nor altered.

Nothing is stored for them. A token is valid for 90 days after it was issued, and issued again at later visits. One from
the future is valid, too: the signature says that this server issued it, and its clock was set back since. One that is
more than 90 days ahead keeps its time, or its guest would be lost when the clock is set right.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from hashlib import sha256

import msgspec

from zataku.platform.limits import GUEST_TTL, AccountId
from zataku.table import UUID_PATTERN, Millis

_TOKEN = re.compile(rf"1\.({UUID_PATTERN})\.([0-9]{{1,15}})\.([A-Za-z0-9_-]{{43}})")
_PURPOSE = b"zataku/accounts/guest-mark/1"


class GuestToken(msgspec.Struct, frozen=True):
    """The id of a guest, and when the token was issued."""

    account_id: AccountId
    issued_at: Millis


class GuestTokenSigner:
    """Signs guest tokens and verifies them."""

    def __init__(self, secret: bytes) -> None:
        # A derived key: a signature made here is valid for nothing else that is signed with the store's secret.
        self._key = hmac.digest(secret, _PURPOSE, sha256)

    def sign(self, token: GuestToken) -> str:
        """The text of a token, with its signature."""
        content = f"1.{token.account_id}.{token.issued_at}"
        return f"{content}.{self._signature(content)}"

    def read(self, text: str | None, now: Millis) -> GuestToken | None:
        """The token in a text; None when it is invalid or has expired."""
        match = _TOKEN.fullmatch(text or "")
        if match is None:
            return None
        content, _, signature = match[0].rpartition(".")
        if not hmac.compare_digest(signature, self._signature(content)):
            return None
        issued_at = int(match[2])
        return GuestToken(AccountId(match[1]), issued_at) if now - issued_at < GUEST_TTL else None

    def _signature(self, content: str) -> str:
        return urlsafe_b64encode(hmac.digest(self._key, content.encode(), sha256)).rstrip(b"=").decode()
