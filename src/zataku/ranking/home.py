"""The card of the rankings on the home page: the first three of the newest day."""

import msgspec

from zataku.platform.identity import Identity
from zataku.ranking.design import newest_day, official_levels
from zataku.ranking.limits import Date
from zataku.system import AppContext, Home

SHOWN_PLAYERS = 3


class RankingHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The newest published day, and the names of the first three by level. Null while no day is published."""

    day: Date | None = None
    first: list[str] = []


def home_of(context: AppContext) -> Home:
    """Returns the card, the same for every caller, for 1 read unit."""

    async def home(_identity: Identity) -> RankingHome:
        newest = await context.store.first(newest_day())
        if newest is None:
            return RankingHome()
        page = await context.store.page(official_levels(newest.date), limit=SHOWN_PLAYERS)
        return RankingHome(day=newest.date, first=[row.name for row in page.items])

    return home
