"""The record library as the server knows it."""

from collections.abc import Sequence
from pathlib import Path

from zataku.jobs.definitions import StreamConsumer
from zataku.kifu.cleanup import CONSUMER, clean_up_after
from zataku.kifu.design import kifu_table
from zataku.kifu.home import KifuHome, home_of
from zataku.kifu.removal import removal
from zataku.system import AppContext, Page, Plugin, System
from zataku.table import Change


def plug(context: AppContext) -> Plugin:
    """The record library, wired. Records are private, so it has no demo."""

    async def consume_changes(changes: Sequence[Change]) -> None:
        for change in changes:
            await clean_up_after(context.store, change)

    return Plugin(
        stream_consumers=(StreamConsumer(name=CONSUMER, table=kifu_table, handle=consume_changes),),
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
