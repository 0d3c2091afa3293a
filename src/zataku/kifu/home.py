"""What the record library shows on the home page: how many records the caller has, and the latest."""

import msgspec

from zataku.kifu.design import records_by_update, user_settings
from zataku.kifu.ids import library_of_account
from zataku.kifu.limits import KifuId
from zataku.platform.identity import Identity
from zataku.system import AppContext, Home

SHOWN = 3


class HomeRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A record by the last part of its path."""

    id: KifuId
    title: str


class KifuHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many records the caller has, and the three that changed last."""

    count: int = 0
    latest: list[HomeRecord] = []


def home_of(context: AppContext) -> Home:
    """The caller's own, for 1.5 read units; nothing is read for a guest who has not kept anything."""

    async def home(who: Identity) -> KifuHome:
        if not who.is_stored:
            return KifuHome()
        username = library_of_account(who.account_id)
        settings = await context.store.get(user_settings(username))
        if settings is None or not settings.kifu_count:
            return KifuHome()
        page = await context.store.page(records_by_update(username), limit=SHOWN)
        latest = [HomeRecord(id=it.kifu_id, title=it.slug.rsplit("/", 1)[-1]) for it in page.items]
        return KifuHome(count=settings.kifu_count, latest=latest)

    return home
