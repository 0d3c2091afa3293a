"""Registration of the record library with the server."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from zataku.jobs.definitions import StreamConsumer
from zataku.kifu.cleanup import CONSUMER, clean_up_after
from zataku.kifu.design import kifu_table, records_by_update, user_settings
from zataku.kifu.ids import library_of_account
from zataku.kifu.limits import KifuId
from zataku.kifu.removal import removal
from zataku.platform.identity import Identity
from zataku.system import AppContext, Home, Page, Plugin, System
from zataku.table import Change

SHOWN_RECORDS = 3


class HomeRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A record by the last part of its path."""

    id: KifuId
    title: str


class KifuHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The number of the caller's records, and the three that changed last."""

    count: int = 0
    latest: list[HomeRecord] = []


def home_of(context: AppContext) -> Home:
    """The home card of the caller, for 1.5 read units; nothing is read for a guest without an account."""

    async def home(identity: Identity) -> KifuHome:
        if not identity.is_stored:
            return KifuHome()
        username = library_of_account(identity.account_id)
        settings = await context.store.get(user_settings(username))
        if settings is None or not settings.kifu_count:
            return KifuHome()
        page = await context.store.page(records_by_update(username), limit=SHOWN_RECORDS)
        latest = [HomeRecord(id=record.kifu_id, title=record.slug.rsplit("/", 1)[-1]) for record in page.items]
        return KifuHome(count=settings.kifu_count, latest=latest)

    return home


def plug(context: AppContext) -> Plugin:
    """The plugin of the record library, bound to the server's context. Records are private, so there is no demo."""

    async def handle_changes(changes: Sequence[Change]) -> None:
        for change in changes:
            await clean_up_after(context.store, change)

    return Plugin(
        stream_consumers=(StreamConsumer(name=CONSUMER, table=kifu_table, handle=handle_changes),),
        home=home_of(context),
        remove=removal(context),
    )


SYSTEM = System(
    name="kifu",
    about="Shogi records",
    tables=(kifu_table,),
    texts=Path(__file__).with_name("texts.toml"),
    home_card=KifuHome,
    pages=(Page(path="/kifu", component="kifu"),),
    plug=plug,
)
