"""Writes to many sockets, spread over turns of the event loop: in each turn a slice of them is written."""

import asyncio
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


class Deliveries:
    """Deliveries in progress, written in the order in which they began.

    `Socket.undelivered` and `Subscribers.undelivered` count them.
    """

    def __init__(self, sockets_per_turn: int) -> None:
        self._sockets_per_turn = self._left_in_turn = sockets_per_turn
        self._pending: deque[_Delivery] = deque()
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
            self._pending.append(_Delivery(sockets[admitted:], write, topics))
            for subscribers in topics:
                subscribers.undelivered += 1
            for socket in sockets[admitted:]:
                socket.undelivered += 1
        if self._next_turn is None:
            self._next_turn = asyncio.get_running_loop().call_soon(self._begin_turn)
        return sockets[:admitted]

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
        while self._pending and self._left_in_turn:
            delivery = self._pending[0]
            part = delivery.sockets[delivery.position : delivery.position + self._left_in_turn]
            delivery.position += len(part)
            self._left_in_turn -= len(part)
            for socket in part:
                socket.undelivered -= 1
            try:
                delivery.write([socket for socket in part if not socket.is_closed])
            except Exception:  # what follows must still go out
                log.exception("socket_write_failed")
            if delivery.position == len(delivery.sockets):
                self._pending.popleft()
                for subscribers in delivery.topics:
                    subscribers.undelivered -= 1
        if not self._pending and self._finished is not None:
            if not self._finished.done():
                self._finished.set_result(None)
            self._finished = None
