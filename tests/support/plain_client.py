"""A DynamoDB client over plain HTTP, for tests that make many calls and do not test botocore.

botocore takes ten times as long for a call as the server does. It is covered by the contract suite on dynoxide and by
the tests of lost and foreign replies; other tests use this client.
"""

import asyncio
import base64
import json
import time
from asyncio import StreamReader, StreamWriter
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from zataku.table import StoreClosed
from zataku.table.dynamodb.client import Client, Response, Service
from zataku.table.dynamodb.errors import error_from_response

_HEADERS = (
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
    b"Authorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
    b"SignedHeaders=host, Signature=0\r\nX-Amz-Date: 20260101T000000Z\r\n"
    b"X-Amz-Target: %s.%s\r\nContent-Length: %d\r\n\r\n"
)
_TARGETS: dict[Service, bytes] = {"dynamodb": b"DynamoDB_20120810", "dynamodbstreams": b"DynamoDBStreams_20120810"}
_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
# A server closes connections that were idle for some seconds, perhaps at the moment of reuse.
_MAX_IDLE_SECONDS = 1.0
_CREATED_AT = "ApproximateCreationDateTime"


class PlainClient(Client):
    """A client with its own HTTP connections to the server."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        url = urlsplit(endpoint)
        self._host, self._port = url.hostname, url.port
        # One call at a time on each connection; as many connections as concurrent calls.
        self._idle: list[tuple[float, StreamReader, StreamWriter]] = []
        self._closed = False

    async def call(self, operation: str, *, service: Service = "dynamodb", **parameters: Any) -> Response:
        """Make one call; raises the errors that a call through botocore raises."""
        body = msgspec.json.encode(parameters)
        status, answer = await self._exchange(_HEADERS % (_TARGETS[service], operation.encode(), len(body)) + body)
        if status == 200:
            return answer
        error = {"Code": answer.get("__type", "").rpartition("#")[2], "Message": _message(answer)}
        response = answer | {"Error": error, "ResponseMetadata": {"HTTPStatusCode": status}}
        raise error_from_response(operation, response, is_write=operation in _WRITES)

    async def _exchange(self, request: bytes) -> tuple[int, Response]:
        if self._closed:
            raise StoreClosed("The store is closed. Open it first.")
        reader, writer = await self._connect()
        try:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            status, length = int(head.split(b" ", 2)[1]), head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]
            content = await reader.readexactly(int(length))
        except BaseException:
            # The reply to the abandoned call may still arrive on this connection.
            writer.close()
            raise
        if b"\r\nconnection: close\r\n" in head:
            writer.close()
        else:
            self._idle.append((time.monotonic(), reader, writer))
        return status, _decode(content)

    async def _connect(self) -> tuple[StreamReader, StreamWriter]:
        """An idle connection that the server cannot have closed yet, or a new one."""
        while self._idle:
            since, reader, writer = self._idle.pop()
            if time.monotonic() - since < _MAX_IDLE_SECONDS:
                return reader, writer
            writer.close()
        return await asyncio.open_connection(self._host, self._port)

    async def close(self) -> None:
        """Close all connections."""
        self._closed = True
        for _, _, writer in self._idle:
            writer.close()
            await writer.wait_closed()
        self._idle.clear()
        await super().close()


def _message(answer: Response) -> str:
    return answer.get("message") or answer.get("Message") or ""


def _decode(content: bytes) -> Response:
    if any(word in content for word in (b'"B"', b'"BS"', _CREATED_AT.encode())):
        return json.loads(content, object_hook=_typed)
    return msgspec.json.decode(content)


def _typed(value: dict[str, Any]) -> dict[str, Any]:
    """Decode base64 bytes and timestamps. An attribute with one of these names has a type around its value."""
    match value:
        case {"B": str(text)}:
            return {"B": base64.b64decode(text)}
        case {"BS": [*texts]}:
            return {"BS": [base64.b64decode(text) for text in cast("list[str]", texts)]}
        case {"ApproximateCreationDateTime": int() | float() as seconds}:
            return value | {_CREATED_AT: datetime.fromtimestamp(seconds, UTC)}
        case _:
            return value
