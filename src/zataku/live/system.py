"""Live rooms as the server knows them."""

from pathlib import Path

import msgspec

from zataku.live import messages
from zataku.live.api import live_routes
from zataku.live.archive.api import archive_routes
from zataku.live.demo import DEMO_ROOM, demo_of
from zataku.live.design import TABLES
from zataku.live.functions.connections import ConnectionTracker
from zataku.live.functions.rooms import GetUserRoomsFunction
from zataku.live.limits import HostId
from zataku.live.removal import removal
from zataku.live.room import LiveRoom
from zataku.live.service import LiveRooms
from zataku.platform.identity import Identity
from zataku.system import AppContext, Document, Home, Page, Plugin, System


class LiveHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The number of rooms that run now in any process, and of the people in them.

    `ended` counts the ended ones of the caller's 50 latest rooms; `demo` is the name of the demo's room.
    """

    rooms: int
    people: int
    ended: int = 0
    demo: str | None = None


def home_of(context: AppContext) -> Home:
    """The home card. Processes publish their running rooms to each other; the rooms of a caller are read.

    It costs half a read unit for the demo, and up to 1.5 for a caller who has an account.
    """
    rooms = GetUserRoomsFunction(context.store)

    async def home(identity: Identity) -> LiveHome:
        running = context.rooms.running("live")
        own = (await rooms(HostId(identity.account_id), None)).items if identity.is_stored else []
        demo = await rooms.find_open(DEMO_ROOM)
        return LiveHome(
            rooms=len(running),
            people=sum(running.values()),
            ended=sum(room.status == "CLOSED" for room in own),
            demo=None if demo is None else demo.name,
        )

    return home


OVERLAY = Document(template=Path(__file__).with_name("overlay.html"), entry="src/overlay/main.ts")


def plug(context: AppContext) -> Plugin:
    """Live rooms, wired."""
    rooms = LiveRooms(context)
    connections = ConnectionTracker(context.store, context.clock, context.node)
    return Plugin(
        routes=(*live_routes(rooms), *archive_routes(context)),
        room=LiveRoom(context.store, connections),
        lifespan=connections.lifespan,
        home=home_of(context),
        remove=removal(context),
        page_title=rooms.title,
        demo=demo_of(context),
    )


SYSTEM = System(
    name="live",
    about="Live comment rooms",
    tables=TABLES,
    texts=Path(__file__).with_name("texts.toml"),
    home_card=LiveHome,
    pages=(
        Page(path="/live", component="live"),
        Page(path="/live/{room_id}", component="live", is_room=True, title_from="room_id"),
        Page(path="/live/{room_id}/overlay", component="live", title_from="room_id", document=OVERLAY),
        # Short enough to type off a slide: the page finds the room and opens its address.
        Page(path="/l/{code}", component="live", is_room=True),
    ),
    messages={
        "Command": messages.Command,
        "Event": messages.Event,
        "Transient": messages.React,
        "Snapshot": messages.Snapshot,
    },
    plug=plug,
)
