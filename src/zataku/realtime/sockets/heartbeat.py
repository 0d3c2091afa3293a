"""The heartbeat: every socket is told that the server is there, and a browser that is there answers."""

import asyncio
from collections.abc import Callable, Collection

import msgspec
import structlog

from zataku.clock import Clock, now_ms
from zataku.realtime.messages import Beat
from zataku.realtime.sockets import frames
from zataku.realtime.sockets.slow_readers import SlowReaders
from zataku.realtime.sockets.socket import Socket

_HALVES = 5  # how many half beats a socket may be silent for
_GOING_AWAY = 1001

_log = structlog.get_logger(__name__)


class Heartbeat:
    """One prepared ping for all sockets at each beat; twice a beat, a look at who is silent."""

    def __init__(
        self,
        clock: Clock,
        every: float,
        sockets: Collection[Socket],
        slow_readers: SlowReaders,
        close: Callable[[Socket, int, str], None],
    ) -> None:
        self._clock, self._every = clock, every
        self._sockets, self._slow_readers, self._close = sockets, slow_readers, close
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(self._every / 2)
            self._listen()
            await self._clock.sleep(self._every / 2)
            self._listen()
            self._beat()

    def _listen(self) -> None:
        for socket in list(self._sockets):
            if socket.wire.heard() or socket in self._slow_readers:
                # A reader that lags is judged by what it takes: pings wait behind everything else.
                socket.silent = 0
            else:
                socket.silent += 1
                if socket.silent >= _HALVES:
                    self._close(socket, _GOING_AWAY, "Nothing was heard from you.")

    def _beat(self) -> None:
        beat = frames.ping() + frames.text(msgspec.json.encode(Beat(now=now_ms(self._clock))))
        for socket in self._sockets:
            if socket not in self._slow_readers:
                socket.wire.write(beat)
