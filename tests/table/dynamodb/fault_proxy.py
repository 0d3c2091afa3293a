"""A door in front of a DynamoDB server through which its answers come late, wrong or not at all.

It speaks real HTTP on a port of its own. For each operation there is a list of fates, one for each call in order; a
call without one goes through.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Request(NamedTuple):
    """A call that has come in."""

    operation: str
    head: bytes
    body: bytes

    def with_body(self, content: dict[str, Any]) -> "Request":
        """The same call with other parameters."""
        body = json.dumps(content).encode()
        lines = [line for line in self.head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
        head = b"\r\n".join([*lines, b"Content-Length: %d" % len(body)])
        return Request(self.operation, head, body)


# What becomes of a call: the bytes of the answer, or None when the connection is cut.
Fate = Callable[["Front", Request], Awaitable[bytes | None]]


async def passed(front: "Front", request: Request) -> bytes | None:
    """It reaches the server and its answer comes back."""
    return await front.forward(request)


async def lost_before(front: "Front", request: Request) -> bytes | None:
    """The connection breaks before the server has seen it."""
    return None


async def lost_after(front: "Front", request: Request) -> bytes | None:
    """The server does it, and the connection breaks before the answer comes."""
    await front.forward(request)
    return None


async def garbled(front: "Front", request: Request) -> bytes | None:
    """The server does it, and its answer comes with other bytes than it was sent with."""
    head, _, body = (await front.forward(request)).partition(b"\r\n\r\n")
    return head + b"\r\n\r\n" + b"?" * len(body)


def answered(code: str, status: int = 400, **more: Any) -> Fate:
    """The server is not asked; this error is the answer."""

    async def answer(front: "Front", request: Request) -> bytes | None:
        kind = f"com.amazonaws.dynamodb.v20120810#{code}"
        return reply({"__type": kind, "message": f"{code} by the front."} | more, status)

    return answer


async def first_only(front: "Front", request: Request) -> bytes | None:
    """Of a batch about one table the server does the first part; the rest comes back unprocessed."""
    content = json.loads(request.body)
    ((table, wanted),) = content["RequestItems"].items()
    if request.operation == "BatchWriteItem":
        done, left, word = wanted[:1], wanted[1:], "UnprocessedItems"
    else:
        done, left = wanted | {"Keys": wanted["Keys"][:1]}, wanted | {"Keys": wanted["Keys"][1:]}
        word = "UnprocessedKeys"
    answer = await front.forward(request.with_body(content | {"RequestItems": {table: done}}))
    told = content_of(answer)
    return reply(told | {word: {table: left}})


def content_of(answer: bytes) -> dict[str, Any]:
    """What an answer says."""
    return json.loads(answer.partition(b"\r\n\r\n")[2])


def reply(content: dict[str, Any], status: int = 200) -> bytes:
    """An answer as it travels."""
    body = json.dumps(content).encode()
    head = f"HTTP/1.1 {status} Front\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Front:
    """The door: `async with Front(server("dynoxide").endpoint, PutItem=[lost_after]) as front: ...`."""

    def __init__(self, target: str, **fates: list[Fate]) -> None:
        self._target = urlsplit(target)
        self._writers: set[asyncio.StreamWriter] = set()
        self.fates = fates
        self.always: dict[str, Fate] = {}
        self.seen: list[str] = []

    async def __aenter__(self) -> "Front":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**24)
        self.endpoint = "http://{}:{}".format(*self._server.sockets[0].getsockname())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for writer in list(self._writers):
            writer.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while (request := await _request(reader)) is not None:
                self.seen.append(request.operation)
                waiting = self.fates.get(request.operation)
                fate = waiting.pop(0) if waiting else self.always.get(request.operation, passed)
                answer = await fate(self, request)
                if answer is None:
                    return
                writer.write(answer)
                await writer.drain()
        finally:
            self._writers.discard(writer)
            writer.close()

    async def forward(self, request: Request) -> bytes:
        """What the server answers."""
        reader, writer = await asyncio.open_connection(self._target.hostname, self._target.port, limit=2**24)
        writer.write(request.head + b"\r\n\r\n" + request.body)
        await writer.drain()
        head, body = await _message(reader)
        writer.close()
        return head + b"\r\n\r\n" + body


async def _request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head, body = await _message(reader)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return Request(_header(head, "x-amz-target").rpartition(".")[2], head, body)


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n"))[:-4]
    return head, await reader.readexactly(int(_header(head, "content-length") or 0))


def _header(head: bytes, name: str) -> str:
    for line in head.decode("latin-1").split("\r\n")[1:]:
        key, _, value = line.partition(":")
        if key.lower() == name:
            return value.strip()
    return ""
