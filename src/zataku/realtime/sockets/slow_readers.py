"""Readers that are too slow: they are left out until they have drained, and then brought up to date at one stroke."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import structlog

from zataku.clock import Clock
from zataku.realtime.sockets.counters import SocketCounters
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket
from zataku.realtime.sockets.subscribers import Subscribers

Behind: TypeAlias = Callable[[Socket, str], Awaitable[None]]
"""Brings a socket up to date in a topic; see `SocketHandler.behind`."""
Back: TypeAlias = Callable[[Socket, Subscribers], None]
Close: TypeAlias = Callable[[Socket, int, str], None]

_TRY_AGAIN_LATER, _INTERNAL_ERROR = 1013, 1011
_LOOK = 0.25  # seconds between two looks at who has drained

_log = structlog.get_logger(__name__)


class _Lag:
    """Where a reader lags, and when it last took anything."""

    __slots__ = ("least", "moved", "topics")

    def __init__(self, least: int, moved: float) -> None:
        self.least, self.moved = least, moved
        self.topics: dict[Subscribers, None] = {}


class SlowReaders:
    """The slow readers of a process. Nothing is kept for them, so that they cost no more than others."""

    def __init__(self, clock: Clock, limits: SocketLimits, counts: SocketCounters, *, back: Back, close: Close) -> None:
        self._clock, self._limits, self._counts = clock, limits, counts
        self._back, self._close = back, close
        self._behind: Behind | None = None
        self._lagging: dict[Socket, _Lag] = {}
        self._looking: asyncio.Task[None] | None = None
        self._bringing: set[asyncio.Task[None]] = set()

    def __contains__(self, socket: Socket) -> bool:
        return socket in self._lagging

    def brought_by(self, behind: Behind) -> None:
        """Say who brings readers up to date."""
        self._behind = behind

    def mute(self, socket: Socket, subscribers: Subscribers) -> None:
        """A reader did not get something of a topic. It gets nothing more of it until it is up to date."""
        if socket.closed or socket not in subscribers.members:
            return
        del subscribers.members[socket]
        subscribers.late.pop(socket, None)
        subscribers.muted.add(socket)
        self._counts.slow += 1
        lag = self._lagging.get(socket)
        if lag is None:
            lag = self._lagging[socket] = _Lag(socket.wire.pending(), self._clock.now())
        lag.topics[subscribers] = None
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look())

    def forget(self, socket: Socket) -> None:
        """It is not waited for any more."""
        self._lagging.pop(socket, None)

    def let_go(self, socket: Socket) -> None:
        """Close a reader that takes nothing."""
        self.forget(socket)
        self._counts.stuck += 1
        self._close(socket, _TRY_AGAIN_LATER, "Too much waits for you. Connect again.")

    async def stop(self) -> None:
        """End; whoever is behind stays so."""
        tasks = [task for task in (self._looking, *self._bringing) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _look(self) -> None:
        try:
            while self._lagging:
                await self._clock.sleep(_LOOK)
                now = self._clock.now()
                for socket, lag in list(self._lagging.items()):
                    self._consider(socket, lag, now)
        finally:
            self._looking = None

    def _consider(self, socket: Socket, lag: _Lag, now: float) -> None:
        pending = socket.wire.pending()
        if pending <= self._limits.backlog // 4:
            del self._lagging[socket]
            for subscribers in lag.topics:
                task = asyncio.get_running_loop().create_task(self._bring(socket, subscribers))
                self._bringing.add(task)
                task.add_done_callback(self._bringing.discard)
        elif pending < lag.least:
            lag.least, lag.moved = pending, now
        elif now - lag.moved >= self._limits.stuck:
            self.let_go(socket)

    async def _bring(self, socket: Socket, subscribers: Subscribers) -> None:
        """Bring one reader up to date. From the callback's last wait to the reader's return nothing else happens."""
        if self._behind is None or socket.closed or socket not in subscribers.muted:
            return
        try:
            await self._behind(socket, subscribers.topic)
        except Exception:  # noqa: BLE001 - the reader cannot go on without it, but can come again
            _log.exception("A slow reader could not be brought up to date.", topic=subscribers.topic)
            self._close(socket, _INTERNAL_ERROR, "You could not be brought up to date. Connect again.")
            return
        if socket in subscribers.muted:
            self._back(socket, subscribers)
