"""Every request for a socket is answered: with a socket within the limits of other requests, or with an error."""

import asyncio
import json
from typing import Any, cast

import pytest
import uvicorn
from structlog.testing import capture_logs
from uvicorn.server import ServerState

from tests.realtime.sockets.socket_server import DEADLINE, SocketServer, run_server
from tests.support.memory_transport import ManualLoop, MemoryTransport
from zataku.realtime.sockets.limits import SOCKETS_PER_TURN, SocketLimits
from zataku.realtime.sockets.protocol import PreparedFrameProtocol
from zataku.realtime.sockets.session import uvicorn_options
from zataku.realtime.sockets.turn_queue import TurnQueue

HEADERS = {
    "Host": "127.0.0.1",
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


@pytest.fixture
async def server():
    async with run_server() as running:
        yield running


def request(headers: dict[str, str], target: str = "/socket", method: str = "GET") -> bytes:
    lines = [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""]).encode()


async def answer(server: SocketServer, sent: bytes) -> tuple[int, Any]:
    """The status and, unless it is a socket, the body of the answer; the connection then ends."""
    client, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(sent)
    async with asyncio.timeout(DEADLINE):
        head = await client.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ")[1])
        body = None if status == 101 else json.loads(await client.read())
    writer.close()
    return status, body


@pytest.mark.parametrize(
    "sent",
    [
        request(HEADERS | {f"X-{number}": "y" for number in range(140)}),
        request(HEADERS | {"Cookie": "c=" + "x" * 20_000}),
        request(HEADERS, target="/socket?" + "x" * 20_000),
        request(HEADERS | {"Content-Length": "0"}),
        request(HEADERS | {"X-Latin": "\u00e9".encode().decode("latin-1")}),
    ],
    ids=["many headers", "long cookie", "long target", "empty body", "not ascii"],
)
async def test_a_socket_opens_within_the_limits_of_other_requests(server: SocketServer, sent: bytes):
    assert (await answer(server, sent))[0] == 101


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (request(HEADERS | {"Content-Length": "5"}), 400, "bad_request"),
        (request(HEADERS | {"Transfer-Encoding": "chunked"}), 400, "bad_request"),
        (request(HEADERS | {"Sec-WebSocket-Key": "short"}), 400, "bad_request"),
        (request(HEADERS | {"Sec-WebSocket-Version": "12"}), 400, "bad_request"),
        (request(HEADERS, method="POST"), 405, "method_not_allowed"),
        (request(HEADERS | {"X-Control": "a\x01b"}), 400, "bad_request"),
        (request(HEADERS | {"X-Control": "a\x7fb"}), 400, "bad_request"),
    ],
    ids=["length", "chunked", "key", "version", "method", "control character", "delete character"],
)
async def test_a_request_that_opens_no_socket_gets_an_error_and_a_line_in_the_log(
    server: SocketServer, sent: bytes, status: int, code: str
):
    with capture_logs() as lines:
        answered, body = await answer(server, sent)
    assert (answered, body["error"]["code"]) == (status, code)
    assert {"event": "socket_rejected", "status": status, "code": code, "log_level": "info"} in lines


async def test_a_socket_that_is_neither_accepted_nor_refused_is_aborted():
    async def app(_scope: Any, _receive: Any, _send: Any) -> None:
        await asyncio.Event().wait()

    loop = ManualLoop()
    config = uvicorn.Config(app, lifespan="off", log_config=None, **uvicorn_options(SocketLimits()))  # type: ignore[arg-type]
    config.load()
    protocol = PreparedFrameProtocol(
        config, ServerState(), {}, cast("asyncio.AbstractEventLoop", loop), turns=TurnQueue(SOCKETS_PER_TURN)
    )
    transport = MemoryTransport(protocol)
    transport.receive(request(HEADERS))
    loop.advance(PreparedFrameProtocol.handshake_seconds - 1)
    assert not transport.was_aborted
    loop.advance(1)
    assert transport.was_aborted
    transport.lose()
    for task in protocol.tasks:
        task.cancel()
