"""The HTTP connection of the server: uvicorn's own, for callers who say what they want in time."""

import asyncio
from typing import ClassVar

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from zataku.errors import Problem


class TimedHttpProtocol(H11Protocol):
    """Closes a connection whose request does not arrive: one that says nothing, or line after line for ever.

    Also closes one whose request was answered before all of it had come, unless the rest comes soon. uvicorn itself
    only waits a limited time between two requests.
    """

    patience: ClassVar[float] = 15.0
    """Seconds until the headers of a request must have come."""

    linger: ClassVar[float] = 2.0
    """Seconds that the rest of a request may take once it is answered: closed at once, many would miss the answer."""

    _late: asyncio.TimerHandle | None = None
    _answered: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Somebody connects."""
        super().connection_made(transport)
        self._late = self.loop.call_later(self.patience, transport.close)

    def data_received(self, data: bytes) -> None:
        """Something arrives: the rest of the headers, or a part of them."""
        super().data_received(data)
        if self._answered is not None and not (self.conn.their_state is h11.SEND_BODY and self.cycle.response_complete):
            self._read_up()
        if self.conn.their_state is not h11.IDLE:
            self._in_time()
        elif self._late is None and not self.transport.is_closing():
            self._late = self.loop.call_later(self.patience, self.transport.close)

    def send_400_response(self, msg: str) -> None:
        """What came is no request. The answer has the shape that all errors have."""
        body = msgspec.json.encode({"error": Problem("bad_request", f"{msg} Check its first line and its headers.")})
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        response = h11.Response(status_code=400, headers=[*headers, (b"connection", b"close")], reason=b"Bad Request")
        # Nonsense may also come in the middle of an answer, or after it.
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def on_response_complete(self) -> None:
        """The answer has left. Who still sends what it was for does not go on for long."""
        # Asked before another request is looked at, whose own body may be on its way.
        sending = self.conn.their_state is h11.SEND_BODY
        super().on_response_complete()
        if sending and not self.transport.is_closing():
            self._answered = self.loop.call_later(self.linger, self.transport.close)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """A socket has patience of its own."""
        self._in_time()
        self._read_up()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._in_time()
        self._read_up()
        super().connection_lost(exc)

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _read_up(self) -> None:
        if self._answered is not None:
            self._answered.cancel()
            self._answered = None
