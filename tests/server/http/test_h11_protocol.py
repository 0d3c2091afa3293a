"""Connections whose requests do not arrive in time are closed."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import uvicorn
from uvicorn.server import ServerState

from zataku.server.http.asgi import Receive, Scope, Send, send_json
from zataku.server.http.h11_protocol import TimedHttpProtocol

DEADLINE = 5.0


class ImpatientProtocol(TimedHttpProtocol):
    header_seconds = 0.2
    body_seconds = 0.4


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    while scope["path"] != "/early" and (await receive()).get("more_body"):
        pass
    await send_json(send, 200, "here")


@pytest.fixture
async def port() -> AsyncIterator[int]:
    config = uvicorn.Config(app, lifespan="off", log_config=None, timeout_keep_alive=30)  # type: ignore[arg-type]
    config.load()
    loop = asyncio.get_running_loop()
    async with await loop.create_server(lambda: ImpatientProtocol(config, ServerState(), {}), "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def test_a_silent_connection_is_closed(port: int):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(DEADLINE):
        assert await reader.read() == b""
    writer.close()


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["first", "second"])
async def test_headers_that_do_not_end_close_the_connection(port: int, before: bytes):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(DEADLINE):
        if before:
            writer.write(before)
            await reader.readuntil(b'"here"')
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
        sending = asyncio.create_task(send_slowly(writer))
        assert await read_to_end(reader) == b""
    sending.cancel()
    writer.close()


async def read_to_end(reader: asyncio.StreamReader) -> bytes:
    """Everything until the connection ends. A peer that still sends when it is closed may get a reset instead."""
    received = b""
    with suppress(ConnectionResetError):
        while piece := await reader.read(65536):
            received += piece
    return received


async def send_slowly(writer: asyncio.StreamWriter) -> None:
    while True:
        await asyncio.sleep(0.05)
        writer.write(b"X-More: 1\r\n")


async def test_a_slow_body_is_read_to_its_end(port: int):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(DEADLINE):
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n")
        for _ in range(6):
            await asyncio.sleep(0.06)
            writer.write(b"x")
        assert b"200" in await reader.readline()
    writer.close()


async def test_a_body_that_goes_on_after_its_answer_closes_the_connection(port: int):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(DEADLINE):
        writer.write(b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        sending = asyncio.create_task(send_slowly(writer))
        assert b'"here"' in await read_to_end(reader)
    sending.cancel()
    writer.close()


async def test_a_connection_stays_open_when_the_rest_of_an_answered_request_arrives(port: int):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(DEADLINE):
        for _ in range(2):
            writer.write(b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n")
            await reader.readuntil(b'"here"')
            writer.write(b"abcdef")
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b'"here"')
    writer.close()


@pytest.mark.parametrize(
    "before",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabcdef",
    ],
    ids=["whole", "early"],
)
async def test_the_next_request_has_its_own_time_limit(port: int, before: bytes):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(DEADLINE):
        head, rest = before[:-3], before[-3:]
        writer.write(head)
        await asyncio.sleep(0.05)
        writer.write(rest + b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n")
        await reader.readuntil(b'"here"')
        for _ in range(9):
            await asyncio.sleep(0.06)
            writer.write(b"x")
        await reader.readuntil(b'"here"')
    writer.close()


async def test_malformed_bytes_after_an_answer_close_the_connection_only(port: int, caplog: pytest.LogCaptureFixture):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(DEADLINE):
        writer.write(b"POST /early HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        await reader.readuntil(b'"here"')
        writer.write(b"nonsense\r\n")
        assert await reader.read() == b""
    writer.close()
    assert [line for line in caplog.records if line.levelname == "ERROR"] == []


async def test_bytes_that_are_no_request_get_an_error_in_the_shape_of_all_errors(port: int):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(DEADLINE):
        writer.write(b"HELLO\r\n\r\n")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["error"]["code"] == "bad_request"
    writer.close()
