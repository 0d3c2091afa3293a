"""Whose library it is: an account's, under a name that the account keeps whatever it calls itself."""

from zataku.kifu.limits import UserName
from zataku.platform.limits import AccountId


def library_of_account(account_id: AccountId) -> UserName:
    """The name under which the table keeps an account's library: its id without hyphens, the longest that fits.

    What people call themselves may change, and may have letters that a key here does not take.
    """
    return UserName(account_id.replace("-", ""))
