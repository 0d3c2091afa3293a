"""Connections that have ended are freed at once, without the garbage collector."""

import asyncio
import gc
import socket
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest
import uvicorn

from tests.server.http.http_connection import DEADLINE, GET, no_limits
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.session import uvicorn_options
from zataku.realtime.sockets.turn_queue import TurnQueue
from zataku.server.http.asgi import Receive, Scope, Send, send_json
from zataku.server.http.h11_protocol import CONNECTIONS_PER_TURN, TURNS_BETWEEN_FREQUENT, TimedHttpProtocol

UPGRADE = (
    b"GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await send_json(send, 200, "here")
        return
    await receive()
    await send({"type": "websocket.accept"})
    await receive()


def observed(make: Callable[..., Any], made: list[weakref.ref[Any]]) -> Callable[..., Any]:
    def make_observed(**options: Any) -> Any:
        protocol = make(**options)
        made.append(weakref.ref(protocol))
        return protocol

    return make_observed


@pytest.mark.parametrize("request_bytes", [GET, UPGRADE], ids=["requests", "sockets"])
async def test_a_crowd_that_has_left_is_not_left_to_the_garbage_collector(request_bytes: bytes):
    made: list[weakref.ref[Any]] = []
    turns = TurnQueue(CONNECTIONS_PER_TURN, TURNS_BETWEEN_FREQUENT)
    http = observed(partial(TimedHttpProtocol, open_connections=no_limits(), turns=turns), made)
    options = uvicorn_options(SocketLimits())
    options["ws"] = observed(options["ws"], made)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app, lifespan="off", log_config=None, http=cast("Any", http), **options)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([listening]))
        gc.disable()
        try:
            async with asyncio.timeout(DEADLINE):
                for _ in range(3):
                    reader, writer = await asyncio.open_connection(*listening.getsockname())
                    writer.write(request_bytes)
                    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 ")
                    writer.close()
                    await writer.wait_closed()
                while any(protocol() for protocol in made):
                    await asyncio.sleep(0.001)
        finally:
            gc.enable()
            server.should_exit = True
            await serving
    assert len(made) == (3 if request_bytes is GET else 6)
