"""A DynamoDB Streams service for one table whose shards split, close and are trimmed as a test commands."""

import json
import zlib
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from aiohttp import web
from msgspec import Struct, field

TABLE = "ScriptedTable"
_HASHES = 1 << 32
_FIRST_SEQUENCE = 10**20
_ACCOUNT = "arn:aws:dynamodb:us-east-1:000000000000:table"


class Shard(Struct):
    """The changes of the keys whose hash is between two bounds. `trimmed` counts records deleted at the start."""

    name: str
    parent: str | None
    low: int
    high: int
    records: list[dict[str, Any]] = field(default_factory=list)
    trimmed: int = 0
    closed: bool = False


class ScriptedStream(Struct):
    """One of the streams that the table has had."""

    arn: str
    shards: dict[str, Shard] = field(default_factory=dict)
    enabled: bool = True


class ErrorResponse(Exception):
    """A response with an error code."""


class StreamService:
    """A service that responds as AWS documents. `gaps` is the number of empty pages before the records of an iterator.

    `written` holds the numbers of the changes by key; `throttled_reads` is how many calls of GetRecords fail next.
    """

    def __init__(self, page: int = 3, gaps: int = 0) -> None:
        self.page = page
        self.gaps = gaps
        self.streams: list[ScriptedStream] = []
        self.calls: Counter[str] = Counter()
        self.throttled_reads = 0
        self.written: dict[str, list[int]] = {}
        self._count = 0
        self._generation = 0
        self.enable()

    @property
    def latest_stream(self) -> ScriptedStream:
        """The stream that is enabled, or was last."""
        return self.streams[-1]

    @property
    def open_shards(self) -> list[Shard]:
        """The shards of the latest stream that are not closed."""
        return [shard for shard in self.latest_stream.shards.values() if not shard.closed]

    def enable(self, shards: int = 1) -> None:
        """Enable a new stream."""
        label = f"2026-01-01T00:00:{len(self.streams):02}.000"
        self.streams.append(ScriptedStream(f"{_ACCOUNT}/{TABLE}/stream/{label}"))
        step = _HASHES // shards
        for at in range(shards):
            self._add_shard(None, at * step, _HASHES if at == shards - 1 else (at + 1) * step)

    def disable(self) -> None:
        """Disable the stream: its shards are closed and stay readable."""
        self.latest_stream.enabled = False
        for shard in self.latest_stream.shards.values():
            shard.closed = True

    def _add_shard(self, parent: str | None, low: int, high: int) -> Shard:
        self._count += 1
        name = f"shardId-{self._count:020}-{zlib.crc32(str(self._count).encode()):08x}"
        shard = self.latest_stream.shards[name] = Shard(name, parent, low, high)
        return shard

    def write(self, key: str, **record: Any) -> int:
        """Change the item of a key; returns the number of the change, counted for each key."""
        number = len(self.written.setdefault(key, [])) + 1
        self.written[key].append(number)
        self._count += 1
        digest = zlib.crc32(key.encode())
        shard = next(shard for shard in self.open_shards if shard.low <= digest < shard.high)
        details = {
            "ApproximateCreationDateTime": 1_767_225_600 + self._count,
            "Keys": {"pk": {"S": key}},
            "NewImage": {"pk": {"S": key}, "n": {"N": str(number)}},
            "SequenceNumber": str(_FIRST_SEQUENCE + self._count),
        }
        kind = "INSERT" if number == 1 else "MODIFY"
        shard.records.append({"eventName": kind, "eventID": str(self._count), "dynamodb": details} | record)
        return number

    def split(self, shard: Shard, parts: int = 2) -> None:
        """Close a shard and move its keys to children. One part is a rollover, as AWS does every few hours."""
        shard.closed = True
        middle = (shard.low + shard.high) // 2
        bounds = [(shard.low, shard.high)] if parts == 1 else [(shard.low, middle), (middle, shard.high)]
        for low, high in bounds:
            self._add_shard(shard.name, low, high)

    def trim(self, shard: Shard, records: int) -> None:
        """Delete the oldest records of a shard, and the shard itself when it is closed and empty."""
        shard.trimmed = min(len(shard.records), shard.trimmed + records)
        if shard.closed and shard.trimmed == len(shard.records):
            for stream in self.streams:
                stream.shards.pop(shard.name, None)

    def expire_iterators(self) -> None:
        """Expire every iterator issued so far."""
        self._generation += 1

    def respond(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Answer one call."""
        self.calls[operation] += 1
        match operation:
            case "DescribeTable":
                return {
                    "Table": {"TableName": TABLE, "TableStatus": "ACTIVE", "LatestStreamArn": self.latest_stream.arn}
                }
            case "ListStreams":
                return {"Streams": [{"StreamArn": stream.arn, "TableName": TABLE} for stream in reversed(self.streams)]}
            case "DescribeStream":
                return self._describe(parameters)
            case "GetShardIterator":
                return self._iterator(parameters)
            case "GetRecords":
                return self._records(parameters)
            case _:
                raise ErrorResponse("UnknownOperationException")

    def _stream(self, arn: str) -> ScriptedStream:
        for stream in self.streams:
            if stream.arn == arn:
                return stream
        raise ErrorResponse("ResourceNotFoundException")

    def _describe(self, parameters: dict[str, Any]) -> dict[str, Any]:
        stream = self._stream(parameters["StreamArn"])
        names = sorted(name for name in stream.shards if name > parameters.get("ExclusiveStartShardId", ""))
        page = names[:2]
        shards = [
            {"ShardId": shard.name, "SequenceNumberRange": {}}
            | ({"ParentShardId": shard.parent} if shard.parent else {})
            for shard in (stream.shards[name] for name in page)
        ]
        description = {
            "StreamArn": stream.arn,
            "StreamLabel": stream.arn.rpartition("/")[2],
            "StreamStatus": "ENABLED" if stream.enabled else "DISABLED",
            "Shards": shards,
        }
        if len(names) > len(page):
            description["LastEvaluatedShardId"] = page[-1]
        return {"StreamDescription": description}

    def _iterator(self, parameters: dict[str, Any]) -> dict[str, Any]:
        shard = self._stream(parameters["StreamArn"]).shards.get(parameters["ShardId"])
        if shard is None:
            raise ErrorResponse("ResourceNotFoundException")
        at = shard.trimmed
        if parameters["ShardIteratorType"] == "AFTER_SEQUENCE_NUMBER":
            numbers = [record["dynamodb"]["SequenceNumber"] for record in shard.records]
            at = numbers.index(parameters["SequenceNumber"]) + 1
            if at <= shard.trimmed:
                raise ErrorResponse("TrimmedDataAccessException")
        return {"ShardIterator": self._encode_iterator(parameters["StreamArn"], shard.name, at, self.gaps)}

    def _encode_iterator(self, arn: str, shard: str, at: int, gaps: int) -> str:
        return json.dumps([arn, shard, at, gaps, self._generation])

    def _records(self, parameters: dict[str, Any]) -> dict[str, Any]:
        if self.throttled_reads:
            self.throttled_reads -= 1
            raise ErrorResponse("LimitExceededException")
        arn, name, at, gaps, generation = json.loads(parameters["ShardIterator"])
        if generation != self._generation:
            raise ErrorResponse("ExpiredIteratorException")
        shard = self._stream(arn).shards.get(name)
        if shard is None:
            raise ErrorResponse("ResourceNotFoundException")
        if at < shard.trimmed:
            raise ErrorResponse("TrimmedDataAccessException")
        if gaps:
            return {"Records": [], "NextShardIterator": self._encode_iterator(arn, name, at, gaps - 1)}
        page = shard.records[at : at + min(parameters["Limit"], self.page)]
        at += len(page)
        if shard.closed and at == len(shard.records):
            return {"Records": page}
        return {"Records": page, "NextShardIterator": self._encode_iterator(arn, name, at, self.gaps if page else 0)}


class Service(Protocol):
    """A service that responds to DynamoDB calls."""

    def respond(self, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Answer one call; raises `ErrorResponse`."""
        ...


@asynccontextmanager
async def served(service: Service) -> AsyncIterator[str]:
    """Serve the service on loopback; yields its endpoint."""

    async def handle(request: web.Request) -> web.Response:
        operation = request.headers["X-Amz-Target"].rpartition(".")[2]
        try:
            body, status = service.respond(operation, await request.json()), 200
        except ErrorResponse as error:
            body, status = {"__type": f"com.amazonaws.dynamodb.v20120810#{error}", "message": str(error)}, 400
        return web.json_response(body, status=status, content_type="application/x-amz-json-1.0")

    application = web.Application()
    application.router.add_post("/", handle)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
