"""The protocol below the messages: broken frames, invalid bytes, aborted connections."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from websockets.frames import Frame, Opcode

from tests.realtime.sockets.memory_connection import frames_in
from tests.realtime.sockets.socket_server import (
    DEADLINE,
    SocketServer,
    close_code,
    receive,
    run_server,
    transient_event,
)
from zataku.realtime.sockets.limits import SocketLimits
from zataku.realtime.sockets.protocol import PreparedFrameProtocol

REQUEST = (
    b"GET /socket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
)
JOIN = Frame(Opcode.TEXT, b'{"t":"join","id":1,"to":"live/1"}').serialize(mask=True)


@pytest.fixture
async def server():
    async with run_server() as running:
        yield running


async def read_all(client: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(DEADLINE):
        return await client.read()


async def open_connection(server: SocketServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    client, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(REQUEST)
    head = await client.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101")
    # Compression is off, although this client offers it.
    assert b"permessage-deflate" not in head
    return client, writer


def codes_in(received: bytes) -> list[int]:
    return [int.from_bytes(payload[:2]) for opcode, payload in frames_in(received) if opcode is Opcode.CLOSE]


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (Frame(Opcode.TEXT, b"not masked").serialize(mask=False), 1002),
        (Frame(Opcode.CONT, b"continues nothing").serialize(mask=True), 1002),
        (b"\xc1\x80\0\0\0\0", 1002),
        (b"\x83\x80\0\0\0\0", 1002),
        (Frame(Opcode.TEXT, b"\xff\xfe").serialize(mask=True), 1007),
        (b"\x81\xff" + (1 << 40).to_bytes(8) + bytes(4), 1009),
    ],
    ids=["unmasked", "continued", "compressed", "unknown", "not utf-8", "endless"],
)
async def test_a_broken_frame_ends_its_connection_and_no_other(server: SocketServer, broken: bytes, code: int):
    async with server.client("live/1") as other:
        client, writer = await open_connection(server)
        writer.write(broken)
        assert codes_in(await read_all(client)) == [code]
        writer.close()
        await server.handler.wait_until(lambda: len(server.handler.disconnects) == 1)
        server.hub.broadcast("live/1", transient_event("live/1", 1))
        assert (await receive(other))["t"] == "passing"


async def test_a_fragmented_message_is_one_message(server: SocketServer):
    async with server.client() as client:
        await client.send(["{", '"t":"pass",', '"to":"live/1","what":1', "}"])
        await server.handler.wait_until(lambda: server.handler.received == [("pass", b"1")])


async def test_fragments_together_are_limited_like_one_message(server: SocketServer):
    async with server.client() as client:
        await client.send(["x" * 10_000] * 20)
        assert await close_code(client) == 1009


async def test_nothing_is_written_after_the_close_frame(server: SocketServer):
    async with server.client("live/1"):
        client, writer = await open_connection(server)
        writer.write(JOIN)
        await server.handler.wait_until(lambda: len(server.handler.sockets) == 2)
        server.hub.close(server.handler.sockets[1], 1000, "enough")
        for number in range(5):
            server.hub.broadcast("live/1", transient_event("live/1", number))
        writer.write(Frame(Opcode.CLOSE, b"\x03\xe8").serialize(mask=True))
        received = await read_all(client)
        writer.close()
        assert received.endswith(Frame(Opcode.CLOSE, b"\x03\xe8enough").serialize(mask=False))


async def test_writing_to_an_ended_connection_does_nothing(server: SocketServer):
    async with server.client("live/1") as client:
        client.transport.abort()
        async with asyncio.timeout(DEADLINE):
            while not server.handler.disconnects:
                server.hub.broadcast("live/1", transient_event("live/1", 1))
                await asyncio.sleep(0)
        server.handler.sockets[0].connection.write(b"late")


async def test_a_connection_has_a_backlog_until_its_client_has_read(server: SocketServer):
    reader, writer = await open_connection(server)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(JOIN)
    await server.handler.wait_until(lambda: server.handler.sockets)
    connection = server.handler.sockets[0].connection
    assert not connection.has_backlog
    while not connection.has_backlog:
        assert connection.pending_bytes() == 0
        connection.write(bytes(64 * 1024))
    assert connection.pending_bytes() > 0
    writer.transport.resume_reading()  # type: ignore[attr-defined]
    async with asyncio.timeout(DEADLINE):
        while connection.has_backlog:
            await reader.read(1 << 20)
    assert connection.pending_bytes() == 0
    writer.transport.abort()
    await server.handler.wait_until(lambda: server.handler.disconnects)


async def test_a_client_that_closes_and_never_reads_is_aborted():
    async with run_server(SocketLimits(max_backlog_bytes=4 * 1024 * 1024, max_flush_seconds=0)) as server:
        _, writer = await open_connection(server)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(JOIN)
        await server.handler.wait_until(lambda: server.handler.sockets)
        client = server.handler.sockets[0]
        connection: Any = client.connection
        connection.close_timeout = 0.05  # uvicorn waits ten seconds
        was_lost, lose = asyncio.Event(), connection.connection_lost

        def record_loss(problem: Exception | None) -> None:
            lose(problem)
            was_lost.set()

        connection.connection_lost = record_loss
        while connection.pending_bytes() < 1024 * 1024:
            server.hub.broadcast("live/1", bytes(256 * 1024))
            await asyncio.sleep(0)
        writer.write(Frame(Opcode.CLOSE, b"\x03\xe8").serialize(mask=True))
        await asyncio.wait_for(was_lost.wait(), DEADLINE)
        assert connection.pending_bytes() == 0
        writer.transport.abort()
        await server.handler.wait_until(lambda: server.handler.disconnects)


async def test_a_connection_whose_turn_fails_is_aborted(server: SocketServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(PreparedFrameProtocol, "handle_ping", lambda _: 1 // 0)
    client, writer = await open_connection(server)
    # The join is handled as it arrives, what follows in a later turn.
    writer.write(JOIN + Frame(Opcode.PING, b"").serialize(mask=True))
    with suppress(ConnectionResetError):
        await read_all(client)
    writer.close()


async def test_a_client_may_ping_but_not_without_limit(server: SocketServer):
    async with server.client() as client:
        for _ in range(10):
            await asyncio.wait_for(await client.ping(), DEADLINE)
        for _ in range(600):
            await client.ping()
        assert await close_code(client) == 1008
        await server.handler.wait_until(lambda: server.handler.disconnects)


async def test_a_message_of_only_empty_fragments_ends_the_connection(server: SocketServer):
    client, writer = await open_connection(server)
    writer.write(Frame(Opcode.TEXT, b"", fin=False).serialize(mask=True))
    writer.write(Frame(Opcode.CONT, b"", fin=False).serialize(mask=True) * 2000)
    assert codes_in(await read_all(client)) == [1008]
    writer.close()
    await server.handler.wait_until(lambda: server.handler.disconnects)
