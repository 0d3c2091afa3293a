"""What live rooms show on the home page: how many run now, and how many people are in them."""

import msgspec

from zataku.platform.identity import Identity
from zataku.system import Home, House


class LiveHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Rooms that run now in any process, and the people in all of them."""

    rooms: int
    people: int


def home_of(house: House) -> Home:
    """The same for everybody. Nothing is read: the processes tell each other."""

    async def home(_who: Identity) -> LiveHome:
        running = house.rooms.running("live")
        return LiveHome(rooms=len(running), people=sum(running.values()))

    return home
