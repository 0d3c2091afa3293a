"""The HTTP/1.1 parser of a connection: h11, with bounds on what it parses in a turn of the loop and of a request."""

import re
from urllib.parse import urlsplit

import h11

PIECE_BYTES = 64 * 1024
CHUNKED_PIECE_BYTES = 4 * 1024
"""How much is parsed at a time. A chunk of one byte takes as long as one of many."""
MAX_EVENTS_PER_TURN = 48
"""How many heads, chunks and ends are parsed before others have their turn; a chunk takes about twenty microseconds."""
MAX_HEADERS = 200
"""How many lines the head of a request may have, and the trailers of a body."""
FREE_CHUNKS = 128
MIN_CHUNK_BYTES = 256
"""A body may come in so many chunks of any size; in more of them, if they have so many bytes on average."""
MAX_CHUNK_LINE_BYTES = 4 * 1024
"""The most bytes of the line before a chunk, and of the trailers after the last one."""

_BLANK_LINE = re.compile(rb"\n\r?\n")


class BoundedConnection(h11.Connection):
    """The server's side of a connection.

    After some events it asks for more data as if all were parsed, and `is_turn_over` is true until `start_turn`.
    `error_status` is the status of the response to a request that was refused while it was parsed.
    """

    def __init__(self, max_head_bytes: int) -> None:
        super().__init__(h11.SERVER, max_head_bytes)
        self.is_turn_over = False
        self.error_status = 400
        self.sent_bytes = 0
        """Bytes of all responses so far."""
        self.status = 0
        """The status of the last response."""
        self.is_head = False
        """True when the last request asked for no body."""
        self._max_head_bytes = max_head_bytes
        self._events_left = MAX_EVENTS_PER_TURN
        self._is_chunked = False
        self._chunks = self._chunk_bytes = 0

    @property
    def piece_bytes(self) -> int:
        """How many bytes it takes at a time."""
        is_body = self.their_state is h11.SEND_BODY
        return PIECE_BYTES if is_body and not self._is_chunked else CHUNKED_PIECE_BYTES

    def start_turn(self) -> None:
        """Allow the events of another turn."""
        self.is_turn_over, self._events_left = False, MAX_EVENTS_PER_TURN

    def end_turn(self) -> None:
        """Parse nothing until the next turn."""
        self._events_left = 0

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """The next event. Raises `RemoteProtocolError` for a request that is malformed or exceeds a limit."""
        if not self._events_left:
            self.is_turn_over = True
            return h11.NEED_DATA
        if self.their_state is h11.IDLE:
            self._check_head()
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            self.error_status = error.error_status_hint
            raise
        if event is h11.NEED_DATA:
            self._check_incomplete()
        elif event is not h11.PAUSED:
            self._events_left -= 1
            self._count(event)
        return event

    def send_with_data_passthrough(self, event: h11.Event) -> list[bytes] | None:
        """The bytes of an event that is sent, which are counted."""
        if isinstance(event, h11.Response):
            self.status = event.status_code
        output = super().send_with_data_passthrough(event)
        self.sent_bytes += sum(map(len, output or ()))
        return output

    def _check_head(self) -> None:
        """Refuse a head that is too large before the time is spent to parse it."""
        received = self.trailing_data[0]
        if len(received) <= self._max_head_bytes and received.count(b"\n") <= MAX_HEADERS:
            return
        end = _BLANK_LINE.search(received)
        head = received if end is None else received[: end.start()]
        if len(head) > self._max_head_bytes or head.count(b"\n") > MAX_HEADERS:
            self._refuse("The headers of the request are too large.", 431)

    def _check_incomplete(self) -> None:
        """Refuse a chunk whose line does not end, and trailers that do not."""
        if self._is_chunked and self.their_state is h11.SEND_BODY:
            waiting = self.trailing_data[0]
            if len(waiting) > MAX_CHUNK_LINE_BYTES or waiting.count(b"\n") > MAX_HEADERS:
                self._refuse("The chunks of the body could not be read.", 400)

    def _count(self, event: h11.Event | type[h11.PAUSED] | type[h11.NEED_DATA]) -> None:
        if isinstance(event, h11.Request):
            headers, self.is_head = dict(event.headers), event.method == b"HEAD"
            if not _is_host(headers.get(b"host", b"")):
                self._refuse("The Host header names no host.", 400)
            self._is_chunked = b"transfer-encoding" in headers
            if self._is_chunked and b"content-length" in headers:
                # A proxy may have read another body: what is the next request here would be a part of this one there.
                self._refuse("The body has a length and comes in chunks. Send it in one way.", 400)
            self._chunks = self._chunk_bytes = 0
        elif isinstance(event, h11.Data) and self._is_chunked:
            self._chunks += event.chunk_start
            self._chunk_bytes += len(event.data)
            if self._chunks - FREE_CHUNKS > self._chunk_bytes // MIN_CHUNK_BYTES:
                self._refuse("The body comes in too many small chunks. Send larger ones.", 400)

    def _refuse(self, reason: str, status: int) -> None:
        self.error_status = status
        raise h11.RemoteProtocolError(reason, error_status_hint=status)


def _is_host(value: bytes) -> bool:
    """True for a `Host` header of which a URL can be made, as Litestar does for an error. HTTP/1.0 may have none."""
    try:
        _ = urlsplit("//" + value.decode("latin-1")).port
    except ValueError:
        return False
    return True
