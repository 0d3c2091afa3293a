"""A slow reader costs no more than others, and catches up when it reads again."""

import asyncio
import socket

import msgspec
from structlog.testing import capture_logs

from tests.realtime.sockets.memory_connection import make_hub, open_socket
from tests.realtime.sockets.socket_server import receive, run_server, transient_event
from zataku.realtime.messages import CommandMessage, EventsMissed
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket

SMALL = SocketLimits(max_backlog_bytes=1000, max_reply_backlog_bytes=2000, heartbeat_seconds=3600)
MISSED = msgspec.json.encode(EventsMissed(to="live/1"))


async def test_a_slow_reader_gets_no_broadcasts_and_then_catches_up():
    hub, clock = make_hub(SMALL)
    fast, slow = open_socket(hub, "live/1"), open_socket(hub, "live/1")

    async def catch_up(socket: Socket, topic: str) -> None:
        assert (socket, topic) == (slow[0], "live/1")
        await asyncio.sleep(0)
        hub.broadcast("live/1", b"during the catch-up")
        hub.send(socket, EventsMissed(to=topic))

    await hub.start(catch_up)
    slow[1].stuck = True
    for number in range(100):
        hub.broadcast("live/1", b"%0100d" % number)
        await clock.advance(0.05)
        assert slow[1].pending_bytes() <= SMALL.max_backlog_bytes
    received = len(slow[1].payloads)
    assert received < 10
    assert "live/1" in slow[0].topics
    slow[1].drain()
    await clock.advance(0.25)
    hub.broadcast("live/1", b"again")
    await clock.advance(0.1)
    assert slow[1].payloads[received:] == [MISSED, b"again"]
    assert len(fast[1].payloads) == 102
    assert (hub.counters.slow, hub.counters.dropped) == (1, 1)
    await hub.stop()


async def test_a_slow_reader_is_muted_only_in_topics_in_which_it_missed_a_message():
    hub, clock = make_hub(SMALL)
    slow, connection = open_socket(hub, "live/1", "kifu/1")
    caught_up: list[str] = []

    async def catch_up(_: Socket, topic: str) -> None:
        caught_up.append(topic)

    await hub.start(catch_up)
    connection.stuck = True
    hub.broadcast("live/1", bytes(900))
    hub.broadcast("live/1", bytes(900))
    await clock.advance(0.1)
    connection.drain()
    hub.broadcast("kifu/1", b"k")
    await clock.advance(0.3)
    assert caught_up == ["live/1"]
    assert connection.payloads[-1] == b"k"
    hub.unsubscribe(slow, "live/1")
    await hub.stop()


async def test_a_tick_too_large_for_a_reader_keeps_its_replies():
    hub, clock = make_hub(SMALL)
    slow, connection = open_socket(hub, "live/1")
    connection.stuck = True
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", bytes(900))
    hub.send(slow, EventsMissed(to="answer"))
    hub.broadcast("live/1", bytes(900))
    await clock.advance(0.05)
    assert connection.payloads == [b"1", msgspec.json.encode(EventsMissed(to="answer"))]
    assert hub.counters.dropped == 2
    await hub.stop()


async def test_a_reader_that_has_drained_is_not_slow_however_large_the_message():
    hub, clock = make_hub(SMALL)
    one, first = open_socket(hub, "live/1")
    _, second = open_socket(hub, "live/1")
    hub.broadcast("live/1", bytes(5000))
    hub.broadcast("live/1", bytes(5000))
    hub.send(one, EventsMissed(to="live/1"))
    await clock.advance(0.05)
    assert (len(first.payloads), len(second.payloads)) == (3, 2)
    assert hub.counters.slow == 0
    await hub.stop()


async def test_a_slow_reader_that_reads_nothing_for_a_minute_is_closed():
    hub, clock = make_hub(SMALL)
    (_, stuck), (_, crawling) = open_socket(hub, "live/1"), open_socket(hub, "live/1")
    stuck.stuck = crawling.stuck = True
    for _ in range(12):
        hub.broadcast("live/1", bytes(90))
        await clock.advance(0.05)
    for _ in range(70):
        crawling.backlog -= 1
        await clock.advance(1)
    assert (stuck.code, crawling.code) == (1013, None)
    assert hub.counters.stuck == 1
    await hub.stop()


async def test_a_client_that_sends_commands_and_reads_no_reply_is_closed():
    hub, _ = make_hub(SMALL)
    socket, connection = open_socket(hub)
    connection.stuck = True
    for _ in range(200):
        hub.send(socket, EventsMissed(to="x" * 20))
    assert connection.code == 1013
    assert connection.pending_bytes() < SMALL.max_reply_backlog_bytes + 100


async def test_many_small_messages_make_a_slow_reader_before_they_are_many_bytes():
    hub, clock = make_hub(SocketLimits(max_backlog_writes=20, heartbeat_seconds=3600))
    fast, slow = open_socket(hub, "live/1"), open_socket(hub, "live/1")
    caught_up: list[Socket] = []

    async def catch_up(socket: Socket, _: str) -> None:
        caught_up.append(socket)

    await hub.start(catch_up)
    slow[1].stuck = True
    for _ in range(100):
        hub.broadcast("live/1", b"x")
        await clock.advance(0.05)
    assert len(slow[1].writes) <= 21
    assert len(fast[1].writes) == 100
    await clock.advance(1)
    assert caught_up == []  # it has read nothing, few bytes as they are
    slow[1].drain()
    await clock.advance(0.3)
    assert caught_up == [slow[0]]
    hub.broadcast("live/1", b"again")
    await clock.advance(0.1)
    assert slow[1].payloads[-1] == b"again"
    assert hub.counters.slow == 1
    await hub.stop()


async def test_a_slow_reader_that_leaves_while_it_catches_up_is_not_resubscribed():
    hub, clock = make_hub(SMALL)
    slow, connection = open_socket(hub, "live/1")
    other, _ = open_socket(hub, "live/1")

    async def catch_up(socket: Socket, topic: str) -> None:
        hub.unsubscribe(socket, topic)

    await hub.start(catch_up)
    connection.stuck = True
    hub.broadcast("live/1", bytes(900))
    hub.broadcast("live/1", bytes(900))
    await clock.advance(0.1)
    connection.drain()
    await clock.advance(0.3)
    assert (list(slow.topics), list(other.topics)) == ([], ["live/1"])
    written = len(connection.writes)
    hub.broadcast("live/1", b"not for it")
    await clock.advance(0.1)
    assert len(connection.writes) == written
    await hub.stop()


async def test_a_slow_reader_whose_catch_up_fails_is_closed():
    hub, clock = make_hub(SMALL)
    _, connection = open_socket(hub, "live/1")

    async def catch_up(_: Socket, topic: str) -> None:
        raise RuntimeError("no snapshot")

    await hub.start(catch_up)
    connection.stuck = True
    hub.broadcast("live/1", bytes(900))
    hub.broadcast("live/1", bytes(900))
    await clock.advance(0.1)
    connection.drain()
    with capture_logs() as logs:
        await clock.advance(0.3)
    assert connection.code == 1011
    assert [entry["topic"] for entry in logs] == ["live/1"]
    await hub.stop()


async def test_a_client_that_does_not_read_has_a_bounded_backlog_and_then_catches_up():
    async with run_server(SocketLimits(max_backlog_bytes=256 * 1024, max_flush_seconds=0)) as server:
        # A small window, so that not everything fits into the network.
        small_window = socket.socket()
        small_window.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 128 * 1024)
        small_window.connect(("127.0.0.1", server.port))
        async with server.client("live/1") as fast, server.client("live/1", sock=small_window, max_queue=1) as slow:
            sent = 0
            while not server.hub.counters.slow:
                server.hub.broadcast("live/1", transient_event("live/1", sent, 32 * 1024))
                sent += 1
                await receive(fast)
                assert all(member.connection.pending_bytes() <= 256 * 1024 for member in server.handler.sockets)
                assert sent < 5000
            received = [await receive(slow)]
            while received[-1]["t"] != "missed":
                received.append(await receive(slow))
            server.hub.broadcast("live/1", transient_event("live/1", -1))
            assert (await receive(slow))["events"][0]["n"] == -1
            assert [message["events"][0]["n"] for message in received[:-1]] == list(range(len(received) - 1))
            assert server.hub.counters.slow == 1


async def test_messages_of_a_client_that_does_not_read_wait_until_it_does():
    limits = SocketLimits(max_backlog_bytes=64 * 1024, command_burst=1000, heartbeat_seconds=3600)
    async with run_server(limits) as server:
        reply = msgspec.json.encode("x" * 64 * 1024)

        async def execute(_socket: Socket, _message: CommandMessage) -> bytes:
            return reply

        server.handler.on_execute = execute
        small_window = socket.socket()
        small_window.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        small_window.connect(("127.0.0.1", server.port))
        async with server.client("live/1", sock=small_window, max_queue=1) as slow:
            [ours] = server.handler.sockets
            for number in range(100):
                await slow.send(
                    msgspec.json.encode(CommandMessage(id=number, to="live/1", what=msgspec.Raw(b"1"))).decode()
                )
            await asyncio.sleep(0.5)
            handled = len(server.handler.received)
            await asyncio.sleep(0.5)
            assert len(server.handler.received) == handled < 90
            most = limits.max_backlog_bytes + limits.max_running_commands * (len(reply) + 100)
            assert limits.max_backlog_bytes < ours.connection.pending_bytes() <= most
            for number in range(100):
                assert (await receive(slow))["id"] == number
