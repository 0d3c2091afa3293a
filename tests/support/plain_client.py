"""Calls of DynamoDB as bare HTTP, for tests that ask much of a server and nothing of botocore.

botocore takes ten times as long for a call as the server does. What it does to a call is tested by the whole contract
on dynoxide and by the tests of lost and foreign replies; other tests ask what a DynamoDB makes of their calls.
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

from zataku.table.dynamodb.client import Answer, Client, Service
from zataku.table.dynamodb.refusals import refusal
from zataku.table.errors import StoreClosed

_HEADERS = (
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
    b"Authorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "
    b"SignedHeaders=host, Signature=0\r\nX-Amz-Date: 20260101T000000Z\r\n"
    b"X-Amz-Target: %s.%s\r\nContent-Length: %d\r\n\r\n"
)
_TARGETS: dict[Service, bytes] = {"dynamodb": b"DynamoDB_20120810", "dynamodbstreams": b"DynamoDBStreams_20120810"}
_CHANGING = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
# A server closes what has been idle for some seconds, perhaps just when it is used again.
_FRESH_SECONDS = 1.0
_MOMENT = "ApproximateCreationDateTime"


class PlainClient(Client):
    """A client whose calls go straight to the server."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        place = urlsplit(endpoint)
        self._host, self._port = place.hostname, place.port
        # One call at a time on each; as many as there are calls under way.
        self._idle: list[tuple[float, StreamReader, StreamWriter]] = []
        self._ended = False

    async def call(self, operation: str, *, service: Service = "dynamodb", **parameters: Any) -> Answer:
        """One call; raises what a call through botocore raises."""
        body = msgspec.json.encode(parameters)
        status, answer = await self._exchange(_HEADERS % (_TARGETS[service], operation.encode(), len(body)) + body)
        if status == 200:
            return answer
        told = {"Code": answer.get("__type", "").rpartition("#")[2], "Message": _message(answer)}
        response = answer | {"Error": told, "ResponseMetadata": {"HTTPStatusCode": status}}
        raise refusal(operation, response, changing=operation in _CHANGING)

    async def _exchange(self, request: bytes) -> tuple[int, Answer]:
        if self._ended:
            raise StoreClosed("The store is closed. Open it first.")
        reader, writer = await self._line()
        try:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            status, length = int(head.split(b" ", 2)[1]), head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]
            content = await reader.readexactly(int(length))
        except BaseException:
            # An answer may still be on its way to somebody who has gone.
            writer.close()
            raise
        if b"\r\nconnection: close\r\n" in head:
            writer.close()
        else:
            self._idle.append((time.monotonic(), reader, writer))
        return status, _read(content)

    async def _line(self) -> tuple[StreamReader, StreamWriter]:
        """A connection, used before if the server cannot have tired of it."""
        while self._idle:
            since, reader, writer = self._idle.pop()
            if time.monotonic() - since < _FRESH_SECONDS:
                return reader, writer
            writer.close()
        return await asyncio.open_connection(self._host, self._port)

    async def close(self) -> None:
        """Let go of all connections."""
        self._ended = True
        for _, _, writer in self._idle:
            writer.close()
            await writer.wait_closed()
        self._idle.clear()
        await super().close()


def _message(answer: Answer) -> str:
    return answer.get("message") or answer.get("Message") or ""


def _read(content: bytes) -> Answer:
    if any(word in content for word in (b'"B"', b'"BS"', _MOMENT.encode())):
        return json.loads(content, object_hook=_typed)
    return msgspec.json.decode(content)


def _typed(found: dict[str, Any]) -> dict[str, Any]:
    """Bytes travel as text, and moments as numbers. An attribute that is called so has a type around its value."""
    match found:
        case {"B": str(text)}:
            return {"B": base64.b64decode(text)}
        case {"BS": [*texts]}:
            return {"BS": [base64.b64decode(text) for text in cast("list[str]", texts)]}
        case {"ApproximateCreationDateTime": int() | float() as seconds}:
            return found | {_MOMENT: datetime.fromtimestamp(seconds, UTC)}
        case _:
            return found
