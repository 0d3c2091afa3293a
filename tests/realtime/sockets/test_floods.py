"""A client that floods its socket takes a bounded part of each turn of the loop, and is closed and aborted soon."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
import uvicorn
from uvicorn.server import ServerState
from websockets.frames import Frame, Opcode

from tests.realtime.sockets.memory_connection import frames_in
from tests.realtime.sockets.socket_server import DEADLINE, receive, run_server, send_message
from tests.realtime.sockets.test_protocol import REQUEST, codes_in, open_connection, read_all
from tests.support.manual_clock import ManualClock
from tests.support.memory_transport import ManualLoop, MemoryTransport
from zataku.realtime.sockets.limits import (
    CLOSE_SECONDS,
    MAX_CLOSING_BYTES,
    MAX_FRAMES_PER_TURN,
    PIECE_BYTES,
    SOCKETS_PER_TURN,
    SocketLimits,
)
from zataku.realtime.sockets.protocol import PreparedFrameProtocol
from zataku.realtime.sockets.session import uvicorn_options
from zataku.realtime.sockets.turn_queue import TurnQueue

PONG = Frame(Opcode.PONG, b"").serialize(mask=True)
PING = Frame(Opcode.PING, b"").serialize(mask=True)
FIRST_FRAGMENT = Frame(Opcode.TEXT, b"", fin=False).serialize(mask=True)
FRAGMENT = Frame(Opcode.CONT, b"", fin=False).serialize(mask=True)
CLOSE = Frame(Opcode.CLOSE, b"\x03\xe8").serialize(mask=True)
MOST_PER_TURN = MAX_FRAMES_PER_TURN + PIECE_BYTES // len(PONG) + 1


class Connection:
    """The protocol of an accepted socket, whose messages the test takes."""

    def __init__(self, turns: TurnQueue | None = None, loop: ManualLoop | None = None) -> None:
        self.loop = loop or ManualLoop()
        self.taken: asyncio.Queue[Any] = asyncio.Queue()
        self.may_take = asyncio.Semaphore(0)
        self.control_frames = self.fragments = 0
        self.pause_seconds = 0.0
        options = uvicorn_options(SocketLimits())
        config = uvicorn.Config(self._app, interface="asgi3", lifespan="off", log_config=None, **options)
        config.load()
        self.protocol = PreparedFrameProtocol(
            config,
            ServerState(),
            {},
            cast("asyncio.AbstractEventLoop", self.loop),
            turns=turns or TurnQueue(SOCKETS_PER_TURN),
        )
        self.protocol.set_frame_counter(self._count)
        self.transport = MemoryTransport(self.protocol)

    async def accept(self) -> None:
        self.transport.receive(REQUEST)
        await self.taken.get()
        self.loop.turn()
        self.transport.written = b""

    async def lose(self) -> None:
        self.transport.lose()
        async with asyncio.timeout(DEADLINE):
            while self.protocol.tasks:
                self.loop.turn()
                self.may_take.release()
                await asyncio.sleep(0)

    def receive(self, data: bytes) -> None:
        self.transport.receive(data)

    @property
    def codes(self) -> list[int]:
        return codes_in(self.transport.written)

    def _count(self, is_control: bool) -> None:
        if is_control:
            self.control_frames += 1
        else:
            self.fragments += 1
        if self.pause_seconds:
            self.protocol.pause(self.pause_seconds)

    async def _app(self, _scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        await send({"type": "websocket.accept"})
        while message["type"] != "websocket.disconnect":
            self.taken.put_nowait(message)
            await self.may_take.acquire()
            message = await receive()


@asynccontextmanager
async def accepted() -> AsyncIterator[Connection]:
    connection = Connection()
    await connection.accept()
    yield connection
    await connection.lose()


@pytest.mark.parametrize("frame", [PONG, PING], ids=["pongs", "pings"])
async def test_control_frames_of_one_read_are_spread_over_turns_of_the_loop(frame: bytes):
    async with accepted() as connection:
        connection.receive(frame * 10_000)
        turns = 1
        assert connection.control_frames <= MOST_PER_TURN
        while connection.loop.turn():
            turns += 1
            assert connection.control_frames <= MOST_PER_TURN * turns
        assert connection.control_frames == 10_000
        assert not connection.transport.is_paused


async def test_nothing_more_is_read_until_everything_is_parsed():
    async with accepted() as connection:
        connection.receive(PONG * 1000)
        assert connection.transport.is_paused
        while connection.loop.turn():
            pass
        assert not connection.transport.is_paused


async def test_every_fragment_is_counted():
    async with accepted() as connection:
        whole, last = Frame(Opcode.TEXT, b"whole"), Frame(Opcode.CONT, b"end")
        connection.receive(FIRST_FRAGMENT + FRAGMENT * 50 + last.serialize(mask=True) + whole.serialize(mask=True))
        assert connection.fragments == 52


async def test_nothing_is_parsed_in_the_pauses_that_frames_of_a_flooding_address_cost():
    async with accepted() as connection:
        connection.pause_seconds = 0.5
        connection.receive(PONG * 1000)
        for parsed in range(1, 5):
            assert connection.control_frames == parsed
            connection.loop.advance(0.4)
            connection.loop.turn()
            assert connection.transport.is_paused
            assert connection.control_frames == parsed
            connection.loop.advance(0.1)
            connection.loop.turn()
        connection.pause_seconds = 0.0
        connection.loop.advance(0.5)
        while connection.loop.turn():
            pass
        assert connection.control_frames == 1000
        assert not connection.transport.is_paused


async def test_pauses_follow_each_other():
    async with accepted() as connection:
        connection.protocol.pause(1)
        connection.protocol.pause(0.5)
        connection.loop.advance(1.4)
        connection.loop.turn()
        assert connection.transport.is_paused
        connection.loop.advance(0.1)
        connection.loop.turn()
        assert not connection.transport.is_paused


async def test_sockets_whose_pauses_end_together_go_on_in_turns():
    turns = TurnQueue(SOCKETS_PER_TURN)
    first = Connection(turns)
    others = [Connection(turns, first.loop) for _ in range(10 * SOCKETS_PER_TURN)]
    for connection in others:
        await connection.accept()
        connection.protocol.pause(1)
    for connection in others:
        connection.protocol.data_received(PONG)
    assert not any(connection.control_frames for connection in others)
    first.loop.advance(1)
    parsed = 0
    while first.loop.turn():
        before, parsed = parsed, sum(connection.control_frames for connection in others)
        assert parsed - before <= SOCKETS_PER_TURN
    assert parsed == len(others)
    for connection in others:
        await connection.lose()


async def test_messages_are_parsed_one_by_one_as_the_session_takes_them():
    message = Frame(Opcode.TEXT, b"x").serialize(mask=True)
    count = 10 * PIECE_BYTES // len(message)
    async with accepted() as connection:
        connection.receive(message * count)
        connection.loop.turn()
        assert not connection.loop.turn()
        assert connection.transport.is_paused
        assert connection.taken.qsize() <= 1
        for _ in range(count):
            connection.may_take.release()
            async with asyncio.timeout(DEADLINE):
                while connection.taken.empty():
                    connection.loop.turn()
                    await asyncio.sleep(0)
            assert connection.taken.get_nowait()["text"] == "x"
        connection.loop.turn()
        assert connection.taken.empty()


async def test_nothing_is_parsed_before_the_socket_is_accepted():
    connection = Connection()
    connection.transport.receive(REQUEST)
    connection.transport.receive(PING)
    assert connection.transport.is_paused
    assert connection.transport.written == b""
    await connection.taken.get()
    connection.loop.turn()
    assert not connection.transport.is_paused
    assert connection.control_frames == 1
    head, _, frames = connection.transport.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101")
    assert [opcode for opcode, _ in frames_in(frames)] == [Opcode.PONG]
    await connection.lose()


async def test_a_server_stops_and_pauses_nothing_while_a_crowd_that_has_left_waits_for_its_end():
    turns = TurnQueue(SOCKETS_PER_TURN)
    first = Connection(turns)
    crowd = [Connection(turns, first.loop) for _ in range(2 * SOCKETS_PER_TURN)]
    for connection in crowd:
        await connection.accept()
    for connection in crowd:
        connection.transport.lose()
    assert any(not connection.protocol.disconnected for connection in crowd)
    for connection in crowd:
        connection.protocol.pause(1)
        connection.protocol.shutdown()
    first.loop.advance(CLOSE_SECONDS)
    while first.loop.turn():
        for connection in crowd:
            connection.may_take.release()
        await asyncio.sleep(0)
    assert all(connection.protocol.disconnected for connection in crowd)


@pytest.mark.parametrize("code", [1001, 1008])
@pytest.mark.parametrize("flood", [PONG, FRAGMENT, b"\xff"], ids=["pongs", "fragments", "garbage"])
async def test_after_a_close_frame_little_is_read_and_the_connection_is_aborted(flood: bytes, code: int):
    async with accepted() as connection:
        connection.protocol.close(code, "enough")
        connection.loop.turn()
        read = 0
        for _ in range(100):
            if connection.transport.is_paused:
                break
            connection.receive(flood * 2000)
            read += len(flood) * 2000
            while connection.loop.turn():
                pass
        assert connection.transport.is_paused
        assert read <= MAX_CLOSING_BYTES + len(flood) * 2000
        connection.loop.advance(CLOSE_SECONDS - 0.1)
        assert not connection.transport.was_aborted
        connection.loop.advance(0.1)
        assert connection.transport.was_aborted
        assert connection.codes == [code]


async def test_the_answer_to_a_close_frame_ends_the_connection_at_once():
    async with accepted() as connection:
        connection.protocol.close(1000, "enough")
        connection.loop.turn()
        connection.receive(PONG * 3 + CLOSE)
        assert connection.transport.was_closed
        assert not connection.transport.was_aborted


async def test_a_client_that_answers_the_close_frame_but_does_not_read_is_aborted():
    async with accepted() as connection:
        connection.protocol.close(1000, "enough")
        connection.loop.turn()
        connection.receive(CLOSE)
        connection.loop.advance(CLOSE_SECONDS)
        assert connection.transport.was_aborted


async def test_a_violation_ends_the_writing_at_once_and_the_connection_soon():
    async with accepted() as connection:
        connection.receive(Frame(Opcode.TEXT, b"not masked").serialize(mask=False) + PONG * 10_000)
        while connection.loop.turn():
            pass
        assert connection.codes == [1002]
        assert connection.transport.has_ended_writing
        connection.loop.advance(CLOSE_SECONDS)
        assert connection.transport.was_aborted


@pytest.mark.parametrize("frame", [PONG, PING], ids=["pongs", "pings"])
async def test_a_flood_of_control_frames_closes_the_socket(frame: bytes):
    async with run_server(clock=ManualClock()) as server:
        client, writer = await open_connection(server)
        writer.write(frame * 5000)
        assert codes_in(await read_all(client)) == [1008]
        writer.close()
        await server.handler.wait_until(lambda: server.handler.disconnects)


async def test_a_flood_of_fragments_closes_the_socket():
    async with run_server(clock=ManualClock()) as server:
        client, writer = await open_connection(server)
        writer.write(FIRST_FRAGMENT + FRAGMENT * 900)
        assert codes_in(await read_all(client)) == [1008]
        writer.close()
        await server.handler.wait_until(lambda: server.handler.disconnects)


async def test_control_frames_use_up_the_commands_of_a_socket():
    clock = ManualClock()
    async with run_server(clock=clock) as server, server.client("live/1") as client:
        for _ in range(45):
            await client.pong()
        await send_message(client, t="do", id=1, to="live/1", what=1)
        assert (await receive(client))["error"]["code"] == "too_many_requests"
        await clock.advance(2)
        await send_message(client, t="do", id=2, to="live/1", what=1)
        assert (await receive(client))["t"] == "done"
