"""The HTTP/1.1 connection of the server: uvicorn's own, with limits on the time and the work that a client may take."""

import asyncio
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar

import h11
import msgspec
import structlog
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from zataku.errors import Problem
from zataku.realtime.sockets.kernel_buffer import limit_kernel_buffer, unacknowledged_bytes
from zataku.realtime.sockets.protocol import PreparedFrameProtocol
from zataku.realtime.sockets.turn_queue import RecentTurns, TurnQueue
from zataku.server.http.bounded_connection import BoundedConnection
from zataku.server.http.startup_gate import HEADERS_TOO_LARGE, MAX_HEADER_BYTES
from zataku.server.process.open_connections import OpenConnections

log = structlog.stdlib.get_logger("zataku.access")

CONNECTIONS_PER_TURN = 1
"""How many connections are parsed in one turn of the loop: the handling of a request takes about a millisecond."""
TURNS_BETWEEN_FREQUENT = 3
"""Turns after a request of a frequent connection in which no other of them begins: what has begun goes on meanwhile."""
UPGRADE_SEARCH_BYTES = 2048
"""How much of what has arrived is searched for the header that asks for a socket."""
MAX_DISCARDED_BYTES = 1024 * 1024
"""How much of a request is read after its response, so that a client that is still sending reads the response."""
_TOO_MANY_CONNECTIONS = Problem("unavailable", "Too many connections are open. Close some, or try again in a moment.")
_MALFORMED = Problem(
    "bad_request", "The request could not be understood. Check its first line, its headers and its body."
)


class TimedHttpProtocol(H11Protocol):
    """Parses a bounded part of what has arrived in each turn of the loop, and closes connections that do not move on.

    A crowd that connects in one moment waits for its turns, while those who are connected have theirs.

    Those are connections whose headers do not arrive in time, whose request continues after its response, and whose
    peer does not read a response. uvicorn itself only limits the time between two requests.
    """

    header_seconds: ClassVar[float] = 15.0
    """Seconds until the headers of a request must have arrived."""

    body_seconds: ClassVar[float] = 2.0
    """Seconds for the rest of a request that is already answered: closed at once, many clients miss the response."""

    stall_seconds: ClassVar[float] = 30.0
    """Seconds in which a peer must read something of a response."""

    pipelining_seconds: ClassVar[float] = 0.05
    """Seconds between a response and the next request, when that was sent before the response: no browser does so."""

    limited_seconds: ClassVar[float] = 0.5
    """Seconds in which nothing is read after a response 429: refusing requests takes time as well."""

    stall_check_seconds: ClassVar[float] = 5.0

    conn: BoundedConnection
    _unparsed = b""
    _is_discarding = False
    _is_upgraded = False
    _discarded_bytes = 0
    _taken_bytes = 0
    _taken_at = 0.0
    _resuming: asyncio.TimerHandle | None = None
    _is_queued = False
    _header_timer: asyncio.TimerHandle | None = None
    _body_timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        open_connections: OpenConnections,
        turns: TurnQueue,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._open_connections = open_connections
        self._turns, self._recent_turns = turns, RecentTurns(self.loop.time())
        self.conn = BoundedConnection(config.h11_max_incomplete_event_size or MAX_HEADER_BYTES)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the time limit for the first headers."""
        super().connection_made(transport)
        # Else the kernel takes megabytes for a peer that reads nothing.
        limit_kernel_buffer(transport)
        self.flow = _ReadingFlow(transport, self._resume_reading)
        if not self._open_connections.open(transport, self._address or None):
            self._refuse_connection()
            return
        self._header_timer = self.loop.call_later(self.header_seconds, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop everything of a closed connection."""
        self._unparsed = b""
        self._stop_timers()
        self._open_connections.forget(self.transport)
        super().connection_lost(exc)
        self._release()

    # What arrives

    def data_received(self, data: bytes) -> None:
        """Bytes have arrived. Those of a refused request are not parsed."""
        if self._is_discarding or self._is_answered_early():
            self._discarded_bytes += len(data)
            if self._discarded_bytes > MAX_DISCARDED_BYTES:
                if not self._is_discarding:
                    self._discard()
                self.transport.pause_reading()
        if not self._is_discarding:
            self._unset_keepalive_if_required()
            self._unparsed += data
            if self._resuming is None and not self._is_queued:
                self._parse_in_turn()

    def _parse_in_turn(self) -> None:
        is_frequent = self._is_frequent()
        if self._turns.take_place(self.loop, is_frequent=is_frequent):
            self._parse()
        else:
            # It has a request, which waits for its turn.
            self._open_connections.set_busy(self.transport)
            self.transport.pause_reading()
            self._queue_parse(is_frequent)

    def _parse_queued(self) -> None:
        self._is_queued = False
        if self._resuming is None and not self._is_over():
            self._parse()

    def _parse(self) -> None:
        """Parse as much as one turn of the loop may take, and continue in the next one."""
        was_turn_over = self.conn.is_turn_over
        self.conn.start_turn()
        data, position = self._unparsed, 0
        try:
            if was_turn_over:
                self.handle_events()
            while position < len(data) and self._may_parse():
                piece = data[position : position + self.conn.piece_bytes]
                position += len(piece)
                self.conn.receive_data(piece)
                self.handle_events()
        except BaseException:
            self.transport.abort()  # nothing would be read of it any more
            raise
        self._unparsed = b"" if self._is_over() else data[position:]
        self._continue()

    def _continue(self) -> None:
        """Go on reading, or parse the rest in the next turn, unless a response or the application comes first."""
        if self._is_over():
            return
        self._update_timers()
        if self.conn.is_turn_over or (self._unparsed and self._may_parse()):
            self.transport.pause_reading()
            self._parse_soon()
        elif self._unparsed or self.flow.read_paused:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def _may_parse(self) -> bool:
        """False when the turn is over, while the application has not taken the body, and until a response is sent."""
        return not (
            self._is_over()
            or self.conn.is_turn_over
            or self.flow.read_paused
            or self.conn.their_state in (h11.DONE, h11.MUST_CLOSE)
        )

    def _is_over(self) -> bool:
        return self._is_upgraded or self._is_discarding or self.transport.is_closing()

    def _is_answered_early(self) -> bool:
        """True when the response was sent before the body had arrived."""
        return self.conn.their_state is h11.SEND_BODY and self.cycle.response_complete

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _parse_soon(self) -> None:
        if self._resuming is None and not self._is_queued:
            self._queue_parse(self._is_frequent())

    def _is_frequent(self) -> bool:
        """True when others come first: whoever sends few requests, and reads a page rather than opens a socket."""
        # The queue only orders by it, so that neither a header in two parts nor one that lies does any harm.
        is_upgrade = b"upgrade: websocket" in self._unparsed[:UPGRADE_SEARCH_BYTES].lower()
        return self._recent_turns.are_frequent(self.loop.time()) or is_upgrade

    def _queue_parse(self, is_frequent: bool) -> None:
        self._is_queued = True
        self._turns.do_later(self.loop, self._address, self._parse_queued, is_frequent=is_frequent)

    def _resume_reading(self) -> None:
        if not self._is_over():
            self._parse_soon()

    # Refusals

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's sentence
        """Refuse a request that is malformed or exceeds a limit, with a JSON error as every other."""
        is_too_large = self.conn.error_status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        status, problem = (431, HEADERS_TOO_LARGE) if is_too_large else (400, _MALFORMED)
        log.info("request_refused", status=status, code=problem.code)
        self._answer_refused(status, problem)
        if self.cycle is not None and not self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._discard()

    def _refuse_connection(self) -> None:
        """Refuse a connection of an address that has too many, or of a server that has."""
        log.info("connection_refused", open=len(self._open_connections))
        self._is_discarding = True
        self._answer_refused(503, _TOO_MANY_CONNECTIONS)
        self.transport.close()

    def _answer_refused(self, status: int, problem: Problem) -> None:
        body = msgspec.json.encode({"error": problem})
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        reason = HTTPStatus(status).phrase.encode()
        response = h11.Response(status_code=status, headers=[*headers, (b"connection", b"close")], reason=reason)
        # Such bytes may also arrive during a response, or after it.
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            is_head = self.conn.our_state is h11.SEND_RESPONSE and self.conn.is_head
            for event in (response, h11.Data(data=b"" if is_head else body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")

    def _discard(self) -> None:
        """End the connection soon, and parse nothing more: closed at once, its unread bytes would lose the response."""
        self._is_discarding = True
        self._stop_timers()
        self._unset_keepalive_if_required()
        if self.transport.is_closing():
            return
        self.transport.write_eof()
        self.transport.resume_reading()
        self._body_timer = self.loop.call_later(self.body_seconds, self.transport.abort)

    # Responses

    def on_response_complete(self) -> None:
        """Start the time limit for a body that still arrives after its response, and go on to the next request."""
        # Read first: the call below may begin the next request, whose own body may be on its way.
        is_sending = self.conn.their_state is h11.SEND_BODY
        self._discarded_bytes = 0
        self.conn.end_turn()
        super().on_response_complete()
        if is_sending and not self.transport.is_closing():
            self._body_timer = self.loop.call_later(self.body_seconds, self.transport.close)
        if not self._is_over():
            self._update_timers()
            self._parse_next_request()

    def _parse_next_request(self) -> None:
        """Continue with a request that was sent before the last response, not without leaving time to others."""
        if self.conn.their_state is not h11.IDLE:
            return
        # The connection of a proxy has requests of many clients.
        is_limited = self.conn.status == HTTPStatus.TOO_MANY_REQUESTS
        if is_limited and not self._open_connections.is_exempt(self.transport):
            self.transport.pause_reading()
            self._parse_later(self.limited_seconds)
        elif self._unparsed or self.conn.trailing_data[0]:
            self._parse_later(self.pipelining_seconds)

    def _parse_later(self, seconds: float) -> None:
        if self._resuming is not None:
            self._resuming.cancel()
        self._resuming = self.loop.call_later(seconds, self._resume)

    def _resume(self) -> None:
        self._resuming = None
        if not self._is_queued:
            self._parse_in_turn()

    def shutdown(self) -> None:
        """The server stops."""
        if self._is_discarding:
            self.transport.abort()
        else:
            super().shutdown()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Stop the time limits: a socket has its own."""
        self._is_upgraded = True
        self._stop_timers()
        self._open_connections.set_busy(self.transport)
        # The request may have waited for its turn, and its socket begins by reading.
        self.transport.resume_reading()
        super().handle_websocket_upgrade(event)
        upgraded = self.transport.get_protocol()
        if isinstance(upgraded, PreparedFrameProtocol):
            # It still is the same connection.
            upgraded.on_lost = partial(self._open_connections.forget, self.transport)
        self._release()

    def _release(self) -> None:
        """Drop what refers back to this object: a crowd that leaves would be left to the garbage collector."""
        self.flow = FlowControl(self.transport)
        self.cycle = None  # type: ignore[assignment]  # as uvicorn begins

    # Time limits

    def _update_timers(self) -> None:
        """Stop or start the time limits, by what has arrived."""
        if self._body_timer is not None and not self._is_answered_early():
            self._body_timer.cancel()
            self._body_timer = None
        if self.conn.their_state is not h11.IDLE:
            self._open_connections.set_busy(self.transport)
            if self._header_timer is not None:
                self._header_timer.cancel()
                self._header_timer = None
            if self._stall_timer is None:
                self._taken_at = self.loop.time()
                self._stall_timer = self.loop.call_later(self.stall_check_seconds, self._check_stall)
            return
        self._open_connections.set_idle(self.transport)
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(self.header_seconds, self.transport.close)

    def _check_stall(self) -> None:
        """Abort a connection whose peer has read nothing of a response for too long."""
        self._stall_timer = None
        if self.transport.is_closing() and not self.cycle.response_complete:
            # Ended midway, as an export that made room for another: nobody needs the rest of it.
            self.transport.abort()
            return
        pending = self.transport.get_write_buffer_size()
        unread = pending + unacknowledged_bytes(self.transport)
        taken, now = self.conn.sent_bytes - unread, self.loop.time()
        if not unread or taken != self._taken_bytes:
            self._taken_bytes, self._taken_at = taken, now
        elif now - self._taken_at >= self.stall_seconds:
            log.info("response_stalled", route=self.scope.get("path_template"), unread=unread)
            self.transport.abort()
            return
        if pending or not self.cycle.response_complete:
            self._stall_timer = self.loop.call_later(self.stall_check_seconds, self._check_stall)

    def _stop_timers(self) -> None:
        for handle in (self._header_timer, self._body_timer, self._stall_timer, self._resuming):
            if handle is not None:
                handle.cancel()
        self._header_timer = self._body_timer = self._stall_timer = self._resuming = None


class _ReadingFlow(FlowControl):
    """Flow control that leaves it to the protocol to resume reading, which may have something to parse first."""

    def __init__(self, transport: asyncio.Transport, resume: Callable[[], None]) -> None:
        super().__init__(transport)
        self._resume = resume

    def resume_reading(self) -> None:
        """The application takes more."""
        if self.read_paused:
            self.read_paused = False
            self._resume()
