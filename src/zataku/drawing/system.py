"""The drawing game, plugged into the server."""

from collections.abc import Sequence

from zataku.drawing.demo import demo_of
from zataku.drawing.design import esiritori
from zataku.drawing.home import home_of
from zataku.drawing.jobs import CONSUMER, cap_chat
from zataku.drawing.removal import removal
from zataku.jobs.definitions import StreamConsumer
from zataku.system import AppContext, System
from zataku.table import Change


def plug(context: AppContext) -> System:
    """Everything that the drawing game brings."""

    async def keep_chat_short(changes: Sequence[Change]) -> None:
        await cap_chat(context.store, changes)

    return System(
        name="drawing",
        tables=(esiritori,),
        stream_consumers=(StreamConsumer(name=CONSUMER, table=esiritori, handle=keep_chat_short),),
        home=home_of(context),
        remove=removal(context),
        demo=demo_of(context),
    )
