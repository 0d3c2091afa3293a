"""New connections are accepted while idle ones can make room, and one address never takes all."""

import json

from structlog.testing import capture_logs

from tests.server.http.http_connection import GET, HttpConnection
from zataku.server.http.h11_protocol import TimedHttpProtocol
from zataku.server.process.open_connections import ConnectionLimits, OpenConnections

HERE, THERE, PROXY = "198.51.100.1", "203.0.113.1", "192.0.2.1"
PARTIAL = b"GET / HTTP/1.1\r\nHost: x\r\n"
BODY_TO_COME = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
UPGRADE = (
    b"GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 12\r\n\r\n"
)


def connections(total: int = 100, per_address: int = 100, idle: int = 100, idle_per_address: int = 100):
    limits = ConnectionLimits(total=total, per_address=per_address, idle=idle, idle_per_address=idle_per_address)
    return OpenConnections(limits, lambda address: address == PROXY)


def connect(opened: OpenConnections, address: str = HERE, sent: bytes = b"") -> HttpConnection:
    connection = HttpConnection(opened, address)
    if sent:
        connection.receive(sent)
    return connection


def are_closed(opened: list[HttpConnection]) -> list[bool]:
    return [connection.transport.was_closed for connection in opened]


async def test_the_oldest_idle_connection_of_an_address_makes_room_for_its_next():
    opened = connections(idle_per_address=2)
    old = [connect(opened), connect(opened, sent=PARTIAL)]
    other = connect(opened, THERE)
    new = connect(opened)
    assert are_closed([*old, other, new]) == [True, False, False, False]


async def test_a_connection_with_a_request_is_never_closed_for_another():
    opened = connections(idle_per_address=1)
    busy = connect(opened, sent=BODY_TO_COME)
    idle, new = connect(opened), connect(opened)
    assert are_closed([busy, idle, new]) == [False, True, False]
    busy.receive(b"12345")
    await busy.run()
    assert busy.answers == [(200, 5)]


async def test_a_connection_is_idle_again_after_its_response():
    opened = connections(idle_per_address=1)
    first = connect(opened, sent=BODY_TO_COME)
    second = connect(opened)
    first.receive(b"12345")
    await first.run()
    assert are_closed([first, second]) == [False, True]
    third = connect(opened)
    assert are_closed([first, third]) == [True, False]


async def test_idle_connections_of_all_addresses_are_limited_together():
    opened = connections(idle=2)
    first, second, third = connect(opened, HERE), connect(opened, THERE), connect(opened, PROXY)
    assert are_closed([first, second, third]) == [True, False, False]


async def test_an_address_that_uses_all_of_its_connections_is_refused_and_no_other():
    opened = connections(per_address=2)
    busy = [connect(opened, sent=BODY_TO_COME) for _ in range(2)]
    with capture_logs() as lines:
        refused, other = connect(opened), connect(opened, THERE)
    assert are_closed([*busy, refused, other]) == [False, False, True, False]
    head, _, body = refused.transport.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503")
    assert json.loads(body)["error"]["code"] == "unavailable"
    assert [line["event"] for line in lines] == ["connection_refused"]


async def test_a_connection_that_has_ended_no_longer_counts():
    opened = connections(per_address=1)
    for _ in range(3):
        connection = connect(opened, sent=BODY_TO_COME)
        assert not connection.transport.was_closed
        connection.transport.lose()
        await connection.run()
    assert len(opened) == 0


async def test_a_proxy_may_have_as_many_connections_as_the_process():
    opened = connections(total=5, per_address=1, idle_per_address=1)
    many = [connect(opened, PROXY) for _ in range(5)]
    assert are_closed(many) == [False] * 5
    newcomer = connect(opened, HERE)
    assert are_closed([*many, newcomer]) == [True, False, False, False, False, False]


async def test_an_ipv6_network_counts_as_one_address():
    opened = connections(per_address=1)
    connect(opened, "2001:db8::1", BODY_TO_COME)
    assert connect(opened, "2001:db8::2").transport.was_closed
    assert not connect(opened, "2001:db8:0:1::2").transport.was_closed


async def test_a_socket_counts_until_its_connection_ends():
    opened = connections(per_address=1)
    socket = connect(opened, sent=UPGRADE)
    assert socket.transport.protocol is not socket.protocol
    assert connect(opened).transport.was_closed
    socket.transport.lose()
    assert len(opened) == 1


async def test_headers_that_do_not_arrive_still_end_an_idle_connection():
    connection = connect(connections(), sent=PARTIAL)
    connection.loop.advance(TimedHttpProtocol.header_seconds)
    assert connection.transport.was_closed


async def test_a_response_after_idling_is_sent():
    connection = connect(connections(idle_per_address=1), sent=GET)
    await connection.run()
    connection.receive(GET)
    await connection.run()
    assert connection.answers == [(200, 0), (200, 0)]


def test_one_address_leaves_a_quarter_of_the_connections_to_others():
    limits = ConnectionLimits.within(file_limit=2048, per_address=4000)
    assert limits == ConnectionLimits(total=1536, per_address=1152, idle=768, idle_per_address=576)


def test_a_hall_of_500_phones_with_seven_connections_each_fits_into_the_defaults():
    limits = ConnectionLimits.within(file_limit=20_000, per_address=4000)
    assert limits.per_address >= 500 * 7
