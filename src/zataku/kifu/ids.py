"""New ids, made with the Random that is passed in."""

from random import Random

from zataku.kifu.limits import AnalysisId, KifuId, ShareCode, TagId, UserName
from zataku.platform.limits import AccountId

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# Crockford's base 32: in the order of ASCII, without letters that pass for others.
_BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def _random_text(random: Random, count: int, signs: str = _BASE62) -> str:
    return "".join(random.choices(signs, k=count))


def new_kifu_id(random: Random) -> KifuId:
    """The id of a new record: 16 signs, 95 bits. It is unique among all users' records."""
    return KifuId(_random_text(random, 16))


def new_tag_id(random: Random) -> TagId:
    """The id of a new tag: 16 signs, 95 bits."""
    return TagId(_random_text(random, 16))


def new_share_code(random: Random) -> ShareCode:
    """The code of a new share link: 22 signs, 130 bits, so that nobody finds one by trying."""
    return ShareCode(_random_text(random, 22))


def new_analysis_id(random: Random, millis: int) -> AnalysisId:
    """The id of an analysis asked for at this moment; ids sort by their moments up to the year 10889."""
    if not 0 <= millis < 1 << 48:
        raise ValueError("The moment is a number of milliseconds since 1970.")
    time = "".join(_BASE32[millis >> shift & 31] for shift in range(45, -1, -5))
    return AnalysisId(time + _random_text(random, 16, _BASE32))


def library_of_account(account_id: AccountId) -> UserName:
    """The user name under which the table keeps an account's library: the account's id without hyphens.

    A display name may change, and may have characters that a key does not allow.
    """
    return UserName(account_id.replace("-", ""))
