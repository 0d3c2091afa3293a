"""Secrets and tokens: values that only their owner may see, which printing and logging never show.

A token carries the id of its account with the secret, so that account and session or key are read by their keys.
Parsing never raises: a text that is not a token gives None.
"""

import re
import secrets
from hashlib import sha256
from itertools import pairwise

import msgspec

from zataku.platform.limits import AccountId
from zataku.table import UUID_PATTERN

SECRET_BYTES = 32
_SECRET_PATTERN = "[A-Za-z0-9_-]{43}"
_SESSION_TOKEN = re.compile(rf"({UUID_PATTERN})\.({_SECRET_PATTERN})")
_KEY_TOKEN = re.compile(rf"zk_([0-9a-f]{{32}})_({_SECRET_PATTERN})")
_UUID_PARTS = (0, 8, 12, 16, 20, 32)


class Secret:
    """A password, token or key. Its text is read by `reveal` only, so that each use can be found."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    @classmethod
    def generate(cls) -> "Secret":
        """A new secret of 256 random bits, in characters that fit into a cookie."""
        return cls(secrets.token_urlsafe(SECRET_BYTES))

    def reveal(self) -> str:
        """The text itself."""
        return self._text

    def digest(self) -> str:
        """The SHA-256 that is stored of a generated secret. It is too fast for passwords, which have fewer bits."""
        return sha256(self._text.encode()).hexdigest()

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__


class Token(msgspec.Struct, frozen=True):
    """A secret with the account that it belongs to."""

    account_id: AccountId
    secret: Secret

    @classmethod
    def generate(cls, account_id: AccountId) -> "Token":
        """A new token."""
        return cls(account_id, Secret.generate())

    def as_session(self) -> str:
        """The value of a session cookie."""
        return f"{self.account_id}.{self.secret.reveal()}"

    def as_key(self) -> str:
        """The text of an API key."""
        return f"zk_{self.account_id.replace('-', '')}_{self.secret.reveal()}"


def session_token(text: str | None) -> Token | None:
    """The token in the value of a session cookie."""
    match = _SESSION_TOKEN.fullmatch(text or "")
    return Token(AccountId(match[1]), Secret(match[2])) if match else None


def key_token(text: str) -> Token | None:
    """The token in the text of an API key."""
    match = _KEY_TOKEN.fullmatch(text)
    if match is None:
        return None
    digits = match[1]
    uuid = "-".join(digits[start:end] for start, end in pairwise(_UUID_PARTS))
    return Token(AccountId(uuid), Secret(match[2])) if re.fullmatch(UUID_PATTERN, uuid) else None
