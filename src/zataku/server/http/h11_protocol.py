"""The HTTP/1.1 connection of the server: uvicorn's own, with time limits for requests that do not arrive."""

import asyncio
from typing import ClassVar

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from zataku.errors import Problem


class TimedHttpProtocol(H11Protocol):
    """Closes a connection whose request headers do not arrive in time.

    Also closes one whose request was answered before its body had arrived, unless the rest arrives soon. uvicorn itself
    only limits the time between two requests.
    """

    header_seconds: ClassVar[float] = 15.0
    """Seconds until the headers of a request must have arrived."""

    body_seconds: ClassVar[float] = 2.0
    """Seconds for the rest of a request that is already answered: closed at once, many clients miss the response."""

    _header_timer: asyncio.TimerHandle | None = None
    _body_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the time limit for the first headers."""
        super().connection_made(transport)
        self._header_timer = self.loop.call_later(self.header_seconds, transport.close)

    def data_received(self, data: bytes) -> None:
        """Stop or start the time limits, by what has arrived."""
        super().data_received(data)
        if self._body_timer is not None and not (
            self.conn.their_state is h11.SEND_BODY and self.cycle.response_complete
        ):
            self._stop_body_timer()
        if self.conn.their_state is not h11.IDLE:
            self._stop_header_timer()
        elif self._header_timer is None and not self.transport.is_closing():
            self._header_timer = self.loop.call_later(self.header_seconds, self.transport.close)

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not an HTTP request with a JSON error, as every other error."""
        body = msgspec.json.encode({"error": Problem("bad_request", f"{msg} Check its first line and its headers.")})
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        response = h11.Response(status_code=400, headers=[*headers, (b"connection", b"close")], reason=b"Bad Request")
        # Such bytes may also arrive during a response, or after it.
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def on_response_complete(self) -> None:
        """Start the time limit for a body that still arrives after its response."""
        # Read first: the call below may begin the next request, whose own body may be on its way.
        is_sending = self.conn.their_state is h11.SEND_BODY
        super().on_response_complete()
        if is_sending and not self.transport.is_closing():
            self._body_timer = self.loop.call_later(self.body_seconds, self.transport.close)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Stop the time limits: a socket has its own."""
        self._stop_header_timer()
        self._stop_body_timer()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limits of a closed connection."""
        self._stop_header_timer()
        self._stop_body_timer()
        super().connection_lost(exc)

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _stop_body_timer(self) -> None:
        if self._body_timer is not None:
            self._body_timer.cancel()
            self._body_timer = None
