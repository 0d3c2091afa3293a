"""Streams of a table and their shards."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from zataku.table.backend.errors import BadInput, SchemaRefused, TableError
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.streams.records import stream_label

# More pages than any stream has: a service whose paging never ends must not hang a reader.
_MAX_PAGES = 1000


class Shard(Struct, frozen=True):
    """A part of a stream. Its parent holds the earlier changes of the same items."""

    name: str
    parent: str | None = None


ShardMap = Mapping[str, Shard]


async def latest_stream(client: Client, table: TableSchema) -> str:
    """The stream that the table writes to, or wrote to last."""
    response = await client.call("DescribeTable", TableName=table.name)
    arn = response["Table"].get("LatestStreamArn")
    if not arn:
        raise BadInput(f"{table.name} has no stream. Open the store with a design that declares `stream=`.")
    return arn


async def later_streams(client: Client, table: TableSchema, arn: str) -> list[str]:
    """The streams that the table had after this one, oldest first."""
    listed: list[str] = []
    start: dict[str, Any] = {}
    for _ in range(_MAX_PAGES):
        response = await client.call("ListStreams", service="dynamodbstreams", TableName=table.name, **start)
        listed += [description["StreamArn"] for description in response["Streams"]]
        if not response.get("LastEvaluatedStreamArn"):
            break
        start = {"ExclusiveStartStreamArn": response["LastEvaluatedStreamArn"]}
    return sorted((stream for stream in listed if stream_label(stream) > stream_label(arn)), key=stream_label)


async def list_shards(client: Client, arn: str) -> ShardMap | None:
    """All shards of a stream; None when the stream no longer exists."""
    shards: dict[str, Shard] = {}
    start: dict[str, Any] = {}
    for _ in range(_MAX_PAGES):
        try:
            response = await client.call("DescribeStream", service="dynamodbstreams", StreamArn=arn, **start)
        except SchemaRefused as refused:
            if not is_missing(refused):
                raise
            return None
        description = response["StreamDescription"]
        # An implementation with one stream per table describes it under any older ARN as well.
        if description.get("StreamLabel", stream_label(arn)) != stream_label(arn):
            return None
        for shard in description["Shards"]:
            shards[shard["ShardId"]] = Shard(shard["ShardId"], shard.get("ParentShardId"))
        if not description.get("LastEvaluatedShardId"):
            break
        start = {"ExclusiveStartShardId": description["LastEvaluatedShardId"]}
    return shards


def readable_shards(shards: ShardMap, finished: Iterable[str], unfinished: Iterable[str]) -> list[str]:
    """The shards that may be read now: not finished, and their parents finished or trimmed.

    `unfinished` are shards with a lease. One of them that is no longer described still comes before its children: the
    description may lag, and only reading the shard itself shows that it is gone.
    """
    finished = set(finished)
    names = set(unfinished) | shards.keys()

    def has_open_parent(name: str) -> bool:
        shard = shards.get(name)
        return shard is not None and shard.parent in names and shard.parent not in finished

    return sorted(name for name in names - finished if not has_open_parent(name))


def is_missing(problem: TableError) -> bool:
    """True when the table, stream or shard itself does not exist."""
    return problem.details.get("code") in ("ResourceNotFoundException", "TableNotFoundException")
