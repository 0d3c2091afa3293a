"""Live rooms, plugged into the server."""

from zataku.live import messages as said
from zataku.live.api import live_routes
from zataku.live.design import TABLES
from zataku.live.home import home_of
from zataku.live.removal import removal
from zataku.live.service import LiveRooms
from zataku.live.talk import Talks
from zataku.system import House, System


def plug(house: House) -> System:
    """Everything that live rooms bring."""
    rooms = LiveRooms(house.store, house.clock, house.rooms, house.keep)
    return System(
        name="live",
        tables=TABLES,
        routes=live_routes(rooms),
        behaviour=Talks(house.store),
        messages={"Command": said.Command, "Event": said.Event, "Snapshot": said.Snapshot},
        home=home_of(house),
        remove=removal(house),
        title=rooms.title,
    )
