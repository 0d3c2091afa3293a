"""What all rooms of one process share, and the names of their channels on the bus."""

from random import Random

import msgspec

from zataku.background_tasks import BackgroundTasks
from zataku.clock import Clock
from zataku.realtime.bus.client import BusClient
from zataku.realtime.rooms.leases import RoomLeases
from zataku.realtime.sockets.hub import Hub


class RoomContext(msgspec.Struct, frozen=True, kw_only=True):
    """The process in which rooms run. `process` is its name, a new one at every start."""

    process: str
    clock: Clock
    random: Random
    bus: BusClient
    hub: Hub
    leases: RoomLeases
    background: BackgroundTasks

    @property
    def is_alone(self) -> bool:
        """True when there is no other process."""
        return self.bus.is_alone


class RoomMoved(Exception):
    """This process does not run the room: the caller has to find its owner.

    `maybe_executed` says that the command may have been executed all the same.
    """

    def __init__(self, *, maybe_executed: bool = False) -> None:
        super().__init__("The room is run by another process, or by none.")
        self.maybe_executed = maybe_executed


def room_channel(topic: str) -> str:
    """The channel on which the owner of a room publishes its updates."""
    return f"room/{topic}"


def process_channel(process: str) -> str:
    """The channel on which a process receives calls and replies."""
    return f"process/{process}"
