"""The WebSocket connection of the server: uvicorn's own, with a way for prepared frames past everything else."""

import asyncio
import socket
from asyncio import BaseTransport, Transport
from collections.abc import Callable
from typing import Any, cast

from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.exceptions import InvalidState
from websockets.frames import Frame
from websockets.http11 import Request

from zataku.realtime.sockets.receive_queue import ReceiveQueue

EXTENSION = "zataku.wire"
_LOWAT: int | None = getattr(socket, "TCP_NOTSENT_LOWAT", None)
_UNSENT = 128 * 1024  # what the kernel may hold unsent of one connection; the rest waits here, where it is counted
_PINGS = 500  # how often a browser may ask whether we are there between two looks at who was heard
_PIECES = 1000  # how many pieces a message may come in


class PreparedFrameProtocol(WebSocketsSansIOProtocol):
    """A connection that gives the application its `Connection` in `scope["extensions"]["zataku.wire"]`.

    `write` is the transport's own function, so that nothing stands between a broadcast and the kernel.
    """

    write: Callable[[bytes], None]
    pending: Callable[[], int]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.queue = cast("asyncio.Queue[ASGIReceiveEvent]", ReceiveQueue())
        self._any_heard = True
        self._pings = 0
        self._letting_go: asyncio.TimerHandle | None = None
        self.write, self.pending = _nowhere, _nothing

    def heard(self) -> bool:
        """True when anything has come since this was last asked."""
        heard, self._any_heard = self._any_heard, False
        self._pings = 0
        return heard

    def close(self, code: int, reason: str) -> None:
        """Send a close frame and wait a while for the answer, as for `websocket.close` of the application."""
        self.write = _nowhere
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
        """Somebody connects."""
        super().connection_made(transport)
        made = cast("Transport", transport)
        self.pending = made.get_write_buffer_size
        connected: socket.socket | None = made.get_extra_info("socket")
        if _LOWAT is not None and connected is not None and connected.family != socket.AF_UNIX:
            connected.setsockopt(socket.IPPROTO_TCP, _LOWAT, _UNSENT)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self.write, self.pending = _nowhere, _nothing
        if self._letting_go is not None:
            self._letting_go.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Anything at all came."""
        self._any_heard = True
        super().data_received(data)

    def handle_connect(self, event: Request) -> None:
        """Somebody asks for a WebSocket; the application starts when this has returned."""
        super().handle_connect(event)
        if self.response.status_code == 101:
            self.write = self.transport.write
            extensions = cast("dict[str, object]", self.scope.setdefault("extensions", {}))
            extensions[EXTENSION] = self

    async def send(self, message: ASGISendEvent) -> None:
        """The application lets somebody in, or not. Afterwards nobody asks for their headers any more."""
        await super().send(message)
        if message["type"] == "websocket.accept":
            self.scope["headers"] = ()
            del self.request, self.response

    def send_receive_event_to_app(self) -> None:
        """A message is whole. One that is no text ends the connection, and is not worth a line in the log."""
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_text(self.frames):
            self.frames = []
            self.conn.send_close(1007)
            self.handle_parser_exception()
            return
        super().send_receive_event_to_app()

    # What is not a message yet costs memory and time as well, and no limit of messages counts it.

    def handle_ping(self) -> None:
        """A browser asks whether we are there. Who asks on and on, or does not read the answers, gets none."""
        self._pings += 1
        if self._pings > _PINGS:
            self._give_up()
            return
        answer = b"".join(self.conn.data_to_send())
        if self.pending() < _UNSENT:
            self.transport.write(answer)

    def handle_cont(self, event: Frame) -> None:
        """A message goes on. Empty pieces add nothing to its size, so they are counted."""
        if len(self.frames) >= _PIECES:
            self._give_up()
            return
        super().handle_cont(event)

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.frames = []
            self.conn.fail(1008)
            self.handle_parser_exception()

    # After a close frame nothing may be written, whoever sent it.

    def handle_close(self, event: Frame) -> None:
        """The browser says goodbye."""
        self.write = _nowhere
        super().handle_close(event)

    def handle_parser_exception(self) -> None:
        """What came was no WebSocket."""
        self.write = _nowhere
        super().handle_parser_exception()

    def shutdown(self) -> None:
        """The server stops."""
        self.write = _nowhere
        super().shutdown()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """The application is done. A browser that does not take what is left for it is not waited for."""
        super().on_task_complete(task)
        if not self.disconnected:
            self._letting_go = self.loop.call_later(self.close_timeout, self.transport.abort)


def _is_text(pieces: list[bytes]) -> bool:
    try:
        b"".join(pieces).decode()
    except UnicodeDecodeError:
        return False
    return True


def _nowhere(_framed: bytes) -> None:
    pass


def _nothing() -> int:
    return 0
