"""A server on loopback with the real connections, a room that does what a test tells it, and browsers for both."""

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
from zataku.realtime.messages import Do, Join, Joined, Leave, Missed, Pass, Passing
from zataku.realtime.sockets.hub import Hub
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.protocol import uvicorn_options
from zataku.realtime.sockets.session import Endpoint
from zataku.realtime.sockets.socket import Socket

DEADLINE = 10.0


def somebody(name: str = "a") -> Identity:
    return Identity(account_id=AccountId(name), role="guest", language="en")


def passing(topic: str, number: int, size: int = 0) -> bytes:
    """An event that says its number, as large as is wanted."""
    said = msgspec.json.encode({"n": number, "pad": "x" * size} if size else {"n": number})
    return msgspec.json.encode(Passing(to=topic, events=[msgspec.Raw(said)]))


class Table:
    """A listener: `do` is answered with what was asked, unless a test puts something else in its place."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.sockets: list[Socket] = []
        self.heard: list[tuple[str, object]] = []
        self.left: list[tuple[Socket, list[str]]] = []
        self.all_gone = asyncio.Event()
        self.doing: Callable[[Socket, Do], Awaitable[bytes | None]] | None = None
        self.joining: Callable[[Socket, Join], Awaitable[None]] | None = None

    async def join(self, socket: Socket, message: Join) -> None:
        if self.joining is not None:
            await self.joining(socket, message)
        channel = self.hub.subscribe(socket, message.to)
        self.hub.send(socket, Joined(id=message.id, to=message.to, channel=channel))
        self.sockets.append(socket)
        self.heard.append(("join", message.to))

    async def leave(self, socket: Socket, message: Leave) -> None:
        self.hub.unsubscribe(socket, message.to)
        self.heard.append(("leave", message.to))

    async def execute(self, socket: Socket, message: Do) -> bytes | None:
        self.heard.append(("do", message.id))
        return bytes(message.what) if self.doing is None else await self.doing(socket, message)

    def handle_transient(self, socket: Socket, message: Pass) -> None:
        self.heard.append(("pass", bytes(message.what)))

    def handle_binary(self, socket: Socket, topic: str, payload: bytes) -> None:
        self.heard.append((topic, payload))
        self.hub.broadcast_binary(topic, payload)

    async def catch_up(self, socket: Socket, topic: str) -> None:
        self.hub.send(socket, Missed(to=topic))

    def disconnected(self, socket: Socket) -> None:
        self.left.append((socket, list(socket.topics)))
        self.all_gone.set()


class Served:
    """A running server."""

    def __init__(self, hub: Hub, table: Table, port: int) -> None:
        self.hub, self.table, self.port = hub, table, port
        self.identity = somebody()

    @asynccontextmanager
    async def browser(self, *topics: str, **options: Any) -> AsyncIterator[ClientConnection]:
        """Somebody who has been welcomed and has joined topics."""
        options = {"compression": None, "ping_interval": None, "max_size": None} | options
        async with connect(f"ws://127.0.0.1:{self.port}/socket", **options) as browser:
            assert (await heard(browser))["t"] == "welcome"
            for number, topic in enumerate(topics):
                await say(browser, t="join", id=number, to=topic)
                assert (await heard(browser))["t"] == "joined"
            yield browser


async def heard(browser: ClientConnection) -> dict[str, Any]:
    """The next message."""
    async with asyncio.timeout(DEADLINE):
        return msgspec.json.decode(await browser.recv())


async def say(browser: ClientConnection, **message: object) -> None:
    await browser.send(msgspec.json.encode(message).decode())


async def numbers(browser: ClientConnection, count: int) -> list[int]:
    """The numbers of so many events."""
    return [(await heard(browser))["events"][0]["n"] for _ in range(count)]


async def ended(browser: ClientConnection) -> int | None:
    """The code that a socket is closed with."""
    async with asyncio.timeout(DEADLINE):
        await browser.wait_closed()
    return browser.close_code


async def until(true: Callable[[], object]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(DEADLINE):
        while not true():
            await asyncio.sleep(0.002)


@asynccontextmanager
async def served(limits: SocketLimits | None = None, clock: Clock | None = None) -> AsyncIterator[Served]:
    """A server, stopped at the end."""
    hub = Hub(clock or SystemClock(), Random(1), limits or SocketLimits())
    table = Table(hub)
    endpoint = Endpoint(hub, table)
    listening = socket.create_server(("127.0.0.1", 0))
    made = Served(hub, table, listening.getsockname()[1])

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await endpoint.serve(scope, receive, send, identity=made.identity, address=scope["client"][0])

    options = uvicorn_options(hub.limits)
    server = uvicorn.Server(uvicorn.Config(application, lifespan="off", log_config=None, **options))  # type: ignore[arg-type]
    running = asyncio.create_task(server.serve(sockets=[listening]))
    await hub.start(table.catch_up)
    try:
        await until(lambda: server.started)
        yield made
    finally:
        server.should_exit = True
        await running
        await hub.stop()
