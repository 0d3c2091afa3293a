"""Removal of an account from the rankings, which keep nothing of it.

Players are those of the game that is ranked, by its own identifiers; no account owns one, and none is looked up by an
account. Whoever imports does so with an API key, which goes with the account itself.
"""

from zataku.platform.limits import AccountId
from zataku.system import AppContext, Remove


def removal(_context: AppContext) -> Remove:
    """The function that removes what an account owns in the rankings: nothing."""

    async def remove(_account_id: AccountId) -> None:
        return

    return remove
