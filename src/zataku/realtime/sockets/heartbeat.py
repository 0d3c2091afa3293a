"""The heartbeat: every socket is pinged, and a client that does not answer is closed."""

import asyncio
from collections.abc import Callable, Collection

import msgspec

from zataku.clock import Clock, now_ms
from zataku.realtime.messages import HeartbeatMessage
from zataku.realtime.sockets.connection import ping_frame, text_frame
from zataku.realtime.sockets.slow_readers import SlowReaders
from zataku.realtime.sockets.socket import Socket

MAX_SILENT_CHECKS = 5
"""Two checks are made in each interval."""
_GOING_AWAY = 1001


class Heartbeat:
    """One prepared ping for all sockets in each interval; twice in each, a check for silent ones."""

    def __init__(
        self,
        clock: Clock,
        interval: float,
        sockets: Collection[Socket],
        slow_readers: SlowReaders,
        close: Callable[[Socket, int, str], None],
    ) -> None:
        self._clock, self._interval = clock, interval
        self._sockets, self._slow_readers, self._close = sockets, slow_readers, close
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the task."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop the task."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(self._interval / 2)
            self._close_silent()
            await self._clock.sleep(self._interval / 2)
            self._close_silent()
            self._ping_all()

    def _close_silent(self) -> None:
        for socket in list(self._sockets):
            if socket.connection.was_active() or socket in self._slow_readers:
                # A slow reader is judged by what it reads: pings wait behind everything else.
                socket.silent_checks = 0
            else:
                socket.silent_checks += 1
                if socket.silent_checks >= MAX_SILENT_CHECKS:
                    self._close(socket, _GOING_AWAY, "No message or pong arrived in time. Connect again.")

    def _ping_all(self) -> None:
        heartbeat = ping_frame() + text_frame(msgspec.json.encode(HeartbeatMessage(now=now_ms(self._clock))))
        for socket in self._sockets:
            if socket not in self._slow_readers:
                socket.connection.write(heartbeat)
