"""Live rooms, plugged into the server."""

from zataku.live import messages as said
from zataku.live.api import live_routes
from zataku.live.archive.api import after_routes
from zataku.live.connections import ConnectionTracker
from zataku.live.design import TABLES
from zataku.live.home import home_of
from zataku.live.removal import removal
from zataku.live.room import LiveRoom
from zataku.live.service import LiveRooms
from zataku.system import AppContext, System


def plug(context: AppContext) -> System:
    """Everything that live rooms bring."""
    rooms = LiveRooms(context)
    attendance = ConnectionTracker(context.store, context.clock, context.node)
    return System(
        name="live",
        tables=TABLES,
        routes=(*live_routes(rooms), *after_routes(context)),
        behaviour=LiveRoom(context.store, attendance),
        life=attendance.life,
        messages={"Command": said.Command, "Event": said.Event, "Passing": said.React, "Snapshot": said.Snapshot},
        home=home_of(context),
        remove=removal(context),
        title=rooms.title,
    )
