"""What live rooms show on the home page: how many run now, and how many people are in them."""

import msgspec

from zataku.platform.identity import Identity
from zataku.system import AppContext, Home


class LiveHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Rooms that run now in any process, and the people in all of them."""

    rooms: int
    people: int


def home_of(context: AppContext) -> Home:
    """The same for everybody. Nothing is read: the processes tell each other."""

    async def home(_who: Identity) -> LiveHome:
        running = context.rooms.running("live")
        return LiveHome(rooms=len(running), people=sum(running.values()))

    return home
