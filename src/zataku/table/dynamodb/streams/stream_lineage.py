"""Lineage of a table's streams: a stream ends when it is switched off, and a consumer continues with the next one."""

from contextlib import suppress

import structlog

from zataku.clock import has_passed
from zataku.table.backend.errors import ConditionFailed, ResultUnknown, TableError
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.streams.lease_assignment import LeaseMonitor
from zataku.table.dynamodb.streams.leases import Lease, LeaseTable, StreamWorker
from zataku.table.dynamodb.streams.records import stream_label
from zataku.table.dynamodb.streams.shards import ShardMap, is_missing, later_streams, latest_stream, list_shards

# The service allows ten descriptions a second for a whole account. New shards follow the end of old ones, which the
# reader notices at once; this is for shards that other workers finish.
_REFRESH_SECONDS = 10
_CONSUMER = "consumer"

log = structlog.stdlib.get_logger()


class StreamLineage:
    """The stream that a consumer reads now, its shards and leases. Stored, so that all workers agree."""

    def __init__(self, worker: StreamWorker, table: TableSchema, consumer: str) -> None:
        self.shards: ShardMap = {}
        self._worker = worker
        self._client = worker.client
        self._metadata = worker.metadata
        self._clock = worker.clock
        self._table = table
        # A table's name holds no "#", so that different pairs of names never share a partition.
        self._partition = f"stream#{table.name}#{consumer}"
        self._refreshed_at: float | None = None
        self._enter("")

    def _enter(self, arn: str) -> None:
        self.arn = arn
        self.leases = LeaseTable(self._metadata, self._partition, stream_label(arn), self._worker.name)
        self.monitor = LeaseMonitor(self._clock, self._worker.lease_seconds)

    @property
    def is_stale(self) -> bool:
        """True when the shards should be described again."""
        return self._refreshed_at is None or has_passed(self._refreshed_at, self._clock.now(), _REFRESH_SECONDS)

    def mark_stale(self) -> None:
        """Have the shards read again: they are known to have changed."""
        self._refreshed_at = None

    async def refresh(self) -> bool:
        """Read the stream and its shards; True when the consumer has reached another stream."""
        before = self.arn
        latest = await latest_stream(self._client, self._table)
        while True:
            arn = await self._current_stream(latest)
            if arn != self.arn:
                self._enter(arn)
            shards = await list_shards(self._client, arn)
            if arn == latest or (shards is not None and await self._has_unfinished(shards)):
                break
            await self._advance(latest, is_gone=shards is None)
        self.shards = shards or {}
        self._refreshed_at = self._clock.now()
        return self.arn != before

    async def _current_stream(self, latest: str) -> str:
        """The consumer's stream; a new consumer begins with the latest one."""
        stored = await self._metadata.item(self._partition, _CONSUMER)
        if stored is None:
            with suppress(ResultUnknown):
                await self._metadata.put_new(self._partition, _CONSUMER, {"stream": latest})
            stored = await self._metadata.item(self._partition, _CONSUMER)
        return str(stored["stream"]) if stored is not None else latest

    async def _has_unfinished(self, shards: ShardMap) -> bool:
        leases = await self.leases.read_all()
        names = shards.keys() | leases.keys()
        return any(name not in leases or not leases[name].finished for name in names)

    async def _advance(self, latest: str, *, is_gone: bool) -> None:
        """Move the consumer to the next stream of the table."""
        if is_gone:
            log.warning("stream_gone", stream=self.arn)
        following = next(iter(await later_streams(self._client, self._table, self.arn)), latest)
        try:
            await self._metadata.update(
                self._partition,
                _CONSUMER,
                "SET #stream = :stream",
                {"stream": following, "former": self.arn},
                condition="#stream = :former",
            )
        except ConditionFailed:
            # Another worker has moved the consumer already.
            return
        for shard in await self.leases.read_all():
            await self.leases.remove(shard)

    async def read_leases(self) -> dict[str, Lease]:
        """The leases as they are now, without those of shards that the service has trimmed."""
        leases = await self.leases.read_all()
        for shard, lease in list(leases.items()):
            if lease.finished and shard not in self.shards and await self._is_trimmed(shard):
                await self.leases.remove(shard)
                del leases[shard]
        self.monitor.observe(leases)
        return leases

    async def _is_trimmed(self, shard: str) -> bool:
        # The description may lag. Without its lease, a shard that still exists would be read again.
        try:
            await self._client.call(
                "GetShardIterator",
                service="dynamodbstreams",
                StreamArn=self.arn,
                ShardId=shard,
                ShardIteratorType="TRIM_HORIZON",
            )
        except TableError as problem:
            if is_missing(problem):
                return True
            raise
        return False

    async def erase(self) -> None:
        """Delete everything that is stored for the consumer."""
        for item in await self._metadata.items(self._partition):
            await self._metadata.delete(self._partition, str(item["sk"]))
        self._enter("")
        self.mark_stale()
