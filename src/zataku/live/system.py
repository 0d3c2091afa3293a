"""Live rooms as the server knows them."""

from pathlib import Path

import msgspec

from zataku.live import messages
from zataku.live.api import live_routes
from zataku.live.archive.api import archive_routes
from zataku.live.design import TABLES
from zataku.live.functions.connections import ConnectionTracker
from zataku.live.removal import removal
from zataku.live.room import LiveRoom
from zataku.live.service import LiveRooms
from zataku.platform.identity import Identity
from zataku.system import AppContext, Document, Home, Page, Plugin, System


class LiveHome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The number of rooms that run now in any process, and of the people in them."""

    rooms: int
    people: int


def home_of(context: AppContext) -> Home:
    """The home card, the same for every caller. Nothing is read: processes publish their rooms to each other."""

    async def home(_identity: Identity) -> LiveHome:
        running = context.rooms.running("live")
        return LiveHome(rooms=len(running), people=sum(running.values()))

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
