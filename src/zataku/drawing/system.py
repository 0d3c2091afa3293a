"""Registration of the drawing game with the server."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from zataku.drawing.demo import demo_of
from zataku.drawing.design import esiritori, waiting_games
from zataku.drawing.jobs import CONSUMER, cap_chat
from zataku.drawing.removal import removal
from zataku.jobs.definitions import StreamConsumer
from zataku.platform.identity import Identity
from zataku.system import AppContext, Home, Page, Plugin, System
from zataku.table import Change

MAX_COUNTED_ROOMS = 100


class DrawingHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The number of public rooms that wait for players, counted up to 100."""

    open_rooms: int


def home_of(context: AppContext) -> Home:
    """The home card, the same for every caller, for 1 read unit with 50 rooms."""

    async def home(_identity: Identity) -> DrawingHome:
        page = await context.store.page(waiting_games(), limit=MAX_COUNTED_ROOMS)
        return DrawingHome(open_rooms=len(page.items))

    return home


def plug(context: AppContext) -> Plugin:
    """The plugin of the drawing game, bound to the server's context."""

    async def handle_changes(changes: Sequence[Change]) -> None:
        await cap_chat(context.store, changes)

    return Plugin(
        stream_consumers=(StreamConsumer(name=CONSUMER, table=esiritori, handle=handle_changes),),
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
