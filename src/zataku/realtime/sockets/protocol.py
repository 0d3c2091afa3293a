"""The WebSocket protocol of the server: uvicorn's own, with a direct path for prepared frames."""

import asyncio
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

from zataku.errors import InvalidRequest
from zataku.realtime.sockets import limits
from zataku.realtime.sockets.connection import FrameCounter
from zataku.realtime.sockets.handshake import parse_request, refusal, refusal_code
from zataku.realtime.sockets.kernel_buffer import MAX_KERNEL_BUFFER_BYTES, limit_kernel_buffer
from zataku.realtime.sockets.receive_queue import ReceiveQueue
from zataku.realtime.sockets.turn_queue import RecentTurns, TurnQueue
from zataku.text import is_utf8

EXTENSION = "zataku.connection"
_INVALID_DATA, _POLICY_VIOLATION = 1007, 1008

log = structlog.get_logger(__name__)


class PreparedFrameProtocol(WebSocketsSansIOProtocol):
    """A connection that the application gets as `Connection` in `scope["extensions"][EXTENSION]`.

    `write` is the transport's own function: a broadcast calls it without anything in between. What arrives is parsed in
    pieces: in each turn of the loop a message or some other frames of each of a few sockets. Reading pauses until all
    of it is parsed, and until the application has taken the messages.
    """

    __slots__ = ("has_backlog", "write")  # a broadcast reads these of every connection

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
    _paused_until = 0.0
    _closing_frames = _closing_bytes = 0

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
        # A crowd that arrives waits for those who are here.
        self._turns, self._recent_turns = turns, RecentTurns(self.loop.time(), is_newcomer=True)
        self._parsed_frames: list[Frame] = []
        self.close_timeout = limits.CLOSE_SECONDS
        self.queue = cast("asyncio.Queue[ASGIReceiveEvent]", ReceiveQueue())
        self._extensions: dict[str, object] = {}
        self._was_active = True
        self.write, self.pending_bytes, self.has_backlog = _discard, _zero, False

    def was_active(self) -> bool:
        """True when anything has arrived since the last call."""
        was_active, self._was_active = self._was_active, False
        return was_active

    def set_frame_counter(self, count: FrameCounter) -> None:
        """Call `count` for each control frame and fragment."""
        self._count_frame = count

    def charge_command(self) -> None:
        """Count the work of a command, for which others wait longer than for a message."""
        self._turns.charge(limits.COMMAND_PLACES - 1)

    def pause(self, seconds: float) -> None:
        """Read nothing more for some seconds, after the pauses that have begun."""
        self._paused_until = max(self._paused_until, self.loop.time()) + seconds
        if self._resuming is None and not self.transport.is_closing():
            self._pause_reading()
            self._resume()

    def _resume(self) -> None:
        seconds = self._paused_until - self.loop.time()
        self._resuming = self.loop.call_later(seconds, self._resume) if seconds > 0 else None
        self._parse_soon()

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

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        super().connection_made(transport)
        stream = cast("asyncio.Transport", transport)
        self.pending_bytes = stream.get_write_buffer_size
        stream.set_write_buffer_limits(high=0)
        self._handshake_timer = self.loop.call_later(self.handshake_seconds, stream.abort)
        limit_kernel_buffer(stream)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self.write, self.pending_bytes, self.has_backlog = _discard, _zero, False
        self._unparsed, self._parsed_frames, self._count_frame = b"", [], None
        self._stop_handshake_timer()
        if self._resuming is not None:
            self._resuming.cancel()
            self._resuming = None
        self._turns.do(self.loop, self._address, partial(self._end_session, exc), is_frequent=True)  # nobody waits

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
            self._open(data)
            return
        self._unparsed += data
        if self._resuming is None and not self._is_queued:
            self._is_queued = True
            self._parse_in_turn()

    def pause_writing(self) -> None:
        """The kernel has not taken all that was written."""
        super().pause_writing()
        self.has_backlog = True

    def resume_writing(self) -> None:
        """The kernel has taken all that was written."""
        super().resume_writing()
        self.has_backlog = False

    # The handshake

    def _open(self, head: bytes) -> None:
        """Start the application for a request that asks for a socket, when this has returned, and refuse any other."""
        try:
            request = parse_request(head)
        except InvalidRequest as error:
            self._refuse(400, error.message)
            return
        accepted = self.conn.accept(request)
        if accepted.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            problem = f"The request does not open a socket: {self.conn.handshake_exc}. Use a WebSocket client."
            self._refuse(accepted.status_code, problem)
            return
        self.handle_connect(request)
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
        """Handle a message, or as many other frames as one turn of the loop may take, and continue in the next one."""
        self._is_queued = False
        data, position, left = self._unparsed, 0, limits.MAX_FRAMES_PER_TURN
        try:
            while left and self._may_parse() and (self._parsed_frames or position < len(data)):
                if self._parsed_frames:
                    self._handle_frame(self._parsed_frames.pop())
                    left -= 1
                else:
                    piece = data[position : position + limits.PIECE_BYTES]
                    position += len(piece)
                    self._parse_piece(piece)
        except BaseException:
            self.transport.abort()  # nothing would be read of it any more
            raise
        self._unparsed = data[position:]
        if self.transport.is_closing() or self._has_stopped_reading():
            self._unparsed, self._parsed_frames = b"", []
        self._continue()

    def _continue(self) -> None:
        """Go on reading, or parse the rest in the next turn, unless the application or a pause comes first."""
        if self.transport.is_closing():
            return
        if not self._may_parse():
            self._pause_reading()
        elif self._unparsed or self._parsed_frames:
            self._pause_reading()
            self._parse_soon()
        elif self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()

    def _parse_piece(self, piece: bytes) -> None:
        """Parse some bytes into frames, of which the first is the last of the list."""
        self.conn.receive_data(piece)
        if self.conn.parser_exc is not None and not self.close_sent:
            self.handle_parser_exception()
            return
        self._parsed_frames = cast("list[Frame]", self.conn.events_received()[::-1])
        if self.close_sent:
            self._closing_frames += len(self._parsed_frames)
            self._closing_bytes += len(piece)
            self.conn.data_to_send()

    def _may_parse(self) -> bool:
        """False until the socket is accepted, in a pause, and while the application has not taken the last message."""
        if self.transport.is_closing():
            return False
        if self.close_sent:
            return not self._has_stopped_reading()
        return self.handshake_complete and self.queue.empty() and self._resuming is None

    def _has_stopped_reading(self) -> bool:
        """True when the answer to a close frame is not among the next frames."""
        return self._closing_frames > limits.MAX_CLOSING_FRAMES or self._closing_bytes > limits.MAX_CLOSING_BYTES

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _parse_soon(self) -> None:
        if self._resuming is None and not self._is_queued:
            self._is_queued = True
            self.loop.call_soon(self._parse_in_turn)

    def _parse_in_turn(self) -> None:
        """Parse now when this turn of the loop has room, otherwise in a later one."""
        is_frequent = self._recent_turns.are_frequent(self.loop.time())
        if self._turns.take_place(self.loop, is_frequent=is_frequent):
            self._parse()
        else:
            self._pause_reading()
            self._turns.do_later(self.loop, self._address, self._parse, is_frequent=is_frequent)

    def _pause_reading(self) -> None:
        if not self.read_paused and not self.transport.is_closing():
            self.read_paused = True
            self.transport.pause_reading()

    def _handle_frame(self, frame: Frame) -> None:
        is_control = frame.opcode in CTRL_OPCODES
        if self._count_frame is not None and (is_control or frame.opcode is Opcode.CONT or not frame.fin):
            self._count_frame(is_control)
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
            case Opcode.CLOSE:
                self.handle_close(frame)
            case Opcode.PONG:
                pass

    async def receive(self) -> ASGIReceiveEvent:
        """The next message. When there is none left, parsing continues in the next turn of the loop."""
        message = await self.queue.get()
        if self.read_paused and self.queue.empty():
            self._parse_soon()
        return message

    def send_receive_event_to_app(self) -> None:
        """A message is complete. Text that is not UTF-8 ends the connection, without a line in the log."""
        if self.curr_msg_data_type == "text" and not is_utf8(b"".join(self.frames)):
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
        if len(self.frames) >= limits.MAX_FRAGMENTS:
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
        """The server stops. A connection that has just been lost may still wait for its end."""
        self.write = _discard
        if not self.transport.is_closing():
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


def _discard(_framed: bytes) -> None:
    pass


def _zero() -> int:
    return 0
