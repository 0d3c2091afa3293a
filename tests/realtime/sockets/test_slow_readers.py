"""A reader that is too slow costs no more than others, and is brought up to date when it can read again."""

import asyncio
import socket

import msgspec
from structlog.testing import capture_logs

from tests.realtime.sockets.memory_connection import hub_and_clock, opened
from tests.realtime.sockets.socket_server import heard, passing, served, until
from zataku.realtime.messages import Missed
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket

SMALL = SocketLimits(max_backlog_bytes=1000)
MISSED = msgspec.json.encode(Missed(to="live/1"))


async def test_a_slow_reader_is_left_out_and_then_brought_up_to_date():
    hub, clock = hub_and_clock(SMALL)
    fast, slow = opened(hub, "live/1"), opened(hub, "live/1")

    async def behind(late: Socket, topic: str) -> None:
        assert (late, topic) == (slow[0], "live/1")
        await asyncio.sleep(0)
        hub.broadcast("live/1", b"while it is brought up to date")
        hub.send(late, Missed(to=topic))

    await hub.start(behind)
    slow[1].stuck = True
    for number in range(100):
        hub.broadcast("live/1", b"%0100d" % number)
        await clock.advance(0.05)
        assert slow[1].pending_bytes() <= SMALL.max_backlog_bytes
    got = len(slow[1].payloads)
    assert got < 10
    assert set(hub.members("live/1")) == {fast[0], slow[0]}
    slow[1].drain()
    await clock.advance(0.25)
    hub.broadcast("live/1", b"again")
    await clock.advance(0.1)
    assert slow[1].payloads[got:] == [MISSED, b"again"]
    assert len(fast[1].payloads) == 102
    assert (hub.counters.slow, hub.counters.dropped) == (1, 1)
    await hub.stop()


async def test_a_reader_is_left_out_only_of_topics_that_it_missed_something_of():
    hub, clock = hub_and_clock(SMALL)
    slow, wire = opened(hub, "live/1", "kifu/1")
    caught_up: list[str] = []

    async def behind(_: Socket, topic: str) -> None:
        caught_up.append(topic)

    await hub.start(behind)
    wire.stuck = True
    hub.broadcast("live/1", bytes(900))
    hub.broadcast("live/1", bytes(900))
    await clock.advance(0.1)
    wire.drain()
    hub.broadcast("kifu/1", b"k")
    await clock.advance(0.3)
    assert caught_up == ["live/1"]
    assert wire.payloads[-1] == b"k"
    hub.unsubscribe(slow, "live/1")
    await hub.stop()


async def test_a_tick_too_large_for_a_reader_leaves_its_answers_in():
    hub, clock = hub_and_clock(SMALL)
    slow, wire = opened(hub, "live/1")
    wire.stuck = True
    hub.broadcast("live/1", b"1")
    hub.broadcast("live/1", bytes(900))
    hub.send(slow, Missed(to="answer"))
    hub.broadcast("live/1", bytes(900))
    await clock.advance(0.05)
    assert wire.payloads == [b"1", msgspec.json.encode(Missed(to="answer"))]
    assert hub.counters.dropped == 2
    await hub.stop()


async def test_a_reader_that_has_taken_everything_is_not_slow_however_much_comes():
    hub, clock = hub_and_clock(SMALL)
    one, first = opened(hub, "live/1")
    _, second = opened(hub, "live/1")
    hub.broadcast("live/1", bytes(5000))
    hub.broadcast("live/1", bytes(5000))
    hub.send(one, Missed(to="live/1"))
    await clock.advance(0.05)
    assert (len(first.payloads), len(second.payloads)) == (3, 2)
    assert hub.counters.slow == 0
    await hub.stop()


async def test_a_reader_that_takes_nothing_for_a_minute_is_closed():
    hub, clock = hub_and_clock(SMALL)
    (_, stuck), (_, crawling) = opened(hub, "live/1"), opened(hub, "live/1")
    stuck.stuck = crawling.stuck = True
    for _ in range(12):
        hub.broadcast("live/1", bytes(90))
        await clock.advance(0.05)
    for _ in range(70):
        crawling.waiting -= 1
        await clock.advance(1)
    assert (stuck.code, crawling.code) == (1013, None)
    assert hub.counters.stuck == 1
    await hub.stop()


async def test_a_reader_that_asks_on_and_reads_no_answer_is_closed():
    hub, _ = hub_and_clock(SMALL)
    asker, wire = opened(hub)
    wire.stuck = True
    for _ in range(200):
        hub.send(asker, Missed(to="x" * 20))
    assert wire.code == 1013
    assert wire.pending_bytes() < 2 * SMALL.max_backlog_bytes + 100


async def test_a_reader_that_left_meanwhile_is_not_brought_back():
    hub, clock = hub_and_clock(SMALL)
    slow, wire = opened(hub, "live/1")
    other, _ = opened(hub, "live/1")

    async def behind(late: Socket, topic: str) -> None:
        hub.unsubscribe(late, topic)

    await hub.start(behind)
    wire.stuck = True
    hub.broadcast("live/1", bytes(900))
    hub.broadcast("live/1", bytes(900))
    await clock.advance(0.1)
    wire.drain()
    await clock.advance(0.3)
    assert (hub.members("live/1"), list(slow.topics)) == ((other,), [])
    written = len(wire.writes)
    hub.broadcast("live/1", b"not for it")
    await clock.advance(0.1)
    assert len(wire.writes) == written
    await hub.stop()


async def test_a_reader_that_cannot_be_brought_up_to_date_is_told_to_come_again():
    hub, clock = hub_and_clock(SMALL)
    _, wire = opened(hub, "live/1")

    async def behind(_: Socket, topic: str) -> None:
        raise RuntimeError("no snapshot")

    await hub.start(behind)
    wire.stuck = True
    hub.broadcast("live/1", bytes(900))
    hub.broadcast("live/1", bytes(900))
    await clock.advance(0.1)
    wire.drain()
    with capture_logs() as logs:
        await clock.advance(0.3)
    assert wire.code == 1011
    assert [line["topic"] for line in logs] == ["live/1"]
    await hub.stop()


async def test_a_browser_that_does_not_read_is_bounded_and_then_caught_up():
    async with served(SocketLimits(max_backlog_bytes=256 * 1024, flush_seconds=0)) as server:
        # A small window, so that not everything fits into the network.
        reading = socket.socket()
        reading.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 128 * 1024)
        reading.connect(("127.0.0.1", server.port))
        async with server.browser("live/1") as fast, server.browser("live/1", sock=reading, max_queue=1) as slow:
            sent = 0
            while not server.hub.counters.slow:
                server.hub.broadcast("live/1", passing("live/1", sent, 32 * 1024))
                sent += 1
                await heard(fast)
                assert all(it.connection.pending_bytes() <= 256 * 1024 for it in server.table.sockets)
                assert sent < 5000
            received = [await heard(slow)]
            while received[-1]["t"] != "missed":
                received.append(await heard(slow))
            server.hub.broadcast("live/1", passing("live/1", -1))
            assert (await heard(slow))["events"][0]["n"] == -1
            assert [it["events"][0]["n"] for it in received[:-1]] == list(range(len(received) - 1))
            await until(lambda: server.hub.counters.slow == 1)
