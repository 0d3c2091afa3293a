"""What joins people who are here at the same moment: sockets, topics, rooms, and the bus between processes."""

from contextlib import AsyncExitStack
from random import Random

import msgspec

from zataku.clock import Clock
from zataku.realtime.bus.client import BusClient
from zataku.realtime.bus.port import open_bus
from zataku.realtime.rooms.registry import RoomRegistry
from zataku.realtime.router import SocketRouter
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.topics import Topics
from zataku.server.settings import Settings
from zataku.server.sockets.connections import ConnectionHub, SignOutBroadcast
from zataku.table import Store


class Network(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of it, joined together."""

    hub: ConnectionHub
    topics: Topics
    rooms: RoomRegistry
    doorway: SocketRouter
    farewells: SignOutBroadcast


async def open_network(
    settings: Settings, store: Store, clock: Clock, random: Random, process: str, closing: AsyncExitStack
) -> Network:
    """Join them. Rooms begin when the systems have said how theirs behave."""
    bus = BusClient(open_bus(settings.bus, clock))
    await bus.start()
    closing.push_async_callback(bus.stop)
    limits = SocketLimits(per_identity=settings.sockets_per_account, per_address=settings.sockets_per_address)
    hub = ConnectionHub(clock, random, limits)
    topics = Topics(bus=bus, hub=hub)
    rooms = RoomRegistry(store=store, clock=clock, random=random, process=process, bus=bus, hub=hub)
    farewells = SignOutBroadcast(hub, bus)
    await farewells.start()
    return Network(hub=hub, topics=topics, rooms=rooms, doorway=SocketRouter(rooms, topics), farewells=farewells)
