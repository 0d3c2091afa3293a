"""A response whose peer reads nothing for half a minute ends, on every route, also when the connection is closing."""

from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from tests.server.http.http_connection import GET, HttpConnection
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
