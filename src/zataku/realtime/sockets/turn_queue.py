"""A queue of short work of many connections, of which a bounded part is done in each turn of the event loop.

Without it, a crowd that connects, sends or leaves in the same moment would have all of its work done in one turn, and
whoever comments in that moment would wait for it at each of the turns that a comment takes.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TypeAlias

import structlog

Work: TypeAlias = Callable[[], None]

log = structlog.get_logger(__name__)


class TurnQueue:
    """Work that waits, at most `per_turn` of which is done in one turn of the loop. Addresses take turns."""

    def __init__(self, per_turn: int) -> None:
        self._per_turn = self._left_in_turn = per_turn
        self._waiting: OrderedDict[str, deque[Work]] = OrderedDict()
        self._count = 0
        self._next_turn: asyncio.Handle | None = None

    def take_place(self, loop: asyncio.AbstractEventLoop) -> bool:
        """True when the caller may work at once: nothing waits, and the turn has room. Otherwise call `do_later`."""
        if self._next_turn is None:
            self._left_in_turn = self._per_turn
        if self._waiting or not self._left_in_turn:
            return False
        self._left_in_turn -= 1
        self._schedule_turn(loop)
        return True

    def do_later(self, loop: asyncio.AbstractEventLoop, address: str, work: Work) -> None:
        """Do work in a later turn."""
        self._waiting.setdefault(address, deque()).append(work)
        self._count += 1
        self._schedule_turn(loop)

    def _schedule_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._next_turn is None:
            self._next_turn = loop.call_soon(self._begin_turn, loop)

    def _begin_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        self._next_turn, self._left_in_turn = None, self._per_turn
        # Work that the work adds is for another turn.
        for _ in range(min(self._count, self._per_turn)):
            self._left_in_turn -= 1
            try:
                self._take()()
            except Exception:  # those who wait must still have their turn
                log.exception("connection_work_failed")
        if self._waiting:
            self._schedule_turn(loop)

    def _take(self) -> Work:
        """The first work of the address whose turn it is, which is last afterwards."""
        address, queued = self._waiting.popitem(last=False)
        work = queued.popleft()
        self._count -= 1
        if queued:
            self._waiting[address] = queued
        return work
