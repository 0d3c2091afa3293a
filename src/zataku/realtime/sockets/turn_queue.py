"""A queue of short work of many connections, of which a bounded part is done in each turn of the event loop.

Without it, a crowd that connects, sends or leaves in the same moment would have all of its work done in one turn, and
whoever comments in that moment would wait for it at each of the turns that a comment takes.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from contextvars import Context
from typing import TypeAlias

import structlog

Work: TypeAlias = Callable[[], None]

FREQUENT_PER_SECOND = 4
"""A connection that takes more turns than this within a second is a frequent one."""
TURNS_PER_FREQUENT = 4
"""In each so many turns the first place is for frequent connections, however many others wait."""

log = structlog.get_logger(__name__)


class RecentTurns:
    """Counts the turns that one connection takes in each second. A newcomer is frequent in its first one."""

    __slots__ = ("_count", "_since")

    def __init__(self, now: float, *, is_newcomer: bool = False) -> None:
        self._since, self._count = now, FREQUENT_PER_SECOND if is_newcomer else 0

    def are_frequent(self, now: float) -> bool:
        """Count a turn; True when the connection has taken many within a second."""
        if not 0 <= now - self._since < 1:
            self._since, self._count = now, 0
        self._count += 1
        return self._count > FREQUENT_PER_SECOND


class TurnQueue:
    """Work that waits, at most `per_turn` of which is done in one turn of the loop.

    Connections that take few turns come before frequent ones, so that a person who sends one comment does not wait for
    those who send without end. Among equals, the addresses take turns. After work of a frequent connection the next
    `turns_between_frequent` have none: what has begun goes on meanwhile, and where nothing has, a turn takes no time.
    """

    def __init__(self, per_turn: int, turns_between_frequent: int = 0) -> None:
        self._per_turn = self._left_in_turn = per_turn
        self._turns_between_frequent, self._turns_until_frequent = turns_between_frequent, 0
        self._reserved = per_turn // 4
        """Places that frequent connections leave to others who come within a turn."""
        self._infrequent, self._frequent = _AddressQueue(), _AddressQueue()
        self._turns = self._debt = 0
        self._next_turn: asyncio.Handle | None = None

    def do(self, loop: asyncio.AbstractEventLoop, address: str, work: Work, *, is_frequent: bool) -> bool:
        """Do work at once where there is a place for it, otherwise in a later turn; returns whether it is done."""
        if self.take_place(loop, is_frequent=is_frequent):
            work()
            return True
        self.do_later(loop, address, work, is_frequent=is_frequent)
        return False

    def take_place(self, loop: asyncio.AbstractEventLoop, *, is_frequent: bool) -> bool:
        """True when the caller may work at once: nobody comes before it, and the turn has room.

        Otherwise call `do_later`.
        """
        if self._next_turn is None:
            self._pay_debt()
        if self._infrequent or not self._left_in_turn:
            return False
        if is_frequent:
            if self._frequent or self._turns_until_frequent:
                return False
            self._turns_until_frequent = self._turns_between_frequent
        self._left_in_turn -= 1
        self._schedule_turn(loop)
        return True

    def do_later(self, loop: asyncio.AbstractEventLoop, address: str, work: Work, *, is_frequent: bool) -> None:
        """Do work in a later turn."""
        (self._frequent if is_frequent else self._infrequent).add(address, work)
        self._schedule_turn(loop)

    def charge(self, places: int) -> None:
        """Leave so many places of the next turns empty, for work that takes more than one."""
        self._debt += places

    def _pay_debt(self) -> None:
        # One place is left, so that everybody moves on.
        paid = min(self._debt, self._per_turn - 1)
        self._debt -= paid
        self._left_in_turn = self._per_turn - paid

    def _schedule_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._next_turn is None:
            # Not in the context of the request that came here: its id would be in the log lines of others.
            self._next_turn = loop.call_soon(self._begin_turn, loop, context=Context())

    def _begin_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        self._next_turn = None
        self._pay_debt()
        self._turns += 1
        # Work that the work adds is for another turn.
        infrequent, frequent = self._infrequent.count, self._frequent.count
        if self._turns_until_frequent:
            self._turns_until_frequent -= 1
            frequent = 0
        done = self._work_off(self._frequent, min(frequent, 1)) if self._turns % TURNS_PER_FREQUENT == 0 else 0
        self._work_off(self._infrequent, min(infrequent, self._left_in_turn))
        done += self._work_off(self._frequent, min(frequent - done, self._left_in_turn - self._reserved))
        if done:
            self._turns_until_frequent = self._turns_between_frequent
        if self._infrequent or self._frequent or self._debt or self._turns_until_frequent:
            self._schedule_turn(loop)

    def _work_off(self, queue: "_AddressQueue", count: int) -> int:
        for _ in range(count):
            self._left_in_turn -= 1
            try:
                queue.take()()
            except Exception:  # those who wait must still have their turn
                log.exception("connection_work_failed")
        return count


class _AddressQueue:
    """Work by address. The addresses take turns."""

    def __init__(self) -> None:
        self.count = 0
        self._waiting: OrderedDict[str, deque[Work]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self.count)

    def add(self, address: str, work: Work) -> None:
        self._waiting.setdefault(address, deque()).append(work)
        self.count += 1

    def take(self) -> Work:
        """The first work of the address whose turn it is, which is last afterwards."""
        address, queued = self._waiting.popitem(last=False)
        work = queued.popleft()
        self.count -= 1
        if queued:
            self._waiting[address] = queued
        return work
