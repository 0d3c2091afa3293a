"""A server on loopback with the real protocol, a handler that a test controls, and its clients."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import msgspec
import uvicorn
from websockets.asyncio.client import ClientConnection, connect

from zataku.clock import Clock, SystemClock
from zataku.platform.identity import Identity
from zataku.platform.limits import AccountId
from zataku.realtime.messages import (
    CommandMessage,
    EventsMissed,
    Join,
    Joined,
    Leave,
    TransientBroadcast,
    TransientMessage,
)
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.session import Endpoint, uvicorn_options
from zataku.realtime.sockets.socket import Socket

DEADLINE = 10.0


def guest(name: str = "a") -> Identity:
    return Identity(account_id=AccountId(name), role="guest", language="en")


def transient_event(topic: str, number: int, size: int = 0) -> bytes:
    """A transient event with a number, padded to a size."""
    event = msgspec.json.encode({"n": number, "pad": "x" * size} if size else {"n": number})
    return msgspec.json.encode(TransientBroadcast(to=topic, events=[msgspec.Raw(event)]))


class RecordingHandler:
    """A handler that records its calls. `execute` replies with the command, unless a test sets `on_execute`."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.sockets: list[Socket] = []
        self.received: list[tuple[str, object]] = []
        self.disconnects: list[tuple[Socket, list[str]]] = []
        self.any_disconnected = asyncio.Event()
        self._changed = asyncio.Event()
        self.on_execute: Callable[[Socket, CommandMessage], Awaitable[bytes | None]] | None = None
        self.on_join: Callable[[Socket, Join], Awaitable[None]] | None = None

    async def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition on the recorded calls holds; it is checked after every call."""
        async with asyncio.timeout(DEADLINE):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def join(self, socket: Socket, message: Join) -> None:
        if self.on_join is not None:
            await self.on_join(socket, message)
        channel = self.hub.subscribe(socket, message.to)
        self.hub.send(socket, Joined(id=message.id, to=message.to, channel=channel))
        self.sockets.append(socket)
        self._record("join", message.to)

    async def leave(self, socket: Socket, message: Leave) -> None:
        self.hub.unsubscribe(socket, message.to)
        self._record("leave", message.to)

    async def execute(self, socket: Socket, message: CommandMessage) -> bytes | None:
        self._record("do", message.id)
        return bytes(message.what) if self.on_execute is None else await self.on_execute(socket, message)

    def handle_transient(self, socket: Socket, message: TransientMessage) -> None:
        self._record("pass", bytes(message.what))

    def handle_binary(self, socket: Socket, topic: str, payload: bytes) -> None:
        self._record(topic, payload)
        self.hub.broadcast_binary(topic, payload)

    async def catch_up(self, socket: Socket, topic: str) -> None:
        self.hub.send(socket, EventsMissed(to=topic))

    def disconnected(self, socket: Socket) -> None:
        self.disconnects.append((socket, list(socket.topics)))
        self.any_disconnected.set()
        self._changed.set()

    def _record(self, kind: str, content: object) -> None:
        self.received.append((kind, content))
        self._changed.set()


class SocketServer:
    """A running server."""

    def __init__(self, hub: Hub, handler: RecordingHandler, port: int) -> None:
        self.hub, self.handler, self.port = hub, handler, port
        self.identity = guest()

    @asynccontextmanager
    async def client(self, *topics: str, **options: Any) -> AsyncIterator[ClientConnection]:
        """A connected client that has joined topics."""
        options = {"compression": None, "ping_interval": None, "max_size": None} | options
        async with connect(f"ws://127.0.0.1:{self.port}/socket", **options) as client:
            assert (await receive(client))["t"] == "welcome"
            for number, topic in enumerate(topics):
                await send_message(client, t="join", id=number, to=topic)
                assert (await receive(client))["t"] == "joined"
            yield client


async def receive(client: ClientConnection) -> dict[str, Any]:
    """The next message."""
    async with asyncio.timeout(DEADLINE):
        return msgspec.json.decode(await client.recv())


async def send_message(client: ClientConnection, **message: object) -> None:
    await client.send(msgspec.json.encode(message).decode())


async def receive_numbers(client: ClientConnection, count: int) -> list[int]:
    """The numbers of so many events."""
    return [(await receive(client))["events"][0]["n"] for _ in range(count)]


async def close_code(client: ClientConnection) -> int | None:
    """The close code, when the server has closed the connection."""
    async with asyncio.timeout(DEADLINE):
        await client.wait_closed()
    return client.close_code


class ListeningServer(uvicorn.Server):
    """A uvicorn server with an event that is set when it accepts connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_listening.set()


@asynccontextmanager
async def run_server(limits: SocketLimits | None = None, clock: Clock | None = None) -> AsyncIterator[SocketServer]:
    """Run a server until the end of the block."""
    hub = Hub(clock or SystemClock(), Random(1), limits or SocketLimits())
    handler = RecordingHandler(hub)
    endpoint = Endpoint(hub, handler)
    listening = socket.create_server(("127.0.0.1", 0))
    socket_server = SocketServer(hub, handler, listening.getsockname()[1])

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await endpoint.serve(scope, receive, send, identity=socket_server.identity, address=scope["client"][0])

    options = uvicorn_options(hub.limits)
    server = ListeningServer(uvicorn.Config(application, lifespan="off", log_config=None, **options))  # type: ignore[arg-type]
    running = asyncio.create_task(server.serve(sockets=[listening]))
    await hub.start(handler.catch_up)
    try:
        await asyncio.wait_for(server.is_listening.wait(), DEADLINE)
        yield socket_server
    finally:
        server.should_exit = True
        await running
        await hub.stop()
