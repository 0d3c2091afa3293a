"""A transport in memory and a loop whose turns and timers a test runs, for protocols without a network."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from typing import Any, cast


class ManualHandle:
    """A callback that a loop has still to call."""

    def __init__(self, due: float, callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.due, self._callback, self._args = due, callback, args
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True

    def run(self) -> None:
        if not self.is_cancelled:
            self._callback(*self._args)


class ManualLoop:
    """Callbacks are called by `turn`, timers by `advance`. Tasks run in the loop of the test."""

    def __init__(self) -> None:
        self._now = 0.0
        self._soon: list[ManualHandle] = []
        self._timers: list[ManualHandle] = []

    def time(self) -> float:
        return self._now

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> ManualHandle:
        run = (copy_context() if context is None else context).run
        handle = ManualHandle(self._now, run, (callback, *args))
        self._soon.append(handle)
        return handle

    def call_later(self, seconds: float, callback: Callable[..., object], *args: Any) -> ManualHandle:
        handle = ManualHandle(self._now + seconds, callback, args)
        self._timers.append(handle)
        return handle

    def create_task(self, work: Coroutine[Any, Any, None], **options: Any) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(work, **options)

    def turn(self) -> bool:
        """Call what waits for the next turn; False when there is nothing."""
        handles, self._soon = [handle for handle in self._soon if not handle.is_cancelled], []
        for handle in handles:
            handle.run()
        return bool(handles)

    def advance(self, seconds: float) -> None:
        """Fire the timers of the next seconds in their order."""
        end = self._now + seconds
        while due := [timer for timer in self._timers if timer.due <= end and not timer.is_cancelled]:
            timer = min(due, key=lambda timer: timer.due)
            self._timers.remove(timer)
            self._now = max(self._now, timer.due)
            timer.run()
        self._now = end


class MemoryTransport:
    """A connection whose peer is the test. `is_stuck` says that the peer reads nothing."""

    def __init__(self, protocol: Any, address: str = "198.51.100.1") -> None:
        self.protocol = protocol
        self.written = b""
        self.pending = 0
        self.is_stuck = False
        self.is_paused = False
        self.has_ended_writing = self.was_closed = self.was_aborted = self.was_lost = False
        self._extra = {"peername": (address, 5000), "sockname": ("127.0.0.1", 8000)}
        protocol.connection_made(cast("asyncio.Transport", self))

    def receive(self, data: bytes) -> None:
        """Deliver bytes of the peer, as a loop does that is reading."""
        assert not self.is_paused
        assert not self.is_closing()
        self.protocol.data_received(data)

    def lose(self) -> None:
        """End the connection. Nothing may be done with it afterwards."""
        self.was_lost = True
        self.protocol.connection_lost(None)

    def write(self, data: bytes) -> None:
        assert not self.has_ended_writing
        assert not self.was_lost
        self.written += data
        if self.is_stuck:
            self.pending += len(data)

    def write_eof(self) -> None:
        self.has_ended_writing = True

    def can_write_eof(self) -> bool:
        return True

    def close(self) -> None:
        self.was_closed = True

    def abort(self) -> None:
        self.was_aborted = True

    def is_closing(self) -> bool:
        return self.was_closed or self.was_aborted or self.was_lost

    def pause_reading(self) -> None:
        assert not self.was_lost
        self.is_paused = True

    def resume_reading(self) -> None:
        assert not self.was_lost
        self.is_paused = False

    def get_write_buffer_size(self) -> int:
        return self.pending

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._extra.get(name, default)

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol

    def get_protocol(self) -> Any:
        return self.protocol
