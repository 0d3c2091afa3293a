"""A connection in memory that records its writes, with a backlog that a test controls."""

import asyncio
from random import Random

from websockets.frames import Opcode
from websockets.protocol import OPEN, Protocol, Side

from tests.realtime.sockets.socket_server import guest
from tests.support.manual_clock import ManualClock
from zataku.realtime.sockets.connection import FrameCounter
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket


def frames_in(written: bytes) -> list[tuple[Opcode, bytes]]:
    """Opcode and payload of each frame, as a client's side of the websockets library reads them."""
    client = Protocol(Side.CLIENT, state=OPEN, max_size=None)
    client.receive_data(written)
    assert client.parser_exc is None
    return [(frame.opcode, bytes(frame.data)) for frame in client.events_received()]  # type: ignore[union-attr]


class MemoryConnection:
    """The writes to a connection; a `stuck` one reads nothing until `drain`."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.stuck = False
        self.backlog = 0
        self.is_active = False
        self.code: int | None = None
        self.pauses: list[float] = []
        self.writes_after_close = 0

    def write(self, framed: bytes, /) -> None:
        if self.code is not None:
            self.writes_after_close += 1
            return
        self.writes.append(framed)
        if self.stuck:
            self.backlog += len(framed)

    @property
    def has_backlog(self) -> bool:
        return self.backlog > 0

    def pending_bytes(self) -> int:
        return self.backlog

    def drain(self) -> None:
        self.stuck, self.backlog = False, 0

    def was_active(self) -> bool:
        was_active, self.is_active = self.is_active, False
        return was_active

    def set_frame_counter(self, count: FrameCounter) -> None:
        pass

    def charge_command(self) -> None:
        pass

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def close(self, code: int, reason: str) -> None:
        self.code = code

    @property
    def payloads(self) -> list[bytes]:
        return [payload for _, payload in frames_in(b"".join(self.writes))]


class YieldingClock(ManualClock):
    """A manual clock that lets tasks that were just started reach their sleep before it advances."""

    async def advance(self, seconds: float) -> None:
        await asyncio.sleep(0)
        await super().advance(seconds)
        await asyncio.sleep(0)


def make_hub(limits: SocketLimits | None = None) -> tuple[Hub, ManualClock]:
    clock = YieldingClock()
    return Hub(clock, Random(1), limits or SocketLimits()), clock


def open_socket(hub: Hub, *topics: str, name: str = "a") -> tuple[Socket, MemoryConnection]:
    """A socket that is subscribed to topics."""
    connection = MemoryConnection()
    socket = hub.open(connection, guest(name), "here")
    for topic in topics:
        hub.subscribe(socket, topic)
    return socket, connection
