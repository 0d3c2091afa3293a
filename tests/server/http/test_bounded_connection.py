"""What one connection sends is parsed in bounded parts, and requests of absurd shape are refused."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.server.http.http_connection import DEADLINE, GET, HttpConnection
from zataku.realtime.sockets.protocol import PreparedFrameProtocol
from zataku.realtime.sockets.turn_queue import FREQUENT_PER_SECOND
from zataku.server.http.bounded_connection import FREE_CHUNKS, MAX_EVENTS_PER_TURN, MAX_HEADERS, MIN_CHUNK_BYTES
from zataku.server.http.h11_protocol import CONNECTIONS_PER_TURN, MAX_DISCARDED_BYTES, TimedHttpProtocol
from zataku.server.process.open_connections import ConnectionLimits, OpenConnections

CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
REFUSED = b"POST /nope HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
UPGRADE = b"GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
TINY = b"1\r\nx\r\n"
LIMITED = b"GET /limited HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"0\r\n\r\n"


def chunk(size: int) -> bytes:
    return b"%x\r\n%b\r\n" % (size, b"x" * size)


@pytest.fixture
async def connection() -> AsyncIterator[HttpConnection]:
    opened = HttpConnection()
    yield opened
    opened.transport.lose()
    await opened.run()


def code(answer: tuple[int, Any]) -> tuple[int, str]:
    return answer[0], answer[1]["error"]["code"]


async def test_the_chunks_of_one_read_are_spread_over_turns_of_the_loop(connection: HttpConnection):
    body = chunk(MIN_CHUNK_BYTES) * 800 + LAST
    connection.receive(CHUNKED + body)
    assert connection.parsed <= MAX_EVENTS_PER_TURN + 20
    assert connection.transport.is_paused
    before, turns = connection.parsed, 0
    while connection.loop.turn():
        await asyncio.sleep(0)
        turns += 1
        assert connection.parsed - before <= MAX_EVENTS_PER_TURN + 20
        before = connection.parsed
    await connection.run()
    assert turns >= 800 // MAX_EVENTS_PER_TURN
    assert connection.answers == [(200, 800 * MIN_CHUNK_BYTES)]
    assert not connection.transport.is_paused


@pytest.mark.parametrize("head", [CHUNKED, REFUSED], ids=["read", "answered"])
async def test_a_body_of_tiny_chunks_ends_its_connection(connection: HttpConnection, head: bytes):
    connection.receive(head)
    await asyncio.sleep(0)
    connection.receive(TINY * 40_000)
    await connection.run()
    assert connection.parsed < 4 * FREE_CHUNKS
    assert code(connection.answers[0]) == (400, "bad_request") if head is CHUNKED else connection.answers == [(404, 0)]
    assert connection.transport.has_ended_writing
    connection.loop.advance(TimedHttpProtocol.body_seconds)
    assert connection.transport.was_aborted


async def test_a_small_body_may_come_in_tiny_chunks(connection: HttpConnection):
    connection.receive(CHUNKED + TINY * FREE_CHUNKS + LAST)
    await connection.run()
    assert connection.answers == [(200, FREE_CHUNKS)]


async def test_an_answered_request_that_goes_on_is_read_no_further(connection: HttpConnection):
    connection.receive(b"POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
    await connection.run()
    sent = 0
    while not connection.transport.is_paused:
        connection.receive(bytes(256 * 1024))
        connection.loop.turn()
        sent += 256 * 1024
    assert sent <= MAX_DISCARDED_BYTES + 256 * 1024
    assert connection.answers == [(404, 0)]
    connection.loop.advance(TimedHttpProtocol.body_seconds)
    assert connection.transport.was_aborted


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * (MAX_HEADERS + 1) + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nCookie: " + b"x" * 33_000 + b"\r\n\r\n",
        b"GET /" + b"x" * 33_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nCookie: " + b"x" * 33_000,
        UPGRADE + b"a:b\r\n" * MAX_HEADERS + b"\r\n",
        UPGRADE + b"Cookie: " + b"x" * 33_000 + b"\r\n\r\n",
    ],
    ids=["many", "long", "target", "endless", "many of a socket", "long of a socket"],
)
async def test_headers_that_are_too_large_are_refused_before_they_are_parsed(connection: HttpConnection, head: bytes):
    with capture_logs() as lines:
        connection.receive(head)
        await connection.run()
    assert [code(answer) for answer in connection.answers] == [(431, "headers_too_large")]
    assert connection.requests == 0
    assert [(line["event"], line["status"]) for line in lines] == [("request_refused", 431)]


async def test_a_head_of_many_lines_is_told_apart_from_a_body_of_many(connection: HttpConnection):
    body = b"\n" * 5000
    connection.receive(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n" + body + GET)
    await connection.run()
    connection.loop.advance(1)
    await connection.run()
    assert connection.answers == [(200, 5000), (200, 0)]


async def test_a_body_of_two_lengths_ends_its_connection(connection: HttpConnection):
    smuggled = b"0\r\n\r\n" + GET
    connection.receive(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % len(smuggled))
    connection.receive(b"Transfer-Encoding: chunked\r\n\r\n" + smuggled)
    await connection.run()
    assert [code(answer) for answer in connection.answers] == [(400, "bad_request")]
    assert connection.requests == 0


@pytest.mark.parametrize("end", [b"0\r\n" + b"a:b\r\n" * 5000, b"1;" + b"x" * 20_000], ids=["trailers", "extension"])
async def test_trailers_and_extensions_without_end_are_refused(connection: HttpConnection, end: bytes):
    connection.receive(CHUNKED + end)
    await connection.run()
    assert [code(answer) for answer in connection.answers] == [(400, "bad_request")]


async def test_pipelined_requests_leave_time_to_others(connection: HttpConnection):
    connection.receive(GET * 50)
    await connection.run()
    assert connection.requests == 1
    for count in range(2, 51):
        connection.loop.advance(TimedHttpProtocol.pipelining_seconds)
        await connection.run()
        assert connection.requests == count
    assert connection.answers == [(200, 0)] * 50
    assert not connection.transport.is_paused


async def test_requests_of_a_crowd_are_spread_over_turns_of_the_loop(connection: HttpConnection):
    crowd = [HttpConnection(neighbour=connection) for _ in range(10)]
    newcomer = HttpConnection(address="203.0.113.9", neighbour=connection)
    for each in (*crowd, newcomer):
        each.receive(GET)
    assert sum(each.parsed > 0 for each in crowd) == CONNECTIONS_PER_TURN
    assert [each.transport.is_paused for each in crowd] == [False] * CONNECTIONS_PER_TURN + [True] * 9
    connection.loop.turn()
    connection.loop.turn()
    assert newcomer.parsed
    while connection.loop.turn():
        await asyncio.sleep(0)
    for each in (*crowd, newcomer):
        await each.run()
        assert each.answers == [(200, 0)]
        assert not each.transport.is_paused


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("x", 200),
        ("x:8000", 200),
        ("x:", 200),
        ("[::1]:8000", 200),
        ("a_b.example", 200),
        ("", 200),
        ("x:80y", 400),
        ("x:99999", 400),
        ("[::1", 400),
    ],
)
async def test_a_host_of_which_no_url_can_be_made_is_refused(connection: HttpConnection, host: str, status: int):
    connection.receive(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    await connection.run()
    assert [answered for answered, _ in connection.answers] == [status]


@pytest.mark.parametrize("before", [b"", b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["first", "second"])
@pytest.mark.parametrize(
    ("sent", "has_body"),
    [
        (b"HEAD / HTTP/1.1\r\nHost: x:y\r\n\r\n", False),
        (b"HEAD / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n", False),
        (b"HEAD / nonsense\r\n\r\n", True),
    ],
    ids=["host", "two lengths", "no request"],
)
async def test_a_refused_request_for_the_head_gets_no_body(
    connection: HttpConnection, before: bytes, sent: bytes, has_body: bool
):
    if before:
        connection.receive(before)
        await connection.run()
    connection.receive(sent)
    await connection.run()
    head, _, body = connection.transport.written.rpartition(b"\r\n\r\n")
    assert head.rpartition(b"HTTP/1.1 ")[2].startswith(b"400")
    assert bool(body) == has_body
    assert connection.transport.has_ended_writing


async def test_a_connection_whose_turn_fails_is_aborted(connection: HttpConnection, monkeypatch: pytest.MonkeyPatch):
    broken = HttpConnection(neighbour=connection)
    monkeypatch.setattr(broken.protocol, "handle_events", lambda: 1 // 0)
    connection.receive(GET)
    broken.receive(GET)
    with capture_logs() as lines:
        await connection.run()
    assert [line["event"] for line in lines] == ["connection_work_failed"]
    assert broken.transport.was_aborted


async def test_a_page_comes_before_a_crowd_that_opens_sockets(connection: HttpConnection):
    sockets = [HttpConnection(address=f"203.0.113.{number}", neighbour=connection) for number in range(20)]
    connection.receive(GET)
    for each in sockets:
        each.receive(UPGRADE + b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
    page = HttpConnection(address="198.51.100.9", neighbour=connection)
    page.receive(GET)
    connection.loop.turn()
    assert page.parsed
    assert not any(each.parsed for each in sockets)
    while connection.loop.turn():
        await asyncio.sleep(0)
    assert all(isinstance(each.transport.protocol, PreparedFrameProtocol) for each in sockets)
    for each in (connection, page, *sockets):
        await each.run()


async def test_a_connection_with_many_requests_comes_after_others(connection: HttpConnection):
    busy = HttpConnection(neighbour=connection)
    for _ in range(FREQUENT_PER_SECOND):
        busy.receive(GET)
        await busy.run()
    connection.receive(GET)
    busy.receive(GET)
    other = HttpConnection(neighbour=connection)
    other.receive(GET)
    before = busy.parsed
    connection.loop.turn()
    assert other.parsed
    assert busy.parsed == before
    for each in (connection, busy, other):
        await each.run()
    assert len(busy.answers) == FREQUENT_PER_SECOND + 1


async def test_a_request_that_waits_for_its_turn_is_not_idle():
    limits = ConnectionLimits(total=4, per_address=4, idle=1, idle_per_address=1)
    open_connections = OpenConnections(limits, lambda _: False)
    crowd: list[HttpConnection] = []
    for _ in range(3):
        crowd.append(HttpConnection(open_connections, neighbour=crowd[0] if crowd else None))
        crowd[-1].receive(GET)
    assert not any(each.transport.was_closed for each in crowd)


async def test_a_socket_whose_request_waited_for_its_turn_is_read(connection: HttpConnection):
    socket = HttpConnection(neighbour=connection)
    connection.receive(GET)
    socket.receive(UPGRADE + b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
    assert socket.transport.is_paused
    connection.loop.turn()
    assert isinstance(socket.transport.protocol, PreparedFrameProtocol)
    assert not socket.transport.is_paused
    await socket.run()


async def test_a_client_beyond_its_limit_is_read_more_slowly(connection: HttpConnection):
    connection.receive(LIMITED)
    await connection.run()
    assert connection.transport.is_paused
    connection.loop.advance(TimedHttpProtocol.limited_seconds)
    await connection.run()
    assert not connection.transport.is_paused
    connection.receive(LIMITED * 20)
    await connection.run()
    connection.loop.advance(TimedHttpProtocol.pipelining_seconds)
    await connection.run()
    assert connection.requests == 2
    connection.loop.advance(TimedHttpProtocol.limited_seconds)
    await connection.run()
    assert connection.requests == 3


async def test_other_clients_of_a_proxy_do_not_wait_for_one_beyond_its_limit():
    connection = HttpConnection(OpenConnections(ConnectionLimits.within(1024, 1024), lambda _: True))
    connection.receive(LIMITED + GET)
    await connection.run()
    connection.loop.advance(TimedHttpProtocol.pipelining_seconds)
    await connection.run()
    assert [status for status, _ in connection.answers] == [429, 200]
    assert not connection.transport.is_paused


async def test_a_refused_request_is_not_answered_again_by_the_application(connection: HttpConnection):
    connection.receive(CHUNKED + b"nonsense\r\n")
    await connection.run()
    assert [code(answer) for answer in connection.answers] == [(400, "bad_request")]


async def test_a_large_body_is_read_as_the_application_takes_it(connection: HttpConnection):
    size = 1024 * 1024
    connection.receive(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size + bytes(200_000))
    assert connection.transport.is_paused
    sent = 200_000
    async with asyncio.timeout(DEADLINE):
        while sent < size:
            await asyncio.sleep(0)
            connection.loop.turn()
            if not connection.transport.is_paused:
                part = min(200_000, size - sent)
                connection.receive(bytes(part))
                sent += part
    await connection.run()
    assert connection.answers == [(200, size)]


async def test_bytes_after_a_refusal_do_not_put_off_the_end_of_the_connection(connection: HttpConnection):
    connection.receive(b"nonsense\r\n\r\n")
    connection.loop.advance(TimedHttpProtocol.body_seconds - 0.1)
    while not connection.transport.is_paused:
        connection.receive(bytes(256 * 1024))
    connection.loop.advance(0.1)
    assert connection.transport.was_aborted
