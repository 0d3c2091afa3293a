"""What all rooms of a process share."""

from random import Random

import msgspec

from zataku.background_tasks import BackgroundTasks
from zataku.clock import Clock
from zataku.realtime.bus.client import BusClient
from zataku.realtime.rooms.leases import RoomLeases
from zataku.realtime.sockets.hub import Hub


class RoomContext(msgspec.Struct, frozen=True, kw_only=True):
    """The process that rooms run in. `process` is its name, another one at each start."""

    process: str
    clock: Clock
    random: Random
    bus: BusClient
    hub: Hub
    leases: RoomLeases
    background: BackgroundTasks

    @property
    def alone(self) -> bool:
        """True when there is no other process."""
        return self.bus.alone


def room_channel(topic: str) -> str:
    """Where the owner of a room tells what happens in it."""
    return f"room/{topic}"


def process_channel(process: str) -> str:
    """Where a process hears what is asked of it."""
    return f"process/{process}"
