"""Connections of attackers: raw bytes on loopback, from addresses of their own."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import msgspec

from bench.attack.outcome import CLOSED, MAX_KEPT_BYTES, Outcome
from bench.server_process import REQUEST

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 40.0
"""Within this time every request is answered or its connection closed; the longest limit of the server is 30 s."""
_CHUNK_BYTES = 1 << 16
_NO_BODY = frozenset({204, 304})


class Response(msgspec.Struct, frozen=True):
    """A response: its status, and all its bytes."""

    status: int
    content: bytes
    body: bytes


class Connection:
    """A connection whose failures are counted in an outcome."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, outcome: Outcome) -> None:
        self.reader, self.writer, self.outcome = reader, writer, outcome
        self.last_sent = b""
        """The end of what was sent, by which a fault can be repeated."""

    async def send(self, content: bytes, messages: int = 1) -> bool:
        """Send bytes that count as a number of messages; False when the server has closed the connection."""
        self.last_sent = (self.last_sent + content[-MAX_KEPT_BYTES:])[-MAX_KEPT_BYTES:]
        try:
            self.writer.write(content)
            async with asyncio.timeout(ANSWER_SECONDS):
                await self.writer.drain()
        except TimeoutError:
            self.outcome.hang(content)
            return False
        except OSError:
            return False
        self.outcome.messages += messages
        return True

    async def read(self) -> bytes:
        """The next bytes; none when the server has closed the connection."""
        try:
            return await self.reader.read(_CHUNK_BYTES)
        except OSError:
            return b""

    async def response(self, *, is_head: bool = False) -> Response | None:
        """The next response; None when the connection was closed before one was complete."""
        while True:
            try:
                head = await self.reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
                return None
            status = int(head[9:12])
            if status >= 200 or status == 101:
                break
        body = b"" if is_head or status in _NO_BODY or status == 101 else await self._body(head.lower())
        return None if body is None else Response(status, head + body, body)

    async def expect_answer(self, sent: bytes, seconds: float = ANSWER_SECONDS) -> Response | None:
        """Count the answer to what was sent: a status, a closed connection, or none in time."""
        try:
            async with asyncio.timeout(seconds):
                response = await self.response(is_head=sent.startswith(b"HEAD "))
        except TimeoutError:
            self.outcome.hang(sent)
            return None
        self.outcome.answer(CLOSED if response is None else str(response.status))
        if response is not None and response.status >= 500:
            self.outcome.fault(sent, response.content)
        return response

    async def expect_close(self, sent: bytes, seconds: float = ANSWER_SECONDS) -> None:
        """Count the close of the connection by the server, whatever it sends before, or that it stays open."""
        received = b""
        try:
            async with asyncio.timeout(seconds):
                while chunk := await self.read():
                    received = (received + chunk)[-_CHUNK_BYTES:]
        except TimeoutError:
            self.outcome.hang(sent, received)
        else:
            self.outcome.answer(CLOSED)

    async def _body(self, head: bytes) -> bytes | None:
        try:
            if b"\r\ntransfer-encoding: chunked" in head:
                return await self._chunks()
            _, has_length, rest = head.partition(b"\r\ncontent-length:")
            if has_length:
                return await self.reader.readexactly(int(rest.partition(b"\r\n")[0]))
            return await self.reader.read()
        except (asyncio.IncompleteReadError, OSError):
            return None

    async def _chunks(self) -> bytes:
        body = b""
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            body += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readuntil(b"\r\n")
        return body


@asynccontextmanager
async def connected(
    port: int, source: str, outcome: Outcome, *, receive_buffer: int | None = None
) -> AsyncGenerator[Connection | None]:
    """A connection from one of this machine's addresses, aborted at the end; None when it is not accepted."""
    connection = await connect(port, source, outcome, receive_buffer=receive_buffer)
    try:
        yield connection
    finally:
        if connection is not None:
            connection.writer.transport.abort()


async def connect(port: int, source: str, outcome: Outcome, *, receive_buffer: int | None = None) -> Connection | None:
    """Connect; None when the server does not accept the connection."""
    client = socket.socket()
    client.setblocking(False)
    if receive_buffer is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    try:
        client.bind((source, 0))
        async with asyncio.timeout(CONNECT_SECONDS):
            await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", port))
            reader, writer = await asyncio.open_connection(sock=client, limit=_CHUNK_BYTES)
    except (OSError, TimeoutError):
        client.close()
        outcome.unconnected += 1
        return None
    outcome.connections += 1
    return Connection(reader, writer, outcome)


async def open_socket(
    port: int, source: str, outcome: Outcome, *, receive_buffer: int | None = None
) -> Connection | None:
    """A connection after its WebSocket handshake; None when the server did not accept it."""
    connection = await connect(port, source, outcome, receive_buffer=receive_buffer)
    if connection is None:
        return None
    if await connection.send(REQUEST):
        response = await connection.expect_answer(REQUEST)
        if response is not None and response.status == 101:
            return connection
    connection.writer.transport.abort()
    return None


def close_all(connections: list[Connection]) -> None:
    """Abort connections."""
    for connection in connections:
        with suppress(OSError):
            connection.writer.transport.abort()
