"""The end of a socket in memory: it keeps what was written, and takes as much as a test says."""

import asyncio
from random import Random

from websockets.frames import Opcode
from websockets.protocol import OPEN, Protocol, Side

from tests.realtime.sockets.socket_server import somebody
from zataku.clock import ManualClock
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket


def frames_in(written: bytes) -> list[tuple[Opcode, bytes]]:
    """Opcode and payload of each frame, as a browser's side of the websockets library reads them."""
    reader = Protocol(Side.CLIENT, state=OPEN, max_size=None)
    reader.receive_data(written)
    assert reader.parser_exc is None
    return [(frame.opcode, bytes(frame.data)) for frame in reader.events_received()]  # type: ignore[union-attr]


class MemoryConnection:
    """What was written, write by write; a `stuck` reader takes nothing until `drain`."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.stuck = False
        self.waiting = 0
        self.alive = False
        self.code: int | None = None
        self.in_vain = 0

    def write(self, framed: bytes, /) -> None:
        if self.code is not None:
            self.in_vain += 1
            return
        self.writes.append(framed)
        if self.stuck:
            self.waiting += len(framed)

    def pending_bytes(self) -> int:
        return self.waiting

    def drain(self) -> None:
        self.stuck, self.waiting = False, 0

    def was_active(self) -> bool:
        alive, self.alive = self.alive, False
        return alive

    def close(self, code: int, reason: str) -> None:
        self.code = code

    @property
    def payloads(self) -> list[bytes]:
        return [payload for _, payload in frames_in(b"".join(self.writes))]


class PatientClock(ManualClock):
    """A clock that lets whoever has just been started go to sleep before it moves on."""

    async def advance(self, seconds: float) -> None:
        await asyncio.sleep(0)
        await super().advance(seconds)
        await asyncio.sleep(0)


def hub_and_clock(limits: SocketLimits | None = None) -> tuple[Hub, ManualClock]:
    clock = PatientClock()
    return Hub(clock, Random(1), limits or SocketLimits()), clock


def opened(hub: Hub, *topics: str, name: str = "a") -> tuple[Socket, MemoryConnection]:
    """A socket that hears topics."""
    wire = MemoryConnection()
    socket = hub.open(wire, somebody(name), "here")
    for topic in topics:
        hub.subscribe(socket, topic)
    return socket, wire
