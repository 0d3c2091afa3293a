"""The card of the drawing game on the home page: the number of rooms that wait for players."""

import msgspec

from zataku.drawing.design import waiting_games
from zataku.platform.identity import Identity
from zataku.system import AppContext, Home

MAX_COUNTED_ROOMS = 100


class DrawingHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The number of public rooms with a free seat, counted up to 100."""

    open_rooms: int


def home_of(context: AppContext) -> Home:
    """Returns the card, the same for every caller, for 1 read unit with 50 rooms."""

    async def home(_identity: Identity) -> DrawingHome:
        page = await context.store.page(waiting_games(), limit=MAX_COUNTED_ROOMS)
        return DrawingHome(open_rooms=len(page.items))

    return home
