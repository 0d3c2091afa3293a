"""A DynamoDB Streams service for one table, whose shards split, end, expire and are trimmed when a test says so."""

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
    """An answer with an error code."""


class StreamService:
    """Answers as the documentation says. `gaps` is how many empty pages lie before the records of an iterator."""

    def __init__(self, page: int = 3, gaps: int = 0) -> None:
        self.page = page
        self.gaps = gaps
        self.streams: list[ScriptedStream] = []
        self.calls: Counter[str] = Counter()
        self.busy = 0
        self.told: dict[str, list[int]] = {}
        self._count = 0
        self._generation = 0
        self.enable()

    # What happens to the table

    @property
    def latest_stream(self) -> ScriptedStream:
        """The latest stream."""
        return self.streams[-1]

    @property
    def open_shards(self) -> list[Shard]:
        """The shards that are written to."""
        return [shard for shard in self.latest_stream.shards.values() if not shard.closed]

    def enable(self, shards: int = 1) -> None:
        """Switch a new stream on."""
        label = f"2026-01-01T00:00:{len(self.streams):02}.000"
        self.streams.append(ScriptedStream(f"{_ACCOUNT}/{TABLE}/stream/{label}"))
        step = _HASHES // shards
        for at in range(shards):
            self._grow(None, at * step, _HASHES if at == shards - 1 else (at + 1) * step)

    def disable(self) -> None:
        """Switch the stream off: its shards are closed and stay readable."""
        self.latest_stream.enabled = False
        for shard in self.latest_stream.shards.values():
            shard.closed = True

    def _grow(self, parent: str | None, low: int, high: int) -> Shard:
        self._count += 1
        name = f"shardId-{self._count:020}-{zlib.crc32(str(self._count).encode()):08x}"
        made = self.latest_stream.shards[name] = Shard(name, parent, low, high)
        return made

    def write(self, key: str, **record: Any) -> int:
        """Change the item of a key; gives the number of the change among those of the key."""
        number = len(self.told.setdefault(key, [])) + 1
        self.told[key].append(number)
        self._count += 1
        digest = zlib.crc32(key.encode())
        shard = next(it for it in self.open_shards if it.low <= digest < it.high)
        told = {
            "ApproximateCreationDateTime": 1_767_225_600 + self._count,
            "Keys": {"pk": {"S": key}},
            "NewImage": {"pk": {"S": key}, "n": {"N": str(number)}},
            "SequenceNumber": str(_FIRST_SEQUENCE + self._count),
        }
        kind = "INSERT" if number == 1 else "MODIFY"
        shard.records.append({"eventName": kind, "eventID": str(self._count), "dynamodb": told} | record)
        return number

    def split(self, shard: Shard, parts: int = 2) -> None:
        """Close a shard; its keys go on in others. With one part it is rolled over, as happens every few hours."""
        shard.closed = True
        middle = (shard.low + shard.high) // 2
        bounds = [(shard.low, shard.high)] if parts == 1 else [(shard.low, middle), (middle, shard.high)]
        for low, high in bounds:
            self._grow(shard.name, low, high)

    def trim(self, shard: Shard, records: int) -> None:
        """Take away the oldest records of a shard, and the shard itself when it is closed and empty."""
        shard.trimmed = min(len(shard.records), shard.trimmed + records)
        if shard.closed and shard.trimmed == len(shard.records):
            for line in self.streams:
                line.shards.pop(shard.name, None)

    def expire_iterators(self) -> None:
        """No iterator that was handed out is good any more."""
        self._generation += 1

    # What the service answers

    def answer(self, operation: str, asked: dict[str, Any]) -> dict[str, Any]:
        """One call."""
        self.calls[operation] += 1
        match operation:
            case "DescribeTable":
                return {
                    "Table": {"TableName": TABLE, "TableStatus": "ACTIVE", "LatestStreamArn": self.latest_stream.arn}
                }
            case "ListStreams":
                return {"Streams": [{"StreamArn": it.arn, "TableName": TABLE} for it in reversed(self.streams)]}
            case "DescribeStream":
                return self._describe(asked)
            case "GetShardIterator":
                return self._iterator(asked)
            case "GetRecords":
                return self._records(asked)
            case _:
                raise ErrorResponse("UnknownOperationException")

    def _line(self, arn: str) -> ScriptedStream:
        for line in self.streams:
            if line.arn == arn:
                return line
        raise ErrorResponse("ResourceNotFoundException")

    def _describe(self, asked: dict[str, Any]) -> dict[str, Any]:
        line = self._line(asked["StreamArn"])
        names = sorted(name for name in line.shards if name > asked.get("ExclusiveStartShardId", ""))
        page = names[:2]
        shards = [
            {"ShardId": it.name, "SequenceNumberRange": {}} | ({"ParentShardId": it.parent} if it.parent else {})
            for it in (line.shards[name] for name in page)
        ]
        told = {
            "StreamArn": line.arn,
            "StreamLabel": line.arn.rpartition("/")[2],
            "StreamStatus": "ENABLED" if line.enabled else "DISABLED",
            "Shards": shards,
        }
        if len(names) > len(page):
            told["LastEvaluatedShardId"] = page[-1]
        return {"StreamDescription": told}

    def _iterator(self, asked: dict[str, Any]) -> dict[str, Any]:
        shard = self._line(asked["StreamArn"]).shards.get(asked["ShardId"])
        if shard is None:
            raise ErrorResponse("ResourceNotFoundException")
        at = shard.trimmed
        if asked["ShardIteratorType"] == "AFTER_SEQUENCE_NUMBER":
            numbers = [it["dynamodb"]["SequenceNumber"] for it in shard.records]
            at = numbers.index(asked["SequenceNumber"]) + 1
            if at <= shard.trimmed:
                raise ErrorResponse("TrimmedDataAccessException")
        return {"ShardIterator": self._written(asked["StreamArn"], shard.name, at, self.gaps)}

    def _written(self, arn: str, shard: str, at: int, gaps: int) -> str:
        return json.dumps([arn, shard, at, gaps, self._generation])

    def _records(self, asked: dict[str, Any]) -> dict[str, Any]:
        if self.busy:
            self.busy -= 1
            raise ErrorResponse("LimitExceededException")
        arn, name, at, gaps, generation = json.loads(asked["ShardIterator"])
        if generation != self._generation:
            raise ErrorResponse("ExpiredIteratorException")
        shard = self._line(arn).shards.get(name)
        if shard is None:
            raise ErrorResponse("ResourceNotFoundException")
        if at < shard.trimmed:
            raise ErrorResponse("TrimmedDataAccessException")
        if gaps:
            return {"Records": [], "NextShardIterator": self._written(arn, name, at, gaps - 1)}
        found = shard.records[at : at + min(asked["Limit"], self.page)]
        at += len(found)
        if shard.closed and at == len(shard.records):
            return {"Records": found}
        return {"Records": found, "NextShardIterator": self._written(arn, name, at, self.gaps if found else 0)}


class Answering(Protocol):
    """Whatever answers calls."""

    def answer(self, operation: str, asked: dict[str, Any]) -> dict[str, Any]:
        """One call; raises `ErrorResponse`."""
        ...


@asynccontextmanager
async def served(service: Answering) -> AsyncIterator[str]:
    """Serve it on loopback; gives the endpoint."""

    async def handle(request: web.Request) -> web.Response:
        operation = request.headers["X-Amz-Target"].rpartition(".")[2]
        try:
            answer, status = service.answer(operation, await request.json()), 200
        except ErrorResponse as refused:
            answer, status = {"__type": f"com.amazonaws.dynamodb.v20120810#{refused}", "message": str(refused)}, 400
        return web.json_response(answer, status=status, content_type="application/x-amz-json-1.0")

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
