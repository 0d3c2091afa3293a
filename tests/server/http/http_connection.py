"""The HTTP protocol of one connection without a network, with an app that answers with the size of each body."""

import asyncio
import json
from typing import Any, cast

import uvicorn
from uvicorn.server import ServerState

from tests.support.memory_transport import ManualLoop, MemoryTransport
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.session import uvicorn_options
from zataku.realtime.sockets.turn_queue import TurnQueue
from zataku.server.http.asgi import Receive, Scope, Send, send_json
from zataku.server.http.h11_protocol import CONNECTIONS_PER_TURN, TURNS_BETWEEN_FREQUENT, TimedHttpProtocol
from zataku.server.process.open_connections import ConnectionLimits, OpenConnections

DEADLINE = 10.0
STATUSES = {"/nope": 404, "/limited": 429}
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def no_limits() -> OpenConnections:
    """Connections that are never too many."""
    return OpenConnections(ConnectionLimits.within(1 << 20, 1 << 20), lambda _: False)


class HttpConnection:
    """The protocol of a connection.

    The app answers `/nope` and `/limited` at once with their status, `/part` with the beginning of a response, and
    other requests with the size of their body.
    """

    def __init__(
        self,
        open_connections: OpenConnections | None = None,
        address: str = "198.51.100.1",
        neighbour: "HttpConnection | None" = None,
    ) -> None:
        self.loop = ManualLoop() if neighbour is None else neighbour.loop
        self.turns = TurnQueue(CONNECTIONS_PER_TURN, TURNS_BETWEEN_FREQUENT) if neighbour is None else neighbour.turns
        self.requests = 0
        self.parsed = 0
        options = uvicorn_options(SocketLimits())
        config = uvicorn.Config(self._app, interface="asgi3", lifespan="off", log_config=None, **options)
        config.load()
        loop = cast("asyncio.AbstractEventLoop", self.loop)
        limits = no_limits() if open_connections is None else open_connections
        self.protocol = TimedHttpProtocol(config, ServerState(), {}, loop, open_connections=limits, turns=self.turns)
        self.transport = MemoryTransport(self.protocol, address)
        next_event = self.protocol.conn.next_event

        def count() -> Any:
            self.parsed += 1
            return next_event()

        self.protocol.conn.next_event = count

    def receive(self, data: bytes) -> None:
        self.transport.receive(data)

    async def run(self) -> None:
        """Run turns until nothing is left to parse and every request is answered."""
        async with asyncio.timeout(DEADLINE):
            while self.loop.turn() or self.protocol.tasks:
                await asyncio.sleep(0)

    @property
    def answers(self) -> list[tuple[int, Any]]:
        """The status and the body of each response."""
        parts = self.transport.written.split(b"HTTP/1.1 ")[1:]
        return [(int(part[:3]), json.loads(part.partition(b"\r\n\r\n")[2])) for part in parts]

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.requests += 1
        if scope["path"] == "/part":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"part", "more_body": True})
            return
        size, status = 0, STATUSES.get(scope["path"], 200)
        while scope["path"] not in STATUSES:
            message = await receive()
            size += len(message.get("body", b""))
            if not message.get("more_body"):
                break
        await send_json(send, status, size)
