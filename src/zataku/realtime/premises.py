"""What all rooms of a process share."""

from random import Random

import msgspec

from zataku.clock import Clock
from zataku.realtime.chores import Chores
from zataku.realtime.exchange import Exchange
from zataku.realtime.hub import Hub
from zataku.realtime.leases import Leases


class Premises(msgspec.Struct, frozen=True, kw_only=True):
    """The process that rooms run in. `process` is its name, another one at each start."""

    process: str
    clock: Clock
    random: Random
    exchange: Exchange
    hub: Hub
    leases: Leases
    chores: Chores

    @property
    def alone(self) -> bool:
        """True when there is no other process."""
        return self.exchange.alone


def room_channel(topic: str) -> str:
    """Where the owner of a room tells what happens in it."""
    return f"room/{topic}"


def process_channel(process: str) -> str:
    """Where a process hears what is asked of it."""
    return f"process/{process}"
