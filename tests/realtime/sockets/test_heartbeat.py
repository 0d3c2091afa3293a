"""The heartbeat: one message for all sockets, a ping with every fifth, and silent sockets are closed."""

import weakref

import msgspec
from websockets.frames import Opcode

from tests.realtime.sockets.memory_connection import YieldingClock, frames_in, make_hub, open_socket
from tests.realtime.sockets.socket_server import close_code, receive, run_server
from zataku.realtime.messages import HeartbeatMessage
from zataku.realtime.sockets.heartbeat import SOCKETS_AT_ONCE
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.socket import Socket


async def no_catch_up(socket: Socket, topic: str) -> None:
    pass


async def test_every_heartbeat_is_one_write_of_the_same_bytes_for_all():
    hub, clock = make_hub()
    await hub.start(no_catch_up)
    connections = [open_socket(hub)[1] for _ in range(3)]
    await clock.advance(4)
    beat = msgspec.json.encode(HeartbeatMessage(now=int(clock.now() * 1000)))
    assert frames_in(connections[0].writes[0]) == [(Opcode.TEXT, beat)]
    assert len({id(connection.writes[0]) for connection in connections}) == 1
    assert [len(connection.writes) for connection in connections] == [1, 1, 1]
    await hub.stop()


async def test_the_heartbeat_of_a_crowd_is_spread_over_half_of_its_interval():
    crowd = 10 * SOCKETS_AT_ONCE
    hub, clock = make_hub(SocketLimits(max_sockets_per_account=crowd))
    await hub.start(no_catch_up)
    connections = [open_socket(hub)[1] for _ in range(crowd)]
    await clock.advance(4)
    progress = [sum(len(connection.writes) for connection in connections)]
    for _ in range(9):
        await clock.advance(0.2)
        progress.append(sum(len(connection.writes) for connection in connections))
    assert progress == [SOCKETS_AT_ONCE * slices for slices in range(1, 11)]
    # The next one begins four seconds after the first one began.
    await clock.advance(2.2)
    assert [len(connections[0].writes), len(connections[-1].writes)] == [2, 1]
    await hub.stop()


async def test_a_socket_that_ends_during_the_heartbeat_of_a_crowd_is_freed_at_once_when_it_has_its_own():
    crowd = 3 * SOCKETS_AT_ONCE
    hub, clock = make_hub(SocketLimits(max_sockets_per_account=crowd))
    await hub.start(no_catch_up)
    sockets = [open_socket(hub)[0] for _ in range(crowd)]
    ended = [weakref.ref(socket.connection) for socket in sockets[:SOCKETS_AT_ONCE]]
    await clock.advance(4)
    while sockets:
        hub.forget(sockets.pop())
    assert [connection() for connection in ended] == [None] * SOCKETS_AT_ONCE
    await hub.stop()


async def test_a_client_hears_of_the_server_every_four_seconds_and_is_pinged_every_twenty():
    hub, clock = make_hub()
    await hub.start(no_catch_up)
    _, connection = open_socket(hub)
    for _ in range(10):
        connection.is_active = True
        await clock.advance(4)
    kinds = [[opcode for opcode, _ in frames_in(write)] for write in connection.writes]
    assert kinds == ([[Opcode.TEXT]] * 4 + [[Opcode.PING, Opcode.TEXT]]) * 2
    await hub.stop()


async def test_heartbeats_and_pings_continue_when_the_clock_is_set_back():
    hub, clock = make_hub()
    await hub.start(no_catch_up)
    _, connection = open_socket(hub)
    await clock.advance(5)
    clock.set_back(7200)
    for _ in range(11):
        connection.is_active = True
        await clock.advance(4)
    pings = [opcode for write in connection.writes for opcode, _ in frames_in(write) if opcode is Opcode.PING]
    assert (len(connection.writes), len(pings)) == (12, 3)
    await hub.stop()


async def test_a_socket_silent_for_two_and_a_half_pings_is_closed():
    hub, clock = make_hub()
    await hub.start(no_catch_up)
    (_, silent), (_, alive) = open_socket(hub), open_socket(hub)
    for _ in range(4):
        alive.is_active = True
        await clock.advance(10)
    await clock.advance(9)
    assert silent.code is None
    await clock.advance(1)
    assert (silent.code, alive.code) == (1001, None)
    await hub.stop()


async def test_a_slow_reader_is_judged_by_what_it_reads_not_by_pongs():
    hub, clock = make_hub(SocketLimits(max_backlog_bytes=1000))
    await hub.start(no_catch_up)
    _, slow = open_socket(hub, "live/1")
    slow.stuck = True
    hub.broadcast("live/1", bytes(900))
    hub.broadcast("live/1", bytes(900))
    for _ in range(12):
        await clock.advance(9)
        slow.backlog -= 50
    assert slow.code is None
    await hub.stop()


async def test_a_client_that_answers_pings_stays_connected():
    clock = YieldingClock()
    async with (
        run_server(SocketLimits(heartbeat_seconds=20, ping_seconds=20), clock) as server,
        server.client() as client,
    ):
        for _ in range(5):
            await clock.advance(20)
            assert (await receive(client))["t"] == "beat"
            # The answer to the ping comes before the answer to this.
            await client.send("?")
            assert (await receive(client))["t"] == "wrong"
        assert server.hub.socket_count == 1


async def test_a_vanished_client_is_closed():
    clock = YieldingClock()
    async with (
        run_server(SocketLimits(heartbeat_seconds=20, ping_seconds=20), clock) as server,
        server.client("live/1") as client,
    ):
        client.transport.pause_reading()
        await clock.advance(60)
        client.transport.resume_reading()
        assert await close_code(client) == 1001
        assert [topics for _, topics in server.handler.disconnects] == [["live/1"]]
