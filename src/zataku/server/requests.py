"""The HTTP connection of the server: uvicorn's own, for callers who say what they want in time."""

import asyncio
from typing import ClassVar

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from zataku.refusals import Problem


class PromptRequests(H11Protocol):
    """Closes a connection whose request does not arrive: one that says nothing, or line after line for ever.

    uvicorn itself only waits a limited time between two requests.
    """

    patience: ClassVar[float] = 15.0
    """Seconds until the headers of a request must have come."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Somebody connects."""
        super().connection_made(transport)
        self._late = self.loop.call_later(self.patience, transport.close)

    def data_received(self, data: bytes) -> None:
        """Something arrives: the rest of the headers, or a part of them."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._in_time()
        elif self._late is None and not self.transport.is_closing():
            self._late = self.loop.call_later(self.patience, self.transport.close)

    def send_400_response(self, msg: str) -> None:
        """What came is no request. The answer has the shape that all errors have."""
        body = msgspec.json.encode({"error": Problem("bad_request", f"{msg} Check its first line and its headers.")})
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        response = h11.Response(status_code=400, headers=[*headers, (b"connection", b"close")], reason=b"Bad Request")
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """A socket has patience of its own."""
        self._in_time()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._in_time()
        super().connection_lost(exc)

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
