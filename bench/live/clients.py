"""The clients of the room: one real socket for each guest, all read in one process."""

import select
import socket

from bench.live.delivery_order import DeliveryOrder
from bench.live.frames import FrameReader, ParsedFrames, UnexpectedMessage
from bench.server_process import ServerProcess, masked

CLIENTS_PER_ADDRESS = 500
"""Clients that share one loopback address, as behind one router, so that the server's limits apply."""
MAX_POLL_EVENTS = 256
_CHUNK_BYTES = 1 << 16
_PONG = bytes((0x8A, 0x80, 0, 0, 0, 0))


class Audience:
    """All clients of a server's room. Each can send comments, too."""

    def __init__(self, server: ServerProcess, size: int, join: bytes | None) -> None:
        self.size = size
        self.delivery_order = DeliveryOrder(size)
        self.replies = 0
        self.refused: set[int] = set()
        """The numbers of comments that were refused."""
        self._server, self._join = server, join
        self._frame_reader = FrameReader()
        self._epoll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        self._handles: list[int] = []
        self._positions: dict[int, int] = {}
        self._incomplete: dict[int, bytes] = {}

    def connect_all(self) -> float:
        """Connect all clients; returns the bytes of memory that the server took for each."""
        before = self._server.memory()
        for number in range(self.size):
            address = number // CLIENTS_PER_ADDRESS
            reader, rest = self._server.connect(f"127.0.{1 + address // 250}.{1 + address % 250}")
            if self._join is not None:
                reader.sendall(masked(self._join))
                rest = self._wait_for_reply(reader, rest)
            reader.setblocking(False)
            handle = reader.fileno()
            self._sockets[handle], self._positions[handle] = reader, 0
            self._handles.append(handle)
            if rest:
                self._incomplete[handle] = rest
            self._epoll.register(handle, select.EPOLLIN)
            if number % MAX_POLL_EVENTS == 0:
                # The clients connected so far have presence events to read and pings to answer.
                self.receive()
        return (self._server.memory() - before) / self.size

    @property
    def deliveries(self) -> int:
        """The number of comments received, summed over all clients."""
        return sum(self._positions.values())

    def disconnect_all(self) -> None:
        """Disconnect all clients."""
        for reader in self._sockets.values():
            reader.close()
        self._epoll.close()

    def send(self, number: int, message: bytes) -> None:
        """Send a message from the next client in turn."""
        self._sockets[self._handles[number % self.size]].sendall(masked(message))

    def receive(self) -> int:
        """Read from the sockets that are ready; returns their number."""
        sockets, positions, incomplete = self._sockets, self._positions, self._incomplete
        read, move = self._frame_reader.read, self.delivery_order.move
        ready = self._epoll.poll(0, MAX_POLL_EVENTS)
        for handle, _ in ready:
            chunk = sockets[handle].recv(_CHUNK_BYTES)
            if not chunk:
                raise UnexpectedMessage(f"{self._server.name} closed the connection of a client.")
            if handle in incomplete:
                chunk = incomplete.pop(handle) + chunk
            parsed = read(chunk)
            if parsed.numbers:
                positions[handle] = move(positions[handle], parsed)
            if parsed.has_others:
                self._handle_others(handle, parsed)
        return len(ready)

    def _handle_others(self, handle: int, parsed: ParsedFrames) -> None:
        self.replies += parsed.replies
        self.refused.update(parsed.refused)
        if parsed.rest:
            self._incomplete[handle] = parsed.rest
        for _ in range(parsed.pings):
            self._sockets[handle].send(_PONG)

    def _wait_for_reply(self, reader: socket.socket, rest: bytes) -> bytes:
        """Read until the join has its reply; returns the bytes of an incomplete frame after it."""
        while not (parsed := self._frame_reader.read(rest)).replies:
            chunk = reader.recv(_CHUNK_BYTES)
            if not chunk:
                raise UnexpectedMessage(f"{self._server.name} closed the connection of a client that joined.")
            rest = parsed.rest + chunk
        return parsed.rest
