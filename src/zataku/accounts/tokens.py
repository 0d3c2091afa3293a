"""What people and programs carry: the id of the account beside a secret, so that both are found by their keys.

Reading one never fails: what is no token gives None.
"""

import re
from itertools import pairwise

import msgspec

from zataku.accounts.secrets import Secret
from zataku.platform.limits import AccountId
from zataku.table import UUID_PATTERN

_SECRET_FORM = "[A-Za-z0-9_-]{43}"
_SESSION = re.compile(rf"({UUID_PATTERN})\.({_SECRET_FORM})")
_KEY = re.compile(rf"zk_([0-9a-f]{{32}})_({_SECRET_FORM})")
_UUID_PARTS = (0, 8, 12, 16, 20, 32)


class Token(msgspec.Struct, frozen=True):
    """One secret of one account."""

    account_id: AccountId
    secret: Secret

    @classmethod
    def made(cls, account_id: AccountId) -> "Token":
        """A new one."""
        return cls(account_id, Secret.made())

    def as_session(self) -> str:
        """As it stands in the cookie of a session."""
        return f"{self.account_id}.{self.secret.revealed()}"

    def as_key(self) -> str:
        """As it stands in the settings of a program."""
        return f"zk_{self.account_id.replace('-', '')}_{self.secret.revealed()}"


def session_token(text: str | None) -> Token | None:
    """The token in the cookie of a session."""
    found = _SESSION.fullmatch(text or "")
    return Token(AccountId(found[1]), Secret(found[2])) if found else None


def key_token(text: str) -> Token | None:
    """The token in an API key."""
    found = _KEY.fullmatch(text)
    if found is None:
        return None
    digits = found[1]
    uuid = "-".join(digits[start:end] for start, end in pairwise(_UUID_PARTS))
    return Token(AccountId(uuid), Secret(found[2])) if re.fullmatch(UUID_PATTERN, uuid) else None
