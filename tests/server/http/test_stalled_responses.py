"""A response whose peer reads nothing for half a minute ends, on every route, also when the connection is closing."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from tests.server.http.http_connection import GET, HttpConnection
from zataku.realtime.sockets.kernel_buffer import unacknowledged_bytes
from zataku.realtime.sockets.protocol import MAX_KERNEL_BUFFER_BYTES
from zataku.server.http import h11_protocol
from zataku.server.http.h11_protocol import TimedHttpProtocol

STALL, CHECK = TimedHttpProtocol.stall_seconds, TimedHttpProtocol.stall_check_seconds
LAST_GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture
async def connection() -> AsyncIterator[HttpConnection]:
    opened = HttpConnection()
    yield opened
    opened.transport.lose()
    await opened.run()


@pytest.mark.parametrize("request_head", [GET, LAST_GET], ids=["open", "closing"])
async def test_a_connection_that_reads_nothing_is_aborted(connection: HttpConnection, request_head: bytes):
    connection.transport.is_stuck = True
    connection.receive(request_head)
    await connection.run()
    connection.loop.advance(STALL - 1)
    assert not connection.transport.was_aborted
    with capture_logs() as lines:
        connection.loop.advance(1 + 2 * CHECK)
    assert connection.transport.was_aborted
    assert [line["event"] for line in lines] == ["response_stalled"]


async def test_what_is_left_of_a_response_that_ended_midway_is_dropped(connection: HttpConnection):
    connection.transport.is_stuck = True
    connection.receive(b"GET /part HTTP/1.1\r\nHost: x\r\n\r\n")
    await connection.run()
    assert connection.transport.is_closing()
    connection.loop.advance(CHECK)
    assert connection.transport.was_aborted


async def test_a_slow_reader_is_never_aborted(connection: HttpConnection):
    connection.transport.is_stuck = True
    connection.receive(LAST_GET)
    await connection.run()
    for _ in range(20):
        connection.loop.advance(STALL - CHECK)
        connection.transport.pending -= 1
    assert not connection.transport.was_aborted


async def test_a_later_response_of_a_connection_is_watched_too(connection: HttpConnection):
    connection.receive(GET)
    await connection.run()
    connection.loop.advance(CHECK - 1)
    connection.transport.is_stuck = True
    connection.receive(GET)
    await connection.run()
    connection.loop.advance(STALL + 2 * CHECK)
    assert connection.transport.was_aborted


async def test_a_peer_that_reads_what_the_kernel_holds_is_not_aborted(
    connection: HttpConnection, monkeypatch: pytest.MonkeyPatch
):
    held = 100_000
    monkeypatch.setattr(h11_protocol, "unacknowledged_bytes", lambda _: held)
    connection.transport.is_stuck = True
    connection.receive(GET)
    await connection.run()
    for _ in range(20):
        connection.loop.advance(STALL - CHECK)
        held -= 1
    assert not connection.transport.was_aborted
    connection.loop.advance(STALL + 2 * CHECK)
    assert connection.transport.was_aborted


class SocketTransport:
    """What a transport tells of its socket."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._socket if name == "socket" else default


def test_the_kernel_takes_little_for_a_peer_that_reads_nothing_and_says_what_the_peer_has_not():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 * 1024)
        peer.connect(server.getsockname())
        connected, _ = server.accept()
        with connected:
            connected.setblocking(False)
            transport = cast("asyncio.Transport", SocketTransport(connected))
            assert unacknowledged_bytes(transport) == 0
            h11_protocol.limit_kernel_buffer(transport)
            sent = 0
            with pytest.raises(BlockingIOError):
                while sent < 64 * MAX_KERNEL_BUFFER_BYTES:
                    sent += connected.send(bytes(16 * 1024))
            assert sent < 8 * MAX_KERNEL_BUFFER_BYTES
            assert 0 < unacknowledged_bytes(transport) <= sent
        assert unacknowledged_bytes(transport) == 0
