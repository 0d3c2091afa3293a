"""Slow readers: sockets that get no broadcasts until they have drained, and then a snapshot."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import structlog

from zataku.clock import Clock
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket, SocketCounters
from zataku.realtime.sockets.subscribers import Subscribers

CatchUp: TypeAlias = Callable[[Socket, str], Awaitable[None]]
"""Brings a socket up to date in a topic; see `SocketHandler.catch_up`."""
Restore: TypeAlias = Callable[[Socket, Subscribers], None]
Close: TypeAlias = Callable[[Socket, int, str], None]

CHECK_SECONDS = 0.25
DRAINED_FRACTION = 4
"""A reader has drained when a quarter is left, of its backlog when it fell behind or of the allowed one."""
_TRY_AGAIN_LATER, _INTERNAL_ERROR = 1013, 1011

log = structlog.get_logger(__name__)


class _SlowReader:
    """The topics in which a reader is behind, how much it may have left to catch up, and its last progress."""

    __slots__ = ("drained_backlog", "progress_at", "smallest_backlog", "topics")

    def __init__(self, backlog: int, now: float, limits: SocketLimits) -> None:
        self.smallest_backlog, self.progress_at = backlog, now
        # Many small writes are fewer bytes than a quarter of the allowed backlog, without one of them being read.
        self.drained_backlog = min(backlog, limits.max_backlog_bytes) // DRAINED_FRACTION
        self.topics: dict[Subscribers, None] = {}


class SlowReaders:
    """The slow readers of a process. No messages are kept for them.

    One holds at most `max_backlog_bytes` of broadcasts, mostly shared with others, 350 KiB for `max_backlog_writes`,
    and the replies to the messages that it had running when it fell behind. What it sends then waits in the network.
    """

    def __init__(
        self, clock: Clock, limits: SocketLimits, counters: SocketCounters, *, restore: Restore, close: Close
    ) -> None:
        self._clock, self._limits, self._counters = clock, limits, counters
        self._restore, self._close = restore, close
        self._catch_up: CatchUp | None = None
        self._readers: dict[Socket, _SlowReader] = {}
        self._checking: asyncio.Task[None] | None = None
        self._catching_up: set[asyncio.Task[None]] = set()

    def __contains__(self, socket: Socket) -> bool:
        return socket in self._readers

    def set_catch_up(self, catch_up: CatchUp) -> None:
        """Set the function that brings readers up to date."""
        self._catch_up = catch_up

    def mute(self, socket: Socket, subscribers: Subscribers) -> None:
        """Stop broadcasting a topic to a reader that missed a message of it, until it has caught up."""
        if socket.is_closed or socket not in subscribers.members:
            return
        del subscribers.members[socket]
        subscribers.joined_at.pop(socket, None)
        subscribers.muted.add(socket)
        self._counters.slow += 1
        reader = self._readers.get(socket)
        if reader is None:
            reader = self._readers[socket] = _SlowReader(
                socket.connection.pending_bytes(), self._clock.now(), self._limits
            )
        reader.topics[subscribers] = None
        if self._checking is None:
            self._checking = asyncio.get_running_loop().create_task(self._check_until_empty())

    def forget(self, socket: Socket) -> None:
        """Stop waiting for a reader."""
        self._readers.pop(socket, None)

    def close_stuck(self, socket: Socket) -> None:
        """Close a reader that reads nothing."""
        self.forget(socket)
        self._counters.stuck += 1
        self._close(socket, _TRY_AGAIN_LATER, "Too many messages were not read. Connect again.")

    async def stop(self) -> None:
        """Stop all tasks; readers that are behind stay so."""
        tasks = [task for task in (self._checking, *self._catching_up) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _check_until_empty(self) -> None:
        try:
            while self._readers:
                await self._clock.sleep(CHECK_SECONDS)
                now = self._clock.now()
                for socket, reader in list(self._readers.items()):
                    self._check(socket, reader, now)
        finally:
            self._checking = None

    def _check(self, socket: Socket, reader: _SlowReader, now: float) -> None:
        backlog = socket.connection.pending_bytes()
        if backlog <= reader.drained_backlog:
            del self._readers[socket]
            socket.unsent_writes = 0
            for subscribers in reader.topics:
                task = asyncio.get_running_loop().create_task(self._bring_up_to_date(socket, subscribers))
                self._catching_up.add(task)
                task.add_done_callback(self._catching_up.discard)
        elif backlog < reader.smallest_backlog:
            reader.smallest_backlog, reader.progress_at = backlog, now
        elif now - reader.progress_at >= self._limits.stuck_seconds:
            self.close_stuck(socket)

    async def _bring_up_to_date(self, socket: Socket, subscribers: Subscribers) -> None:
        """Bring one reader up to date. Nothing runs between the end of `catch_up` and its return to the members."""
        if self._catch_up is None or socket.is_closed or socket not in subscribers.muted:
            return
        try:
            await self._catch_up(socket, subscribers.topic)
        except Exception:  # the reader cannot continue without it, but can connect again
            log.exception("catch_up_failed", topic=subscribers.topic)
            self._close(socket, _INTERNAL_ERROR, "You could not be brought up to date. Connect again.")
            return
        if socket in subscribers.muted:
            self._restore(socket, subscribers)
