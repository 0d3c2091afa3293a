"""What the rankings keep of an account: nothing.

Players are those of the game that is ranked, by its own identifiers; no account owns one, and none is looked up by an
account. Whoever imports does so with an API key, which goes with the account itself.
"""

from zataku.platform.limits import AccountId
from zataku.system import AppContext, Remove


def removal(_house: AppContext) -> Remove:
    """Takes away what an account owns in the rankings: there is nothing."""

    async def remove(_account_id: AccountId) -> None:
        return

    return remove
