"""The record library, plugged into the server."""

from collections.abc import Sequence

from zataku.jobs.definitions import StreamConsumer
from zataku.kifu.cleanup import CONSUMER, clean_up_after
from zataku.kifu.design import kifu_table
from zataku.kifu.home import home_of
from zataku.kifu.removal import removal
from zataku.system import AppContext, System
from zataku.table import Change


def plug(context: AppContext) -> System:
    """Everything that the record library brings. Records are private, so there is nothing to demonstrate."""

    async def consume_changes(changes: Sequence[Change]) -> None:
        for change in changes:
            await clean_up_after(context.store, change)

    return System(
        name="kifu",
        tables=(kifu_table,),
        stream_consumers=(StreamConsumer(name=CONSUMER, table=kifu_table, handle=consume_changes),),
        home=home_of(context),
        remove=removal(context),
    )
