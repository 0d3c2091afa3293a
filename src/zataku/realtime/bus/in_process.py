"""The bus of a server that is one process, and a network of such buses for several servers in one process."""

import asyncio
from collections import deque

from zataku.realtime.bus.port import OnGap, OnMessage


class InProcessNetwork:
    """Connected buses in one process."""

    def __init__(self) -> None:
        self._buses: list[InProcessBus] = []

    def bus(self) -> "InProcessBus":
        """A new bus on this network."""
        return InProcessBus(self)

    def connect(self, bus: "InProcessBus") -> None:
        """Add a bus that has started."""
        self._buses.append(bus)

    def disconnect(self, bus: "InProcessBus") -> None:
        """Remove a bus that has stopped."""
        self._buses.remove(bus)

    def publish(self, channel: str, message: bytes) -> None:
        """Give a message to all buses."""
        for bus in self._buses:
            bus.enqueue(channel, message)


class InProcessBus:
    """Channels within this process. Messages arrive in the order of sending, in a later turn of the event loop."""

    def __init__(self, network: InProcessNetwork | None = None) -> None:
        self.is_alone = network is None
        self._network = network or InProcessNetwork()
        self._channels: set[str] = set()
        self._queue: deque[tuple[str, bytes]] = deque()
        self._on_message: OnMessage | None = None

    async def start(self, on_message: OnMessage, on_gap: OnGap) -> None:  # noqa: ARG002 - no message is ever lost here
        """Connect to the network."""
        self._on_message = on_message
        self._network.connect(self)

    async def subscribe(self, channel: str) -> None:
        """Subscribe to a channel."""
        self._channels.add(channel)

    async def unsubscribe(self, channel: str) -> None:
        """Unsubscribe from a channel."""
        self._channels.discard(channel)

    def publish(self, channel: str, message: bytes) -> None:
        """Send to all subscribers of the channel on the network."""
        self._network.publish(channel, message)

    def enqueue(self, channel: str, message: bytes) -> None:
        """Take a message of the network, to be delivered in the next turn of the event loop."""
        if channel not in self._channels:
            return
        if not self._queue:
            asyncio.get_running_loop().call_soon(self._deliver)
        self._queue.append((channel, message))

    async def stop(self) -> None:
        """Deliver what is queued, and disconnect."""
        if self._on_message is not None:
            self._network.disconnect(self)
            self._deliver()
            self._on_message = None

    def _deliver(self) -> None:
        while self._queue and self._on_message is not None:
            self._on_message(*self._queue[0])
            self._queue.popleft()
