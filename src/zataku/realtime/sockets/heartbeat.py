"""The heartbeat, by which clients notice a lost connection, and pings: a client that does not answer is closed."""

import asyncio
from collections import deque
from collections.abc import Callable, Collection

import msgspec

from zataku.clock import Clock, has_passed, now_ms
from zataku.realtime.messages import HeartbeatMessage
from zataku.realtime.sockets.connection import ping_frame, text_frame
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.slow_readers import SlowReaders
from zataku.realtime.sockets.socket import Socket

MAX_SILENT_CHECKS = 5
CHECKS_PER_PING = 2
"""Checks for silent sockets in the time between two pings."""
SOCKETS_AT_ONCE = 32
"""Sockets that get the heartbeat in one turn of the event loop. The next ones have theirs a moment later."""
SPREAD_FRACTION = 0.5
"""The part of an interval over which the heartbeat of a large number of sockets is spread."""
_GOING_AWAY = 1001


class Heartbeat:
    """One prepared message for all sockets in each interval; pings and checks for silent sockets in longer ones.

    A heartbeat has no answer: only the client needs it often. Pings, which cost two messages, are for the server. Both
    are spread over time, so that nobody waits until thousands of sockets are written, or their pongs are read.
    """

    def __init__(
        self,
        clock: Clock,
        limits: SocketLimits,
        sockets: Collection[Socket],
        slow_readers: SlowReaders,
        close: Callable[[Socket, int, str], None],
    ) -> None:
        self._clock, self._heartbeat_seconds, self._ping_seconds = clock, limits.heartbeat_seconds, limits.ping_seconds
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
        beat_at = ping_at = check_at = self._clock.now()
        check_seconds = self._ping_seconds / CHECKS_PER_PING
        while True:
            next_at = min(beat_at + self._heartbeat_seconds, ping_at + self._ping_seconds, check_at + check_seconds)
            await self._clock.sleep(max(0.0, next_at - self._clock.now()))
            now = self._clock.now()
            if has_passed(check_at, now, check_seconds):
                check_at = now
                self._close_silent()
            with_ping = has_passed(ping_at, now, self._ping_seconds)
            if with_ping or has_passed(beat_at, now, self._heartbeat_seconds):
                beat_at, ping_at = now, now if with_ping else ping_at
                await self._write_all(with_ping=with_ping)

    def _close_silent(self) -> None:
        for socket in list(self._sockets):
            if socket.connection.was_active() or socket in self._slow_readers:
                # A slow reader is judged by what it reads: pings wait behind everything else.
                socket.silent_checks = 0
            else:
                socket.silent_checks += 1
                if socket.silent_checks >= MAX_SILENT_CHECKS:
                    self._close(socket, _GOING_AWAY, "No message or pong arrived in time. Connect again.")

    async def _write_all(self, *, with_ping: bool) -> None:
        heartbeat = text_frame(msgspec.json.encode(HeartbeatMessage(now=now_ms(self._clock))))
        if with_ping:
            heartbeat = ping_frame() + heartbeat
        # Not kept until the end, when a crowd that has left meanwhile would be freed in one moment.
        left = deque(self._sockets)
        pause = self._heartbeat_seconds * SPREAD_FRACTION * SOCKETS_AT_ONCE / max(len(left), 1)
        while left:
            self._write_next(left, heartbeat)
            if left:
                await self._clock.sleep(pause)

    def _write_next(self, left: deque[Socket], heartbeat: bytes) -> None:
        for _ in range(min(len(left), SOCKETS_AT_ONCE)):
            socket = left.popleft()
            if socket not in self._slow_readers:
                socket.connection.write(heartbeat)
