"""The card of live rooms on the home page: how many run now, and how many people are in them."""

import msgspec

from zataku.platform.identity import Identity
from zataku.system import AppContext, Home


class LiveHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The number of rooms that run now in any process, and of the people in them."""

    rooms: int
    people: int


def home_of(context: AppContext) -> Home:
    """Returns the card, the same for every caller. Nothing is read: processes publish their rooms to each other."""

    async def home(_identity: Identity) -> LiveHome:
        running = context.rooms.running("live")
        return LiveHome(rooms=len(running), people=sum(running.values()))

    return home
