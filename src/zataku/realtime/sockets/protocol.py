"""The WebSocket protocol of the server: uvicorn's own, with a direct path for prepared frames."""

import asyncio
import socket
from asyncio import BaseTransport, Transport
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.exceptions import InvalidState
from websockets.frames import Frame
from websockets.http11 import Request

from zataku.realtime.sockets.limits import SocketLimits

EXTENSION = "zataku.connection"
_LOWAT: int | None = getattr(socket, "TCP_NOTSENT_LOWAT", None)
MAX_KERNEL_BUFFER_BYTES = 128 * 1024
"""What the kernel may hold unsent of one connection; the rest is buffered here, where it is counted."""
MAX_PINGS = 500
"""How many pings a client may send between two checks of its activity."""
MAX_FRAGMENTS = 1000
"""How many fragments a message may come in."""

E = TypeVar("E")


class ReceiveQueue(Generic[E]):
    """A queue with one reader. Empty it takes about 60 bytes, where `asyncio.Queue` takes more than 3,000."""

    __slots__ = ("_events", "_reader")

    def __init__(self) -> None:
        self._events: deque[E] | None = None
        self._reader: asyncio.Future[None] | None = None

    def empty(self) -> bool:
        """True when every event was read."""
        return self._events is None

    def put_nowait(self, event: E) -> None:
        """Add an event."""
        if self._events is None:
            self._events = deque((event,))
        else:
            self._events.append(event)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    async def get(self) -> E:
        """The next event, as soon as there is one."""
        while self._events is None:
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        event = self._events.popleft()
        if not self._events:
            self._events = None
        return event


class PreparedFrameProtocol(WebSocketsSansIOProtocol):
    """A connection that the application gets as `Connection` in `scope["extensions"][EXTENSION]`.

    `write` is the transport's own function: a broadcast calls it without anything in between.
    """

    write: Callable[[bytes], None]
    pending_bytes: Callable[[], int]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.queue = cast("asyncio.Queue[ASGIReceiveEvent]", ReceiveQueue())
        self._was_active = True
        self._pings = 0
        self._abort_timer: asyncio.TimerHandle | None = None
        self.write, self.pending_bytes = _discard, _zero

    def was_active(self) -> bool:
        """True when anything has arrived since the last call."""
        was_active, self._was_active = self._was_active, False
        self._pings = 0
        return was_active

    def close(self, code: int, reason: str) -> None:
        """Send a close frame and wait for the answer, as for `websocket.close` of the application."""
        self.write = _discard
        if self.close_sent or self.transport.is_closing():
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        try:
            self.conn.send_close(code, reason)
        except InvalidState:
            self.transport.close()
            return
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(self.close_timeout, self.transport.close)

    def connection_made(self, transport: BaseTransport) -> None:
        """A client has connected."""
        super().connection_made(transport)
        stream = cast("Transport", transport)
        self.pending_bytes = stream.get_write_buffer_size
        connected: socket.socket | None = stream.get_extra_info("socket")
        if _LOWAT is not None and connected is not None and connected.family != socket.AF_UNIX:
            connected.setsockopt(socket.IPPROTO_TCP, _LOWAT, MAX_KERNEL_BUFFER_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self.write, self.pending_bytes = _discard, _zero
        if self._abort_timer is not None:
            self._abort_timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes have arrived."""
        self._was_active = True
        super().data_received(data)

    def handle_connect(self, event: Request) -> None:
        """A client requests a WebSocket; the application starts when this has returned."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.write = self.transport.write
            extensions = cast("dict[str, object]", self.scope.setdefault("extensions", {}))
            extensions[EXTENSION] = self

    async def send(self, message: ASGISendEvent) -> None:
        """The application accepts the client, or not. Its headers are not needed afterwards."""
        await super().send(message)
        if message["type"] == "websocket.accept":
            self.scope["headers"] = ()
            del self.request, self.response

    def send_receive_event_to_app(self) -> None:
        """A message is complete. Text that is not UTF-8 ends the connection, without a line in the log."""
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_text(self.frames):
            self.frames = []
            self.conn.send_close(1007)
            self.handle_parser_exception()
            return
        super().send_receive_event_to_app()

    # Control frames and fragments cost memory and time as well, and no message limit counts them.

    def handle_ping(self) -> None:
        """A ping. A client that sends too many, or does not read the pongs, gets none."""
        self._pings += 1
        if self._pings > MAX_PINGS:
            self._fail()
            return
        pong = b"".join(self.conn.data_to_send())
        if self.pending_bytes() < MAX_KERNEL_BUFFER_BYTES:
            self.transport.write(pong)

    def handle_cont(self, event: Frame) -> None:
        """A fragment of a message. Empty ones add nothing to its size, so they are counted."""
        if len(self.frames) >= MAX_FRAGMENTS:
            self._fail()
            return
        super().handle_cont(event)

    def _fail(self) -> None:
        if not self.transport.is_closing():
            self.frames = []
            self.conn.fail(1008)
            self.handle_parser_exception()

    # After a close frame of either side nothing may be written.

    def handle_close(self, event: Frame) -> None:
        """The client has sent a close frame."""
        self.write = _discard
        super().handle_close(event)

    def handle_parser_exception(self) -> None:
        """What arrived violates the WebSocket protocol."""
        self.write = _discard
        super().handle_parser_exception()

    def shutdown(self) -> None:
        """The server stops."""
        self.write = _discard
        super().shutdown()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """The application has returned. A client that does not read the rest is aborted."""
        super().on_task_complete(task)
        if not self.disconnected:
            self._abort_timer = self.loop.call_later(self.close_timeout, self.transport.abort)


def uvicorn_options(limits: SocketLimits) -> dict[str, Any]:
    """The options of uvicorn for sockets; the heartbeat is ours, and small messages are not compressed."""
    return {
        "ws": PreparedFrameProtocol,
        "ws_max_size": max(limits.max_text_bytes, limits.max_binary_bytes + 2),
        "ws_per_message_deflate": False,
        "ws_ping_interval": None,
        "ws_ping_timeout": None,
    }


def _is_text(fragments: list[bytes]) -> bool:
    try:
        b"".join(fragments).decode()
    except UnicodeDecodeError:
        return False
    return True


def _discard(_framed: bytes) -> None:
    pass


def _zero() -> int:
    return 0
