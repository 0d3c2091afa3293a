"""Removal of an account from the rankings, which store nothing about accounts.

Players are identified by the identifiers of the ranked game, and no account owns one. Imports use an API key, which is
removed with the account itself.
"""

from zataku.platform.limits import AccountId
from zataku.system import AppContext, Remove


def removal(_context: AppContext) -> Remove:
    """The function that removes what an account owns in the rankings: nothing."""

    async def remove(_account_id: AccountId) -> None:
        return

    return remove
