"""Connections whose requests do not arrive in time are closed."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import uvicorn
from uvicorn.server import ServerState

from tests.server.http.http_connection import no_limits
from tests.support.loop_time import LoopTime
from zataku.realtime.sockets.turn_queue import TurnQueue
from zataku.server.http.asgi import Receive, Scope, Send, send_json
from zataku.server.http.h11_protocol import CONNECTIONS_PER_TURN, TURNS_BETWEEN_FREQUENT, TimedHttpProtocol

HEADER_SECONDS, BODY_SECONDS = TimedHttpProtocol.header_seconds, TimedHttpProtocol.body_seconds
DEADLINE = 10.0


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    while scope["path"] != "/early" and (await receive()).get("more_body"):
        pass
    await send_json(send, 200, "here")


class ObservedProtocol(TimedHttpProtocol):
    """A protocol that queues what has arrived, for the test to wait for."""

    def __init__(self, config: uvicorn.Config, arrivals: "asyncio.Queue[bytes]") -> None:
        super().__init__(
            config,
            ServerState(),
            {},
            open_connections=no_limits(),
            turns=TurnQueue(CONNECTIONS_PER_TURN, TURNS_BETWEEN_FREQUENT),
        )
        self._arrivals = arrivals

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._arrivals.put_nowait(b"")

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._arrivals.put_nowait(data)


class Client:
    """A connection to the server, in a loop whose time is advanced."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, arrivals: "asyncio.Queue[bytes]"):
        self._reader, self._writer, self._arrivals = reader, writer, arrivals
        self._time = LoopTime()

    async def send(self, data: bytes) -> None:
        """Send some bytes, and wait until the server has handled them."""
        self._writer.write(data)
        async with asyncio.timeout(DEADLINE):
            while data:
                data = data[len(await self._arrivals.get()) :]

    async def send_slowly(self, data: bytes, seconds: float) -> None:
        """Send some bytes one by one, with a pause before each."""
        for byte in data:
            await self._time.advance(seconds)
            await self.send(bytes([byte]))

    async def advance(self, seconds: float) -> None:
        """Advance the time without sending anything."""
        await self._time.advance(seconds)

    async def read_answer(self) -> bytes:
        """One answer of the app, with its headers."""
        async with asyncio.timeout(DEADLINE):
            return await self._reader.readuntil(b'"here"')

    async def read_to_end(self) -> bytes:
        """Everything until the server closes the connection."""
        async with asyncio.timeout(DEADLINE):
            return await self._reader.read()


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    config = uvicorn.Config(app, lifespan="off", log_config=None, timeout_keep_alive=10_000)  # type: ignore[arg-type]
    config.load()
    arrivals: asyncio.Queue[bytes] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    async with await loop.create_server(lambda: ObservedProtocol(config, arrivals), "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
        await arrivals.get()
        yield Client(reader, writer, arrivals)
        writer.close()


async def test_a_silent_connection_is_closed(client: Client):
    await client.advance(HEADER_SECONDS)
    assert await client.read_to_end() == b""


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["first", "second"])
async def test_headers_that_do_not_end_close_the_connection(client: Client, before: bytes):
    if before:
        await client.send(before)
        await client.read_answer()
    await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n")
    await client.send_slowly(b"X-More: ", HEADER_SECONDS / 10)
    await client.advance(HEADER_SECONDS / 4)
    assert await client.read_to_end() == b""


async def test_a_slow_body_is_read_to_its_end(client: Client):
    await client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n")
    await client.send_slowly(b"abcdef", HEADER_SECONDS)
    assert (await client.read_answer()).startswith(b"HTTP/1.1 200")


async def test_a_body_that_continues_after_its_answer_closes_the_connection(client: Client):
    await client.send(b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
    await client.read_answer()
    await client.send_slowly(b"abc", BODY_SECONDS / 4)
    await client.advance(BODY_SECONDS / 4)
    assert await client.read_to_end() == b""


async def test_a_connection_stays_open_when_the_rest_of_an_answered_request_arrives(client: Client):
    for _ in range(2):
        await client.send(b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n")
        await client.read_answer()
        await client.send(b"abcdef")
        await client.advance(BODY_SECONDS)
    await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await client.read_answer()


@pytest.mark.parametrize(
    "before",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabcdef",
    ],
    ids=["whole", "early"],
)
async def test_the_next_request_has_its_own_time_limit(client: Client, before: bytes):
    head, rest = before[:-3], before[-3:]
    await client.send(head)
    await client.advance(BODY_SECONDS / 2)
    await client.send(rest + b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n")
    await client.read_answer()
    await client.send_slowly(b"abcdef", HEADER_SECONDS)
    await client.read_answer()


async def test_malformed_bytes_after_an_answer_close_the_connection_only(
    client: Client, caplog: pytest.LogCaptureFixture
):
    await client.send(b"POST /early HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    await client.read_answer()
    await client.send(b"nonsense\r\n")
    assert await client.read_to_end() == b""
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_malformed_bytes_get_a_json_error(client: Client):
    await client.send(b"HELLO\r\n\r\n")
    head, _, body = (await client.read_to_end()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["error"]["code"] == "bad_request"
