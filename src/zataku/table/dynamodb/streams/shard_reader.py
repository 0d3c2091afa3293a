"""Reading one shard from where its consumer has come to."""

from collections.abc import Callable
from typing import Any

import structlog

from zataku.table.backend.errors import TableError
from zataku.table.backend.port import RawChange
from zataku.table.dynamodb.client import Answer, Client
from zataku.table.dynamodb.streams.positions import label_of
from zataku.table.dynamodb.streams.records import change_of, changes_nothing
from zataku.table.dynamodb.streams.shards import missing

# An empty page is not the end of a shard: so many in a row are read before the shard counts as quiet for now.
_EMPTY_PAGES = 4
_LARGEST_PAGE = 1000
# An iterator can expire or be trimmed away while it is being used, but hardly twice in a row.
_TRIES = 3

log = structlog.stdlib.get_logger()


class ShardReader:
    """The records of one shard, each handed out once.

    `ended` says that the shard is closed and wholly read. Only the service's missing next iterator says so: an ending
    sequence number may stand on an open shard.
    """

    def __init__(
        self, client: Client, arn: str, shard: str, after: str | None, give: Callable[[list[RawChange]], None]
    ) -> None:
        self.shard = shard
        self.ended = False
        self._client = client
        self._arn = arn
        self._after = after
        # Called as soon as a page is there, so that nothing is lost when the caller stops waiting.
        self._give = give
        self._iterator: str | None = None
        self._empty = 0

    async def more(self, limit: int) -> None:
        """Give the next changes, at most so many; none when the shard is quiet or at its end."""
        while not self.ended:
            records = await self._page(limit)
            if not records:
                self._empty += 1
                if self._empty >= _EMPTY_PAGES:
                    return
                continue
            self._empty = 0
            self._after = records[-1]["dynamodb"]["SequenceNumber"]
            label = label_of(self._arn)
            changes = [change_of(it, label, self.shard) for it in records if not changes_nothing(it)]
            if changes:
                self._give(changes)
                return

    async def _page(self, limit: int) -> list[dict[str, Any]]:
        for attempt in range(1, _TRIES + 1):
            try:
                answer = await self._read(limit)
            except TableError as problem:
                if missing(problem):
                    log.warning("a shard is gone before its end was read", stream=self._arn, shard=self.shard)
                    self.ended = True
                    return []
                if attempt == _TRIES or not self._can_go_on(problem):
                    raise
                continue
            self._iterator = answer.get("NextShardIterator")
            self.ended = self._iterator is None
            return answer["Records"]
        raise AssertionError

    async def _read(self, limit: int) -> Answer:
        if self._iterator is None:
            start: dict[str, str] = {"ShardIteratorType": "TRIM_HORIZON"}
            if self._after is not None:
                start = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": self._after}
            answer = await self._client.call(
                "GetShardIterator", service="dynamodbstreams", StreamArn=self._arn, ShardId=self.shard, **start
            )
            self._iterator = answer["ShardIterator"]
        return await self._client.call(
            "GetRecords", service="dynamodbstreams", ShardIterator=self._iterator, Limit=min(limit, _LARGEST_PAGE)
        )

    def _can_go_on(self, problem: TableError) -> bool:
        """Set the reader up for another try, if there is a way to go on."""
        match problem.details.get("code"):
            case "ExpiredIteratorException":
                self._iterator = None
            case "TrimmedDataAccessException":
                # Records older than a day are taken away, read or not; the rest of the shard is still to be read.
                log.warning("stream records were trimmed", stream=self._arn, shard=self.shard, after=self._after)
                self._iterator = self._after = None
            case _:
                return False
        return True
