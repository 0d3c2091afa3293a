"""Writes to many sockets, spread over turns of the event loop: in each turn a slice of them is written.

Half of a slice is for the delivery that began first, the other half for the smallest ones, so that a small room does
not wait until a large one is written.
"""

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

import structlog

from zataku.realtime.sockets.socket import Socket
from zataku.realtime.sockets.subscribers import Subscribers

WriteSockets: TypeAlias = Callable[[Sequence[Socket]], None]
"""Writes what a delivery holds to some of its sockets."""

log = structlog.get_logger(__name__)


class _Delivery:
    __slots__ = ("position", "sockets", "topics", "write")

    def __init__(self, sockets: Sequence[Socket], write: WriteSockets, topics: Sequence[Subscribers]) -> None:
        self.sockets, self.write, self.topics, self.position = sockets, write, topics, 0

    @property
    def is_finished(self) -> bool:
        return self.position == len(self.sockets)


class Deliveries:
    """Deliveries in progress. A socket is written in the order of its deliveries.

    `Socket.undelivered` and `Subscribers.undelivered` count them.
    """

    def __init__(self, sockets_per_turn: int) -> None:
        self._sockets_per_turn = self._left_in_turn = sockets_per_turn
        self._pending: deque[_Delivery] = deque()
        """In the order in which they began. Finished ones may be among them, but not the first."""
        self._smallest: list[tuple[int, int, _Delivery]] = []
        """A heap of those that may overtake others, since none of these has a socket in common with them."""
        self._numbers = itertools.count()
        self._next_turn: asyncio.Handle | None = None
        self._finished: asyncio.Future[None] | None = None

    def __bool__(self) -> bool:
        return bool(self._pending)

    def admit(
        self, sockets: Sequence[Socket], write: WriteSockets, topics: Sequence[Subscribers] = ()
    ) -> Sequence[Socket]:
        """The first sockets, which the caller writes to at once; `write` is called for the rest in later turns."""
        admitted = 0 if self._pending else min(len(sockets), self._left_in_turn)
        self._left_in_turn -= admitted
        if admitted < len(sockets):
            self._add(_Delivery(sockets[admitted:], write, topics))
        if self._next_turn is None:
            self._next_turn = asyncio.get_running_loop().call_soon(self._begin_turn)
        return sockets[:admitted]

    def _add(self, delivery: _Delivery) -> None:
        if not self._pending or not any(socket.undelivered for socket in delivery.sockets):
            heapq.heappush(self._smallest, (len(delivery.sockets), next(self._numbers), delivery))
        self._pending.append(delivery)
        for subscribers in delivery.topics:
            subscribers.undelivered += 1
        for socket in delivery.sockets:
            socket.undelivered += 1

    def finish(self) -> None:
        """Write everything that is left at once."""
        while self._pending:
            self._left_in_turn = self._sockets_per_turn
            self._write_turn()

    async def wait_until_finished(self) -> None:
        """Wait until everything is written."""
        while self._pending:
            self._finished = self._finished or asyncio.get_running_loop().create_future()
            await asyncio.shield(self._finished)

    def stop(self) -> None:
        """Stop the turns; nothing is left to be written."""
        if self._next_turn is not None:
            self._next_turn.cancel()
            self._next_turn = None

    def _begin_turn(self) -> None:
        self._next_turn = None
        self._left_in_turn = self._sockets_per_turn
        if self._pending:
            self._write_turn()
            self._next_turn = asyncio.get_running_loop().call_soon(self._begin_turn)

    def _write_turn(self) -> None:
        self._write_part(self._pending[0], self._left_in_turn - self._left_in_turn // 2)
        self._forget_finished()
        while self._pending and self._left_in_turn:
            self._write_part(self._smallest[0][2] if self._smallest else self._pending[0], self._left_in_turn)
            self._forget_finished()
        if not self._pending and self._finished is not None:
            if not self._finished.done():
                self._finished.set_result(None)
            self._finished = None

    def _write_part(self, delivery: _Delivery, count: int) -> None:
        part = delivery.sockets[delivery.position : delivery.position + count]
        delivery.position += len(part)
        self._left_in_turn -= len(part)
        open_sockets: list[Socket] = []
        for socket in part:
            socket.undelivered -= 1
            if not socket.is_closed:
                open_sockets.append(socket)
        try:
            delivery.write(open_sockets)
        except Exception:  # what follows must still go out
            log.exception("socket_write_failed")
        if delivery.is_finished:
            for subscribers in delivery.topics:
                subscribers.undelivered -= 1

    def _forget_finished(self) -> None:
        while self._pending and self._pending[0].is_finished:
            self._pending.popleft()
        while self._smallest and self._smallest[0][2].is_finished:
            heapq.heappop(self._smallest)
