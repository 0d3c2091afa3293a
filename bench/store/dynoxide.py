"""dynoxide with a file, called by a minimal client: prepared bytes on keep-alive sockets, unparsed responses."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from bench.server_process import free_port
from bench.store.cases import CaseName, Edit, Pair, Run
from bench.store.pinboard import BATCH, PAGE, Note

PROGRAM = Path(__file__).parents[2] / "peers/node_modules/@dynoxide/linux-x64/dynoxide"
TABLE = "Pinboard"
_OPERATIONS: dict[CaseName, str] = {
    "put": "PutItem",
    "update": "UpdateItem",
    "transaction": "TransactWriteItems",
    "batch write": "BatchWriteItem",
    "get": "GetItem",
    "query": "Query",
    "index query": "Query",
    "batch get": "BatchGetItem",
}
_START_SECONDS = 10
_HEAD_END = b"\r\n\r\n"
_LENGTH = b"content-length: "


def version() -> str:
    """The name and version of the program."""
    return subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.strip()


class Connection(asyncio.Protocol):
    """A connection that sends the next request as soon as the last response is complete, without a task per call."""

    def __init__(self, requests: Iterator[bytes], deadline: float) -> None:
        self._requests = requests
        self._deadline = deadline
        self._received = b""
        self.completed = 0
        self.last = b""
        self.finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def start(self) -> None:
        """Send the first request."""
        self._next()

    def _next(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self.finished.set_result(None)
        else:
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        received = self._received = self._received + data if self._received else data
        head = received.find(_HEAD_END)
        if head < 0:
            return
        at = received.find(_LENGTH) + len(_LENGTH)
        if len(received) < head + len(_HEAD_END) + int(received[at : received.index(b"\r", at)]):
            return
        if not received.startswith(b"HTTP/1.1 200"):
            self.finished.set_exception(RuntimeError(received.decode(errors="replace")))
            return
        self._received, self.last = b"", received
        self.completed += 1
        if perf_counter() > self._deadline:
            self.finished.set_result(None)
        else:
            self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.finished.done():
            self.finished.set_exception(exc or ConnectionError("dynoxide closed the connection."))

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()


class Dynoxide:
    """The unmodified server on loopback, in its own process."""

    name = "dynoxide"

    def __init__(self, folder: Path, *, stream: bool = False) -> None:
        self._path = folder / "dynoxide.db"
        self._stream = stream
        self._server: asyncio.subprocess.Process | None = None

    async def open(self) -> None:
        if not PROGRAM.exists():
            raise FileNotFoundError(f"{PROGRAM} is missing. Run `make peers`.")
        self._port = free_port()
        self._server = await asyncio.create_subprocess_exec(
            *(str(PROGRAM), "serve", "--host", "127.0.0.1", "--port", str(self._port), "--db-path", str(self._path)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            await self._wait_until_listening()
            await self._call("CreateTable", _table(self._stream))
        except BaseException:
            await self.close()
            raise

    async def _wait_until_listening(self) -> None:
        deadline = perf_counter() + _START_SECONDS
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except OSError:
                if perf_counter() > deadline:
                    raise
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return

    async def load(self, notes: list[Note]) -> None:
        parts = [notes[at : at + BATCH] for at in range(0, len(notes), BATCH)]
        await self.prepare("batch write", parts)(4, float("inf"))

    async def page_of(self, board: str) -> list[str]:
        response = await self._call("Query", _body("query", board))
        return [item["body"]["S"] for item in response["Items"]]

    def prepare(self, case: CaseName, work: list[Any]) -> Run:
        requests = [self._request(_OPERATIONS[case], _body(case, call_input)) for call_input in work]

        async def run(callers: int, deadline: float) -> int:
            connections = await self._send_all(requests, callers, deadline)
            return sum(connection.completed for connection in connections)

        return run

    async def _send_all(self, requests: list[bytes], callers: int, deadline: float) -> list[Connection]:
        remaining = iter(requests)
        loop = asyncio.get_running_loop()
        connections: list[Connection] = []
        try:
            for _ in range(callers):
                _, connection = await loop.create_connection(
                    lambda: Connection(remaining, deadline), "127.0.0.1", self._port
                )
                connections.append(connection)
            for connection in connections:
                connection.start()
            await asyncio.gather(*(connection.finished for connection in connections))
        finally:
            for connection in connections:
                connection.close()
        return connections

    async def _call(self, operation: str, body: dict[str, Any]) -> dict[str, Any]:
        (connection,) = await self._send_all([self._request(operation, body)], 1, float("inf"))
        return json.loads(connection.last.partition(_HEAD_END)[2])

    def _request(self, operation: str, body: dict[str, Any]) -> bytes:
        content = json.dumps(body, separators=(",", ":")).encode()
        # The server requires a signature and does not check it.
        head = (
            f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n"
            "Content-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20250101T000000Z\r\n"
            "Authorization: AWS4-HMAC-SHA256 Credential=bench/20250101/us-east-1/dynamodb/aws4_request, "
            "SignedHeaders=host, Signature=0\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        return head.encode() + content

    async def close(self) -> None:
        if self._server is not None:
            self._server.terminate()
            await self._server.wait()


def _table(stream: bool) -> dict[str, Any]:
    def keys(pk: str, sk: str) -> list[dict[str, str]]:
        return [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]

    names = ("PK", "SK", "GSI1PK", "GSI1SK")
    parameters: dict[str, Any] = {
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": keys("PK", "SK"),
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
        "GlobalSecondaryIndexes": [
            {"IndexName": "GSI1", "KeySchema": keys("GSI1PK", "GSI1SK"), "Projection": {"ProjectionType": "ALL"}}
        ],
    }
    if stream:
        parameters["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    return parameters


def _key(board: str, number: int) -> dict[str, Any]:
    return {"PK": {"S": f"BOARD#{board}"}, "SK": {"S": f"NOTE#{number:08d}"}}


def _item(note: Note) -> dict[str, Any]:
    return {
        **_key(note.board, note.number),
        "GSI1PK": {"S": f"AUTHOR#{note.author}"},
        "GSI1SK": {"S": f"{note.board}#{note.number:08d}"},
        "type": {"S": "NOTE"},
        "board": {"S": note.board},
        "number": {"N": str(note.number)},
        "author": {"S": note.author},
        "status": {"S": note.status},
        "likes": {"N": str(note.likes)},
        "created": {"N": str(note.created)},
        "body": {"S": note.body},
    }


def _body(case: CaseName, work: Any) -> dict[str, Any]:
    if isinstance(work, Note):
        return {"TableName": TABLE, "Item": _item(work)}
    if isinstance(work, Edit):
        return _update(work)
    if isinstance(work, Pair):
        return {"TransactItems": [{"Put": _put_if_absent(work.note)}, {"Update": _like(work.board, work.number)}]}
    if case == "query":
        return _query("PK = :p AND begins_with(SK, :s)", {":p": f"BOARD#{work}", ":s": "NOTE#"})
    if case == "index query":
        return {"IndexName": "GSI1", **_query("GSI1PK = :p", {":p": f"AUTHOR#{work}"})}
    if case == "get":
        return {"TableName": TABLE, "Key": _key(*work)}
    if case == "batch get":
        return {"RequestItems": {TABLE: {"Keys": [_key(*key) for key in work]}}}
    return {"RequestItems": {TABLE: [{"PutRequest": {"Item": _item(note)}} for note in work]}}


def _update(edit: Edit) -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "Key": _key(edit.board, edit.number),
        "UpdateExpression": "SET #b = :b",
        "ConditionExpression": "attribute_exists(PK) AND #s = :s",
        "ExpressionAttributeNames": {"#b": "body", "#s": "status"},
        "ExpressionAttributeValues": {":b": {"S": edit.body}, ":s": {"S": "open"}},
        "ReturnValues": "ALL_NEW",
    }


def _put_if_absent(note: Note) -> dict[str, Any]:
    return {"TableName": TABLE, "Item": _item(note), "ConditionExpression": "attribute_not_exists(PK)"}


def _like(board: str, number: int) -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "Key": _key(board, number),
        "UpdateExpression": "ADD likes :one",
        "ConditionExpression": "attribute_exists(PK)",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }


def _query(condition: str, values: dict[str, str]) -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "Limit": PAGE,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": {name: {"S": value} for name, value in values.items()},
    }
