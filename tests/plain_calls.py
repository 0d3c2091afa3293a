"""Calls of DynamoDB as bare HTTP, for tests that ask much of a server and nothing of botocore.

botocore takes ten times as long for a call as the server does. What it does to a call is tested where the store itself
is (tests/contract, tests/dynamodb); the tests of systems ask what a foreign DynamoDB makes of their designs.
"""

import asyncio
import base64
import json
from asyncio import StreamReader, StreamWriter
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
    b"X-Amz-Target: DynamoDB_20120810.%s\r\nContent-Length: %d\r\n\r\n"
)
_CHANGING = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


class PlainClient(Client):
    """A client whose calls of items and tables go straight to the server; those of streams go as everywhere."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        place = urlsplit(endpoint)
        self._host, self._port = place.hostname, place.port
        # One call at a time on each; as many as there are calls under way.
        self._idle: list[tuple[StreamReader, StreamWriter]] = []
        self._ended = False

    async def call(self, operation: str, *, service: Service = "dynamodb", **parameters: Any) -> Answer:
        """One call; raises what a call through botocore raises."""
        if service != "dynamodb":
            return await super().call(operation, service=service, **parameters)
        status, answer = await self._exchange(operation, msgspec.json.encode(parameters))
        if status == 200:
            return answer
        told = {"Code": answer.get("__type", "").rpartition("#")[2], "Message": _message(answer)}
        response = answer | {"Error": told, "ResponseMetadata": {"HTTPStatusCode": status}}
        raise refusal(operation, response, changing=operation in _CHANGING)

    async def _exchange(self, operation: str, body: bytes) -> tuple[int, Answer]:
        if self._ended:
            raise StoreClosed("The store is closed. Open it first.")
        reader, writer = self._idle.pop() if self._idle else await asyncio.open_connection(self._host, self._port)
        try:
            writer.write(_HEADERS % (operation.encode(), len(body)) + body)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            status, length = int(head.split(b" ", 2)[1]), head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]
            content = await reader.readexactly(int(length))
        except BaseException:
            # An answer may still be on its way to somebody who has gone.
            writer.close()
            raise
        self._idle.append((reader, writer))
        return status, _read(content)

    async def close(self) -> None:
        """Let go of all connections."""
        self._ended = True
        for _, writer in self._idle:
            writer.close()
            await writer.wait_closed()
        self._idle.clear()
        await super().close()


def _message(answer: Answer) -> str:
    return answer.get("message") or answer.get("Message") or ""


def _read(content: bytes) -> Answer:
    if b'"B"' in content or b'"BS"' in content:
        return json.loads(content, object_hook=_binary)
    return msgspec.json.decode(content)


def _binary(found: dict[str, Any]) -> dict[str, Any]:
    """Bytes travel as text. An attribute that is called so has a type around its value, and is left as it is."""
    match found:
        case {"B": str(text)}:
            return {"B": base64.b64decode(text)}
        case {"BS": [*texts]}:
            return {"BS": [base64.b64decode(text) for text in cast("list[str]", texts)]}
        case _:
            return found
