"""Which stream of a table a consumer is in: streams end when they are switched off, and others follow."""

from contextlib import suppress

import structlog

from zataku.table.backend.errors import ConditionFailed, ResultUnknown, TableError
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.streams.lease_assignment import Watch
from zataku.table.dynamodb.streams.leases import Desk, Lease
from zataku.table.dynamodb.streams.owner import Owner
from zataku.table.dynamodb.streams.positions import label_of
from zataku.table.dynamodb.streams.shards import ShardMap, later_streams, latest_stream, missing, shards_of

# The service allows ten descriptions a second for a whole account. New shards follow the end of old ones, which the
# reader sees at once; this is for what others finish.
_CHART_SECONDS = 10
_CONSUMER = "consumer"

log = structlog.stdlib.get_logger()


class Course:
    """The stream that a consumer reads now, its shards and leases. Kept in the book, so that all processes agree."""

    def __init__(self, owner: Owner, table: TableSchema, consumer: str) -> None:
        self.shards: ShardMap = {}
        self._owner = owner
        self._client = owner.client
        self._book = owner.book
        self._clock = owner.clock
        self._table = table
        # A table's name holds no "#", so that no two pairs of names meet in one partition.
        self._partition = f"stream#{table.name}#{consumer}"
        self._asked_at: float | None = None
        self._enter("")

    def _enter(self, arn: str) -> None:
        self.arn = arn
        self.desk = Desk(self._book, self._partition, label_of(arn), self._owner.name)
        self.watch = Watch(self._clock, self._owner.lease_seconds)

    @property
    def due(self) -> bool:
        """True when the service should be asked for the shards again."""
        return self._asked_at is None or self._clock.now() - self._asked_at >= _CHART_SECONDS

    def ask_again(self) -> None:
        """The shards are known to have changed."""
        self._asked_at = None

    async def chart(self) -> bool:
        """Ask for the stream and its shards; True when the consumer has come to another stream."""
        before = self.arn
        latest = await latest_stream(self._client, self._table)
        while True:
            arn = await self._kept(latest)
            if arn != self.arn:
                self._enter(arn)
            shards = await shards_of(self._client, arn)
            if arn == latest or (shards is not None and await self._unfinished(shards)):
                break
            await self._move_on(latest, gone=shards is None)
        self.shards = shards or {}
        self._asked_at = self._clock.now()
        return self.arn != before

    async def _kept(self, latest: str) -> str:
        """The consumer's stream; a new consumer begins with the latest one."""
        kept = await self._book.item(self._partition, _CONSUMER)
        if kept is None:
            with suppress(ResultUnknown):
                await self._book.put_new(self._partition, _CONSUMER, {"stream": latest})
            kept = await self._book.item(self._partition, _CONSUMER)
        return str(kept["stream"]) if kept is not None else latest

    async def _unfinished(self, shards: ShardMap) -> bool:
        leases = await self.desk.leases()
        known = shards.keys() | leases.keys()
        return any(name not in leases or not leases[name].finished for name in known)

    async def _move_on(self, latest: str, *, gone: bool) -> None:
        if gone:
            log.warning("a stream is gone, maybe before its end was read", stream=self.arn)
        following = next(iter(await later_streams(self._client, self._table, self.arn)), latest)
        try:
            await self._book.update(
                self._partition,
                _CONSUMER,
                "SET #stream = :stream",
                {"stream": following, "former": self.arn},
                when="#stream = :former",
            )
        except ConditionFailed:
            # Another process has moved the consumer on already.
            return
        for shard in await self.desk.leases():
            await self.desk.remove(shard)

    async def look(self) -> dict[str, Lease]:
        """The leases as they are now, without those of shards that the service has trimmed away."""
        leases = await self.desk.leases()
        for shard, lease in list(leases.items()):
            if lease.finished and shard not in self.shards and await self._trimmed(shard):
                await self.desk.remove(shard)
                del leases[shard]
        self.watch.look(leases)
        return leases

    async def _trimmed(self, shard: str) -> bool:
        # The description may lag. Forgetting a shard that is still there would be reading it again.
        try:
            await self._client.call(
                "GetShardIterator",
                service="dynamodbstreams",
                StreamArn=self.arn,
                ShardId=shard,
                ShardIteratorType="TRIM_HORIZON",
            )
        except TableError as problem:
            if missing(problem):
                return True
            raise
        return False

    async def erase(self) -> None:
        """Take away all that the book holds of the consumer."""
        for item in await self._book.items(self._partition):
            await self._book.delete(self._partition, str(item["sk"]))
        self._enter("")
        self.ask_again()
