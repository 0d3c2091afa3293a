"""New ids from a given random source, and the user name of an account's library."""

from random import Random

from zataku.kifu.limits import AnalysisId, KifuId, ShareCode, TagId, UserName
from zataku.platform.limits import AccountId

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# Crockford's base 32: in the order of ASCII, without letters that look like others.
_BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def _random_text(random: Random, count: int, alphabet: str = _BASE62) -> str:
    return "".join(random.choices(alphabet, k=count))


def new_kifu_id(random: Random) -> KifuId:
    """The id of a new record: 16 characters, 95 bits. It is unique among all users' records."""
    return KifuId(_random_text(random, 16))


def new_tag_id(random: Random) -> TagId:
    """The id of a new tag: 16 characters, 95 bits."""
    return TagId(_random_text(random, 16))


def new_share_code(random: Random) -> ShareCode:
    """The code of a new share link: 22 characters, 130 bits, which cannot be guessed."""
    return ShareCode(_random_text(random, 22))


def new_analysis_id(random: Random, millis: int) -> AnalysisId:
    """The id of an analysis requested at a time in milliseconds; ids sort by it up to the year 10889."""
    if not 0 <= millis < 1 << 48:
        raise ValueError("The time is a number of milliseconds since 1970.")
    time = "".join(_BASE32[millis >> shift & 31] for shift in range(45, -1, -5))
    return AnalysisId(time + _random_text(random, 16, _BASE32))


def library_of_account(account_id: AccountId) -> UserName:
    """The user name under which the table stores an account's library: the account's id without hyphens.

    A display name may change, and may have characters that a key does not allow.
    """
    return UserName(account_id.replace("-", ""))
