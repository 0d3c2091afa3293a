"""Proxy in front of a DynamoDB server whose responses come late, wrong or not at all.

It serves HTTP on its own port. For each operation there is a list of faults, one for each call in order; a call
without one is forwarded.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Request(NamedTuple):
    """A call of a client."""

    operation: str
    head: bytes
    body: bytes

    def with_body(self, content: dict[str, Any]) -> "Request":
        """The same call with other parameters."""
        body = json.dumps(content).encode()
        lines = [line for line in self.head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
        head = b"\r\n".join([*lines, b"Content-Length: %d" % len(body)])
        return Request(self.operation, head, body)


# Returns the bytes of the response, or None to cut the connection.
Fault = Callable[["FaultProxy", Request], Awaitable[bytes | None]]


async def forwarded(proxy: "FaultProxy", request: Request) -> bytes | None:
    """Forward the call and return its response."""
    return await proxy.forward(request)


async def lost_before(proxy: "FaultProxy", request: Request) -> bytes | None:
    """Cut the connection before the server gets the call."""
    return None


async def lost_after(proxy: "FaultProxy", request: Request) -> bytes | None:
    """Forward the call, and cut the connection before its response."""
    await proxy.forward(request)
    return None


async def garbled(proxy: "FaultProxy", request: Request) -> bytes | None:
    """Forward the call, and return a response whose body is damaged."""
    head, _, body = (await proxy.forward(request)).partition(b"\r\n\r\n")
    return head + b"\r\n\r\n" + b"?" * len(body)


def error_response(code: str, status: int = 400, **more: Any) -> Fault:
    """Respond with this error without forwarding the call."""

    async def respond(proxy: "FaultProxy", request: Request) -> bytes | None:
        kind = f"com.amazonaws.dynamodb.v20120810#{code}"
        return reply({"__type": kind, "message": f"{code} by the proxy."} | more, status)

    return respond


async def first_only(proxy: "FaultProxy", request: Request) -> bytes | None:
    """Forward only the first part of a batch of one table; the rest is returned as unprocessed."""
    content = json.loads(request.body)
    ((table, requests),) = content["RequestItems"].items()
    if request.operation == "BatchWriteItem":
        processed, rest, field = requests[:1], requests[1:], "UnprocessedItems"
    else:
        processed, rest = requests | {"Keys": requests["Keys"][:1]}, requests | {"Keys": requests["Keys"][1:]}
        field = "UnprocessedKeys"
    response = await proxy.forward(request.with_body(content | {"RequestItems": {table: processed}}))
    return reply(content_of(response) | {field: {table: rest}})


def content_of(response: bytes) -> dict[str, Any]:
    """The JSON body of a response."""
    return json.loads(response.partition(b"\r\n\r\n")[2])


def reply(content: dict[str, Any], status: int = 200) -> bytes:
    """An HTTP response with a JSON body."""
    body = json.dumps(content).encode()
    head = f"HTTP/1.1 {status} Proxy\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class FaultProxy:
    """`async with FaultProxy(shared_server("dynoxide").endpoint, PutItem=[lost_after]) as proxy: ...`"""

    def __init__(self, target: str, **faults: list[Fault]) -> None:
        self._target = urlsplit(target)
        self._writers: set[asyncio.StreamWriter] = set()
        self.faults = faults
        self.always: dict[str, Fault] = {}
        self.seen: list[str] = []

    async def __aenter__(self) -> "FaultProxy":
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
                faults = self.faults.get(request.operation)
                fault = faults.pop(0) if faults else self.always.get(request.operation, forwarded)
                response = await fault(self, request)
                if response is None:
                    return
                writer.write(response)
                await writer.drain()
        finally:
            self._writers.discard(writer)
            writer.close()

    async def forward(self, request: Request) -> bytes:
        """The server's response."""
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
