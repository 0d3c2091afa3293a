"""The heartbeat: one ping for all, and silence is noticed."""

import msgspec
from websockets.frames import Opcode

from tests.realtime.sockets.memory_connection import PatientClock, frames_in, hub_and_clock, opened
from tests.realtime.sockets.socket_server import ended, heard, served
from zataku.realtime.messages import Beat
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket


async def nobody(socket: Socket, topic: str) -> None:
    pass


async def test_every_beat_is_one_write_of_the_same_bytes_for_all():
    hub, clock = hub_and_clock()
    await hub.start(nobody)
    wires = [opened(hub)[1] for _ in range(3)]
    await clock.advance(20)
    beat = msgspec.json.encode(Beat(now=int(clock.now() * 1000)))
    assert frames_in(wires[0].writes[0]) == [(Opcode.PING, b""), (Opcode.TEXT, beat)]
    assert len({id(wire.writes[0]) for wire in wires}) == 1
    assert [len(wire.writes) for wire in wires] == [1, 1, 1]
    await hub.stop()


async def test_a_socket_not_heard_from_for_two_and_a_half_beats_is_closed():
    hub, clock = hub_and_clock()
    await hub.start(nobody)
    (_, silent), (_, alive) = opened(hub), opened(hub)
    for _ in range(4):
        alive.alive = True
        await clock.advance(10)
    await clock.advance(9)
    assert silent.code is None
    await clock.advance(1)
    assert (silent.code, alive.code) == (1001, None)
    await hub.stop()


async def test_a_slow_reader_is_judged_by_what_it_takes_and_not_by_what_it_says():
    hub, clock = hub_and_clock(SocketLimits(max_backlog_bytes=1000))
    await hub.start(nobody)
    _, slow = opened(hub, "live/1")
    slow.stuck = True
    hub.broadcast("live/1", bytes(900))
    hub.broadcast("live/1", bytes(900))
    for _ in range(12):
        await clock.advance(9)
        slow.waiting -= 50
    assert slow.code is None
    await hub.stop()


async def test_a_browser_answers_by_itself_and_stays():
    clock = PatientClock()
    async with served(SocketLimits(heartbeat_seconds=20), clock) as server, server.browser() as browser:
        for _ in range(5):
            await clock.advance(20)
            assert (await heard(browser))["t"] == "beat"
            # The answer to the ping comes before the answer to this.
            await browser.send("?")
            assert (await heard(browser))["t"] == "wrong"
        assert server.hub.socket_count == 1


async def test_a_browser_that_vanished_is_noticed():
    clock = PatientClock()
    async with served(SocketLimits(heartbeat_seconds=20), clock) as server, server.browser("live/1") as browser:
        browser.transport.pause_reading()
        await clock.advance(60)
        browser.transport.resume_reading()
        assert await ended(browser) == 1001
        assert [topics for _, topics in server.table.left] == [["live/1"]]
