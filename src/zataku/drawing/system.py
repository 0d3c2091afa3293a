"""The drawing game as the server knows it."""

from collections.abc import Sequence
from pathlib import Path

from zataku.drawing.demo import demo_of
from zataku.drawing.design import esiritori
from zataku.drawing.home import DrawingHome, home_of
from zataku.drawing.jobs import CONSUMER, cap_chat
from zataku.drawing.removal import removal
from zataku.jobs.definitions import StreamConsumer
from zataku.system import AppContext, Page, Plugin, System
from zataku.table import Change


def plug(context: AppContext) -> Plugin:
    """The drawing game, wired."""

    async def keep_chat_short(changes: Sequence[Change]) -> None:
        await cap_chat(context.store, changes)

    return Plugin(
        stream_consumers=(StreamConsumer(name=CONSUMER, table=esiritori, handle=keep_chat_short),),
        home=home_of(context),
        remove=removal(context),
        demo=demo_of(context),
    )


SYSTEM = System(
    name="drawing",
    about="The drawing game",
    tables=(esiritori,),
    texts=Path(__file__).with_name("texts.toml"),
    home_card=DrawingHome,
    pages=(Page(path="/drawing", component="drawing"),),
    plug=plug,
)
