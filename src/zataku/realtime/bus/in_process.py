"""The bus of a server that is one process, and a network of such buses for several servers in one process."""

import asyncio
from collections import deque

from zataku.realtime.bus.port import Hear, Missed


class InProcessNetwork:
    """Buses that hear each other, in one process."""

    def __init__(self) -> None:
        self._buses: list[InProcessBus] = []

    def bus(self) -> "InProcessBus":
        """One more bus on this network."""
        return InProcessBus(self)

    def join(self, bus: "InProcessBus") -> None:
        """A bus has started."""
        self._buses.append(bus)

    def leave(self, bus: "InProcessBus") -> None:
        """A bus has stopped."""
        self._buses.remove(bus)

    def carry(self, channel: str, message: bytes) -> None:
        """Bring a message to everybody who hears its channel."""
        for bus in self._buses:
            bus.bring(channel, message)


class InProcessBus:
    """Channels within this process. Messages are heard in the order they were sent, just after the sender went on."""

    def __init__(self, network: InProcessNetwork | None = None) -> None:
        self.alone = network is None
        self._network = network or InProcessNetwork()
        self._channels: set[str] = set()
        self._under_way: deque[tuple[str, bytes]] = deque()
        self._hear: Hear | None = None

    async def start(self, hear: Hear, missed: Missed) -> None:  # noqa: ARG002 - nothing is ever lost here
        """Begin to hear."""
        self._hear = hear
        self._network.join(self)

    async def subscribe(self, channel: str) -> None:
        """Hear a channel."""
        self._channels.add(channel)

    async def unsubscribe(self, channel: str) -> None:
        """Hear it no more."""
        self._channels.discard(channel)

    def publish(self, channel: str, message: bytes) -> None:
        """Send to everybody on the network who hears the channel."""
        self._network.carry(channel, message)

    def bring(self, channel: str, message: bytes) -> None:
        """Take a message that somebody sent, to be heard in a moment: nobody is interrupted by what they send."""
        if channel not in self._channels:
            return
        if not self._under_way:
            asyncio.get_running_loop().call_soon(self._deliver)
        self._under_way.append((channel, message))

    async def stop(self) -> None:
        """Hear what is under way, and end."""
        if self._hear is not None:
            self._network.leave(self)
            self._deliver()
            self._hear = None

    def _deliver(self) -> None:
        while self._under_way and self._hear is not None:
            self._hear(*self._under_way[0])
            self._under_way.popleft()
