"""The WebSocket protocol of the server: uvicorn's own, with a direct path for prepared frames."""

import asyncio
from asyncio import BaseTransport, Transport
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar, cast

import structlog
from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.exceptions import InvalidState
from websockets.frames import CTRL_OPCODES, Frame, Opcode
from websockets.http11 import Request

from zataku.realtime.sockets.connection import FrameCounter
from zataku.realtime.sockets.handshake import has_body, parse_request, refusal, refusal_code
from zataku.realtime.sockets.kernel_buffer import MAX_KERNEL_BUFFER_BYTES, limit_kernel_buffer
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.receive_queue import ReceiveQueue
from zataku.realtime.sockets.turn_queue import TurnQueue

EXTENSION = "zataku.connection"
MAX_FRAGMENTS = 1000
"""How many fragments a message may come in."""
PIECE_BYTES = 512
"""What is parsed at a time: less than a hundred of the smallest frames."""
SOCKETS_PER_TURN = 8
"""How many sockets are parsed, and ended, in one turn of the loop; a message takes about a hundred microseconds."""
MAX_FRAMES_PER_TURN = 64
"""How many frames of a connection are parsed before others have their turn; one takes about ten microseconds."""
CLOSE_SECONDS = 2.0
"""How long the answer to a close frame may take, and a client may read what was sent before."""
MAX_CLOSING_FRAMES = 256
MAX_CLOSING_BYTES = 128 * 1024
"""How much is read after a close frame was sent, to find the answer behind what was in flight."""
_INVALID_DATA, _POLICY_VIOLATION = 1007, 1008

log = structlog.get_logger(__name__)


class PreparedFrameProtocol(WebSocketsSansIOProtocol):
    """A connection that the application gets as `Connection` in `scope["extensions"][EXTENSION]`.

    `write` is the transport's own function: a broadcast calls it without anything in between. What arrives is parsed in
    pieces, a bounded number of frames of a bounded number of sockets in each turn of the loop; reading pauses until all
    of it is parsed, and until the application has taken the messages.
    """

    handshake_seconds: ClassVar[float] = 30.0
    """Seconds until a socket must be accepted or refused."""

    write: Callable[[bytes], None]
    pending_bytes: Callable[[], int]
    on_lost: Callable[[], None] | None = None
    """Called when the connection has ended."""

    _count_frame: FrameCounter | None = None
    _handshake_timer: asyncio.TimerHandle | None = None
    _resuming: asyncio.TimerHandle | None = None
    _is_queued = False
    _unparsed = b""
    _pause_seconds = 0.0
    _closing_frames = 0
    _closing_bytes = 0

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        turns: TurnQueue,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._turns = turns
        self.close_timeout = CLOSE_SECONDS
        self.queue = cast("asyncio.Queue[ASGIReceiveEvent]", ReceiveQueue())
        self._extensions: dict[str, object] = {}
        self._was_active = True
        self.write, self.pending_bytes = _discard, _zero

    def was_active(self) -> bool:
        """True when anything has arrived since the last call."""
        was_active, self._was_active = self._was_active, False
        return was_active

    def set_frame_counter(self, count: FrameCounter) -> None:
        """Call `count` for each control frame and fragment."""
        self._count_frame = count

    def close(self, code: int, reason: str) -> None:
        """Send a close frame and wait a moment for the answer, except that of a client that violates a limit."""
        self.write = _discard
        if self.close_sent or self.transport.is_closing():
            return
        if code == _POLICY_VIOLATION:
            self._fail(code, reason)
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        try:
            self.conn.send_close(code, reason)
        except InvalidState:
            self.transport.close()
            return
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self._abort_later()
        self._parse_soon()

    # The connection

    def connection_made(self, transport: BaseTransport) -> None:
        """A client has connected."""
        super().connection_made(transport)
        stream = cast("Transport", transport)
        self.pending_bytes = stream.get_write_buffer_size
        self._handshake_timer = self.loop.call_later(self.handshake_seconds, stream.abort)
        limit_kernel_buffer(stream)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self.write, self.pending_bytes = _discard, _zero
        self._unparsed, self._count_frame = b"", None
        self._stop_handshake_timer()
        if self._resuming is not None:
            self._resuming.cancel()
            self._resuming = None
        if self._turns.take_place(self.loop):
            self._end_session(exc)
        else:
            self._turns.do_later(self.loop, self._address, partial(self._end_session, exc))

    def _end_session(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()
        # These refer to themselves through this object: a crowd that leaves would be left to the garbage collector.
        self.conn.parser.close()
        self._extensions.clear()

    def data_received(self, data: bytes) -> None:
        """Bytes have arrived: first the request, as uvicorn hands it over, then frames."""
        self._was_active = True
        if not self.handshake_initiated:
            self._open(parse_request(data))
            return
        self._unparsed += data
        if self._resuming is None and not self._is_queued:
            self._is_queued = True
            self._parse_in_turn()

    # The handshake

    def _open(self, request: Request) -> None:
        """Start the application for a request that asks for a socket, and refuse any other."""
        if has_body(request):
            self._refuse(400, "The request for a socket has a body. Send it without one.")
            return
        self.handle_connect(request)

    def handle_connect(self, event: Request) -> None:
        """A client requests a WebSocket; the application starts when this has returned."""
        accepted = self.conn.accept(event)
        if accepted.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            problem = f"The request does not open a socket: {self.conn.handshake_exc}. Use a WebSocket client."
            self._refuse(accepted.status_code, problem)
            return
        super().handle_connect(event)
        self.write = self.transport.write
        self._extensions = cast("dict[str, object]", self.scope.setdefault("extensions", {}))
        self._extensions[EXTENSION] = self

    def _refuse(self, status: int, message: str) -> None:
        log.info("socket_rejected", status=status, code=refusal_code(status))
        self.handshake_initiated = self.handshake_complete = True
        self._stop_handshake_timer()
        self.conn.send_response(refusal(status, message))
        self._end_writing()

    async def send(self, message: ASGISendEvent) -> None:
        """The application accepts the client, or not. Its headers are not needed afterwards."""
        await super().send(message)
        if self.handshake_complete or self.close_sent:
            self._stop_handshake_timer()
        if message["type"] == "websocket.accept":
            self.scope["headers"] = ()
            del self.request, self.response
            # The parser still waits for the request, which it has never seen.
            self.conn.parser = self.conn.parse()
            next(self.conn.parser)
            self._parse_soon()
        elif self.close_sent:
            self._abort_later()

    # Frames

    def _parse(self) -> None:
        """Parse as many frames as one turn of the loop may take, and continue in the next one."""
        self._is_queued, self._resuming, self._pause_seconds = False, None, 0.0
        data, position, frames = self._unparsed, 0, 0
        while position < len(data) and frames < MAX_FRAMES_PER_TURN and self._may_parse():
            piece = data[position : position + PIECE_BYTES]
            position += len(piece)
            frames += self._parse_piece(piece)
        self._unparsed = data[position:]
        if self.transport.is_closing():
            self._unparsed = b""
        elif self._has_stopped_reading():
            self._unparsed = b""
            self._pause_reading()
        elif self._unparsed or not self._may_parse():
            self._pause_reading()
            if self._pause_seconds:
                self._resuming = self.loop.call_later(self._pause_seconds, self._parse)
            elif self._may_parse():
                self._parse_soon()
        elif self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()

    def _parse_piece(self, piece: bytes) -> int:
        """Parse some bytes and handle the frames that they complete. Returns how many."""
        self.conn.receive_data(piece)
        if self.conn.parser_exc is not None and not self.close_sent:
            self.handle_parser_exception()
            return 1
        frames = self.conn.events_received()
        for frame in frames:
            self._handle_frame(cast("Frame", frame))
        if self.close_sent:
            self._closing_frames += len(frames)
            self._closing_bytes += len(piece)
            self.conn.data_to_send()
        return len(frames)

    def _may_parse(self) -> bool:
        """False until the socket is accepted, in a pause, and while the application has not taken the last messages."""
        if self.transport.is_closing():
            return False
        if self.close_sent:
            return not self._has_stopped_reading()
        return self.handshake_complete and self.queue.empty() and not self._pause_seconds

    def _has_stopped_reading(self) -> bool:
        """True when the answer to a close frame is not among the next frames."""
        return self._closing_frames > MAX_CLOSING_FRAMES or self._closing_bytes > MAX_CLOSING_BYTES

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _parse_soon(self) -> None:
        if self._resuming is None and not self._is_queued:
            self._is_queued = True
            self.loop.call_soon(self._parse_in_turn)

    def _parse_in_turn(self) -> None:
        """Parse now when this turn of the loop has room, otherwise in a later one."""
        if self._turns.take_place(self.loop):
            self._parse()
        else:
            self._pause_reading()
            self._turns.do_later(self.loop, self._address, self._parse)

    def _pause_reading(self) -> None:
        if not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()

    def _handle_frame(self, frame: Frame) -> None:
        is_control = frame.opcode in CTRL_OPCODES
        if self._count_frame is not None and (is_control or frame.opcode is Opcode.CONT or not frame.fin):
            self._pause_seconds += self._count_frame(is_control)
        if self.close_sent and frame.opcode is not Opcode.CLOSE:
            return
        match frame.opcode:
            case Opcode.TEXT:
                self.handle_text(frame)
            case Opcode.BINARY:
                self.handle_bytes(frame)
            case Opcode.CONT:
                self.handle_cont(frame)
            case Opcode.PING:
                self.handle_ping()
            case Opcode.PONG:
                pass
            case Opcode.CLOSE:
                self.handle_close(frame)

    async def receive(self) -> ASGIReceiveEvent:
        """The next message. When there is none left, parsing continues in the next turn of the loop."""
        message = await self.queue.get()
        if self.read_paused and self.queue.empty():
            self._parse_soon()
        return message

    def send_receive_event_to_app(self) -> None:
        """A message is complete. Text that is not UTF-8 ends the connection, without a line in the log."""
        if self.curr_msg_data_type == "text" and not _is_text(self.frames):
            self._fail(_INVALID_DATA)
            return
        super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        """A ping. A client that does not read the pongs gets none."""
        pong = b"".join(self.conn.data_to_send())
        if self.pending_bytes() < MAX_KERNEL_BUFFER_BYTES:
            self.transport.write(pong)

    def handle_cont(self, event: Frame) -> None:
        """A fragment of a message. Empty ones add nothing to its size, so they are counted."""
        if len(self.frames) >= MAX_FRAGMENTS:
            self._fail(_POLICY_VIOLATION)
            return
        super().handle_cont(event)

    # The end. After a close frame of either side nothing may be written.

    def _fail(self, code: int, reason: str = "") -> None:
        self.frames = []
        self.conn.fail(code, reason)
        self.handle_parser_exception()

    def handle_close(self, event: Frame) -> None:
        """The client has sent a close frame."""
        self.write = _discard
        super().handle_close(event)
        self._abort_later()

    def handle_parser_exception(self) -> None:
        """What arrived violates the WebSocket protocol."""
        self.write = _discard
        close = self.conn.close_sent
        if close is not None:
            self.queue.put_nowait({"type": "websocket.disconnect", "code": close.code, "reason": close.reason})
        self._end_writing()

    def shutdown(self) -> None:
        """The server stops."""
        self.write = _discard
        super().shutdown()
        self._abort_later()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """The application has returned. A client that does not read the rest is aborted."""
        super().on_task_complete(task)
        self._abort_later()

    def _end_writing(self) -> None:
        """Write what is left and end that direction. A connection closed at once would lose it to unread bytes."""
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.write_eof()
        self.close_sent = True
        self._abort_later()

    def _abort_later(self) -> None:
        """Abort the connection unless the client ends it soon."""
        if self.close_timer is not None:
            self.close_timer.cancel()
        if not self.disconnected:
            self.close_timer = self.loop.call_later(self.close_timeout, self.transport.abort)

    def _stop_handshake_timer(self) -> None:
        if self._handshake_timer is not None:
            self._handshake_timer.cancel()
            self._handshake_timer = None


def uvicorn_options(limits: SocketLimits) -> dict[str, Any]:
    """The options of uvicorn for sockets; the heartbeat is ours, and small messages are not compressed."""
    return {
        "ws": partial(PreparedFrameProtocol, turns=TurnQueue(SOCKETS_PER_TURN)),
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
