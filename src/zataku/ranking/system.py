"""Registration of the rankings with the server."""

from pathlib import Path

import msgspec

from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.ranking.demo import demo_of
from zataku.ranking.design import TABLES, newest_day, official_levels
from zataku.ranking.limits import Date
from zataku.system import AppContext, Home, Page, Plugin, System

SHOWN_PLAYERS = 3


class RankingHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The newest published day, and the names of the first three by level. Null while no day is published."""

    day: Date | None = None
    first: list[str] = []


def home_of(context: AppContext) -> Home:
    """The home card, the same for every caller, for 1 read unit."""

    async def home(_identity: Identity) -> RankingHome:
        newest = await context.store.first(newest_day())
        if newest is None:
            return RankingHome()
        page = await context.store.page(official_levels(newest.date), limit=SHOWN_PLAYERS)
        return RankingHome(day=newest.date, first=[row.name for row in page.items])

    return home


async def remove_account(_account_id: AccountId) -> None:
    """Remove what an account owns in the rankings: nothing.

    Players are identified by the identifiers of the ranked game, and no account owns one. Imports use an API key, which
    is removed with the account itself.
    """


def plug(context: AppContext) -> Plugin:
    """The plugin of the rankings, bound to the server's context."""
    return Plugin(home=home_of(context), remove=remove_account, demo=demo_of(context))


SYSTEM = System(
    name="ranking",
    about="Daily rankings of players",
    tables=TABLES,
    texts=Path(__file__).with_name("texts.toml"),
    home_card=RankingHome,
    pages=(Page(path="/ranking", component="ranking"),),
    plug=plug,
)
