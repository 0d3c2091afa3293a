"""Secrets: what only their owner may see. Printing one, or writing it into a log, shows nothing of it."""

import secrets
from hashlib import sha256

SECRET_BYTES = 32


class Secret:
    """A password, token or key. Whoever needs the text asks for it by name, so that each use can be found."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    @classmethod
    def made(cls) -> "Secret":
        """A new one of 256 random bits, in characters that fit into a cookie."""
        return cls(secrets.token_urlsafe(SECRET_BYTES))

    def revealed(self) -> str:
        """The text itself."""
        return self._text

    def hashed(self) -> str:
        """What is stored of a random secret. It has 256 bits, so that nobody finds it by trying; passwords do not."""
        return sha256(self._text.encode()).hexdigest()

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__
