"""What the drawing game shows on the home page: how many rooms wait for players."""

import msgspec

from zataku.drawing.design import waiting_games
from zataku.platform.identity import Identity
from zataku.system import AppContext, Home

MAX_COUNTED = 100


class DrawingHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Public rooms that somebody can join, counted up to 100."""

    open_rooms: int


def home_of(context: AppContext) -> Home:
    """The same for everybody, for 1 read unit with 50 rooms."""

    async def home(_who: Identity) -> DrawingHome:
        page = await context.store.page(waiting_games(), limit=MAX_COUNTED)
        return DrawingHome(open_rooms=len(page.items))

    return home
