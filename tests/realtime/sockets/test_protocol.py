"""Below the messages: broken frames, wrong bytes, sudden ends."""

import asyncio

import pytest
from websockets.frames import Frame, Opcode

from tests.realtime.sockets.memory_connection import frames_in
from tests.realtime.sockets.socket_server import DEADLINE, Served, ended, heard, passing, served, until
from zataku.realtime.sockets.limits import SocketLimits

REQUEST = (
    b"GET /socket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
)
JOIN = Frame(Opcode.TEXT, b'{"t":"join","id":1,"to":"live/1"}').serialize(mask=True)


@pytest.fixture
async def server():
    async with served() as made:
        yield made


async def read_all(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(DEADLINE):
        return await reader.read()


async def connected(server: Served) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(REQUEST)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101")
    # Nothing is compressed, although this browser could.
    assert b"permessage-deflate" not in head
    return reader, writer


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
async def test_a_broken_frame_ends_its_connection_and_no_other(server: Served, broken: bytes, code: int):
    async with server.browser("live/1") as other:
        reader, writer = await connected(server)
        writer.write(broken)
        assert codes_in(await read_all(reader)) == [code]
        writer.close()
        await until(lambda: len(server.table.left) == 1)
        server.hub.broadcast("live/1", passing("live/1", 1))
        assert (await heard(other))["t"] == "passing"


async def test_a_message_in_many_pieces_is_one_message(server: Served):
    async with server.browser() as browser:
        await browser.send(["{", '"t":"pass",', '"to":"live/1","what":1', "}"])
        await until(lambda: server.table.heard == [("pass", b"1")])


async def test_pieces_together_are_no_larger_than_a_whole(server: Served):
    async with server.browser() as browser:
        await browser.send(["x" * 10_000] * 20)
        assert await ended(browser) == 1009


async def test_nothing_is_written_after_the_close_frame(server: Served):
    async with server.browser("live/1"):
        reader, writer = await connected(server)
        writer.write(JOIN)
        await until(lambda: len(server.table.sockets) == 2)
        server.hub.close(server.table.sockets[1], 1000, "enough")
        for number in range(5):
            server.hub.broadcast("live/1", passing("live/1", number))
        writer.write(Frame(Opcode.CLOSE, b"\x03\xe8").serialize(mask=True))
        received = await read_all(reader)
        writer.close()
        assert received.endswith(Frame(Opcode.CLOSE, b"\x03\xe8enough").serialize(mask=False))


async def test_a_connection_that_is_gone_can_be_told_things_all_the_same(server: Served):
    async with server.browser("live/1") as browser:
        browser.transport.abort()
        for number in range(50):
            server.hub.broadcast("live/1", passing("live/1", number))
            await asyncio.sleep(0.001)
        await until(lambda: server.table.left)


async def test_a_browser_that_says_goodbye_and_never_reads_is_not_waited_for_for_ever():
    async with served(SocketLimits(max_backlog_bytes=4 * 1024 * 1024, flush_seconds=0)) as server:
        _, writer = await connected(server)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(JOIN)
        await until(lambda: server.table.sockets)
        reader = server.table.sockets[0]
        reader.connection.close_timeout = 0.05  # type: ignore[attr-defined]  uvicorn waits ten seconds
        while reader.connection.pending_bytes() < 1024 * 1024:
            server.hub.broadcast("live/1", bytes(256 * 1024))
            await asyncio.sleep(0)
        writer.write(Frame(Opcode.CLOSE, b"\x03\xe8").serialize(mask=True))
        await until(lambda: reader.connection.pending_bytes() == 0)
        writer.transport.abort()
        await until(lambda: server.table.left)


async def test_a_browser_may_ask_whether_we_are_there_but_not_on_and_on(server: Served):
    async with server.browser() as browser:
        for _ in range(10):
            await asyncio.wait_for(await browser.ping(), DEADLINE)
        for _ in range(600):
            await browser.ping()
        assert await ended(browser) == 1008
        await until(lambda: server.table.left)


async def test_a_message_of_nothing_but_empty_pieces_ends_the_connection(server: Served):
    reader, writer = await connected(server)
    writer.write(Frame(Opcode.TEXT, b"", fin=False).serialize(mask=True))
    writer.write(Frame(Opcode.CONT, b"", fin=False).serialize(mask=True) * 2000)
    assert codes_in(await read_all(reader)) == [1008]
    writer.close()
    await until(lambda: server.table.left)
