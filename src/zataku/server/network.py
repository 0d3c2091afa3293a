"""What joins people who are here at the same moment: sockets, topics, rooms, and the bus between processes."""

from contextlib import AsyncExitStack
from random import Random

import msgspec

from zataku.clock import Clock
from zataku.realtime.doorway import Doorway
from zataku.realtime.exchange import Exchange
from zataku.realtime.limits import Limits
from zataku.realtime.port import open_bus
from zataku.realtime.registry import Rooms
from zataku.realtime.topics import Topics
from zataku.server.settings import Settings
from zataku.server.sockets.connections import ConnectionHub, SignOutBroadcast
from zataku.table import Store


class Network(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of it, joined together."""

    hub: ConnectionHub
    topics: Topics
    rooms: Rooms
    doorway: Doorway
    farewells: SignOutBroadcast


async def open_network(
    settings: Settings, store: Store, clock: Clock, random: Random, process: str, closing: AsyncExitStack
) -> Network:
    """Join them. Rooms begin when the systems have said how theirs behave."""
    exchange = Exchange(open_bus(settings.bus, clock))
    await exchange.start()
    closing.push_async_callback(exchange.stop)
    limits = Limits(per_identity=settings.sockets_per_account, per_address=settings.sockets_per_address)
    hub = ConnectionHub(clock, random, limits)
    topics = Topics(exchange=exchange, hub=hub)
    rooms = Rooms(store=store, clock=clock, random=random, process=process, exchange=exchange, hub=hub)
    farewells = SignOutBroadcast(hub, exchange)
    await farewells.start()
    return Network(hub=hub, topics=topics, rooms=rooms, doorway=Doorway(rooms, topics), farewells=farewells)
