"""The shards of a stream, and which stream a table has."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from zataku.table.backend.errors import BadInput, SchemaRefused, TableError
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.streams.positions import label_of

# More pages than any stream has: the paging of a service that never ends must not hang a reader.
_MOST_PAGES = 1000


class Shard(Struct, frozen=True):
    """A part of a stream. Its parent holds the earlier changes of the same items."""

    name: str
    parent: str | None = None


ShardMap = Mapping[str, Shard]


async def latest_stream(client: Client, table: TableSchema) -> str:
    """The stream that the table writes to, or wrote to last."""
    answer = await client.call("DescribeTable", TableName=table.name)
    arn = answer["Table"].get("LatestStreamArn")
    if not arn:
        raise BadInput(f"{table.name} has no stream. Open the store with a design that declares `stream=`.")
    return arn


async def later_streams(client: Client, table: TableSchema, arn: str) -> list[str]:
    """The streams that the table had after this one, in the order in which they were made."""
    listed: list[str] = []
    start: dict[str, Any] = {}
    for _ in range(_MOST_PAGES):
        answer = await client.call("ListStreams", service="dynamodbstreams", TableName=table.name, **start)
        listed += [stream["StreamArn"] for stream in answer["Streams"]]
        if not answer.get("LastEvaluatedStreamArn"):
            break
        start = {"ExclusiveStartStreamArn": answer["LastEvaluatedStreamArn"]}
    return sorted((other for other in listed if label_of(other) > label_of(arn)), key=label_of)


async def shards_of(client: Client, arn: str) -> ShardMap | None:
    """All shards of a stream; None when there is no such stream any more."""
    shards: dict[str, Shard] = {}
    start: dict[str, Any] = {}
    for _ in range(_MOST_PAGES):
        try:
            answer = await client.call("DescribeStream", service="dynamodbstreams", StreamArn=arn, **start)
        except SchemaRefused as refused:
            if not missing(refused):
                raise
            return None
        told = answer["StreamDescription"]
        # An implementation that keeps one stream a table describes it under any older name as well.
        if told.get("StreamLabel", label_of(arn)) != label_of(arn):
            return None
        for shard in told["Shards"]:
            shards[shard["ShardId"]] = Shard(shard["ShardId"], shard.get("ParentShardId"))
        if not told.get("LastEvaluatedShardId"):
            break
        start = {"ExclusiveStartShardId": told["LastEvaluatedShardId"]}
    return shards


def readable(shards: ShardMap, finished: Iterable[str], unfinished: Iterable[str]) -> list[str]:
    """The shards that may be read now: not finished, and their parents finished or trimmed away.

    `unfinished` are shards that were begun. One of them that is no longer described still comes before its children:
    the description may lag, and only the shard itself can say that it is gone.
    """
    done, begun = set(finished), set(unfinished)
    known = begun | shards.keys()

    def waits(name: str) -> bool:
        shard = shards.get(name)
        return shard is not None and shard.parent in known and shard.parent not in done

    return sorted(name for name in known - done if not waits(name))


def missing(problem: TableError) -> bool:
    """True when the service says that the thing itself is not there."""
    return problem.details.get("code") in ("ResourceNotFoundException", "TableNotFoundException")
