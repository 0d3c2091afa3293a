"""The people in the room: real sockets of as many guests, in one process that does little but read."""

import select
import socket

from bench.live.delivery_order import Ladder
from bench.live.frames import Ear, Heard, Unfit
from bench.server_process import ServerProcess, masked

PER_ADDRESS = 500
"""How many share an address of this machine, as behind the router of a hall: the limits of the server hold here."""
AT_ONCE = 256
_PIECE = 1 << 16
_PONG = bytes((0x8A, 0x80, 0, 0, 0, 0))


class Audience:
    """Everybody who hears a server's room. Each can say something, too."""

    def __init__(self, server: ServerProcess, size: int, join: bytes | None) -> None:
        self.size = size
        self.ladder = Ladder(size)
        self.answers = 0
        self.refused: set[int] = set()
        """The numbers of comments that were not taken."""
        self._server, self._join = server, join
        self._ear = Ear()
        self._epoll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        self._handles: list[int] = []
        self._rungs: dict[int, int] = {}
        self._left_over: dict[int, bytes] = {}

    def come_in(self) -> float:
        """Let everybody in; gives how many bytes of memory the server took for each."""
        before = self._server.memory()
        for number in range(self.size):
            address = number // PER_ADDRESS
            reader, rest = self._server.connected(f"127.0.{1 + address // 250}.{1 + address % 250}")
            if self._join is not None:
                reader.sendall(masked(self._join))
                rest = self._answered(reader, rest)
            reader.setblocking(False)
            handle = reader.fileno()
            self._sockets[handle], self._rungs[handle] = reader, 0
            self._handles.append(handle)
            if rest:
                self._left_over[handle] = rest
            self._epoll.register(handle, select.EPOLLIN)
            if number % AT_ONCE == 0:
                # Who is in hears of those who come, and answers pings meanwhile.
                self.take_in()
        return (self._server.memory() - before) / self.size

    @property
    def deliveries(self) -> int:
        """How many comments they have got, all together."""
        return sum(self._rungs.values())

    def go(self) -> None:
        """Everybody leaves."""
        for reader in self._sockets.values():
            reader.close()
        self._epoll.close()

    def say(self, number: int, message: bytes) -> None:
        """Somebody says something, each in turn."""
        self._sockets[self._handles[number % self.size]].sendall(masked(message))

    def take_in(self) -> int:
        """Read what has come to some of them; gives to how many."""
        sockets, rungs, left_over = self._sockets, self._rungs, self._left_over
        read, move = self._ear.read, self.ladder.move
        ready = self._epoll.poll(0, AT_ONCE)
        for handle, _ in ready:
            piece = sockets[handle].recv(_PIECE)
            if not piece:
                raise Unfit(f"{self._server.name} hung up on a reader.")
            if handle in left_over:
                piece = left_over.pop(handle) + piece
            heard = read(piece)
            if heard.numbers:
                rungs[handle] = move(rungs[handle], heard)
            if heard.odd:
                self._take_odd(handle, heard)
        return len(ready)

    def _take_odd(self, handle: int, heard: Heard) -> None:
        self.answers += heard.answers
        self.refused.update(heard.refused)
        if heard.rest:
            self._left_over[handle] = heard.rest
        for _ in range(heard.pings):
            self._sockets[handle].send(_PONG)

    def _answered(self, reader: socket.socket, rest: bytes) -> bytes:
        """Read until a reader's joining was answered; gives the beginning of a frame that has come as well."""
        while not (heard := self._ear.read(rest)).answers:
            more = reader.recv(_PIECE)
            if not more:
                raise Unfit(f"{self._server.name} hung up on somebody who wanted to come in.")
            rest = heard.rest + more
        return heard.rest
