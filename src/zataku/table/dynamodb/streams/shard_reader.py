"""Reader of one shard, from its consumer's checkpoint on."""

from collections.abc import Callable
from typing import Any

import structlog

from zataku.table.backend.errors import TableError
from zataku.table.backend.port import RawChange
from zataku.table.dynamodb.client import Client, Response
from zataku.table.dynamodb.streams.records import is_unchanged, parse_record, stream_label
from zataku.table.dynamodb.streams.shards import is_missing

# An empty page is not the end of a shard: after this many in a row the shard counts as quiet for now.
_MAX_EMPTY_PAGES = 4
_MAX_PAGE_RECORDS = 1000
# An iterator can expire or be trimmed while it is in use, but hardly twice in a row.
_MAX_ATTEMPTS = 3

log = structlog.stdlib.get_logger()


class ShardReader:
    """Delivers each record of one shard once.

    `ended` means that the shard is closed and completely read. Only a missing next iterator shows this: an open
    shard may have an ending sequence number, too.
    """

    def __init__(
        self, client: Client, arn: str, shard: str, after: str | None, deliver: Callable[[list[RawChange]], None]
    ) -> None:
        self.shard = shard
        self.ended = False
        self._client = client
        self._arn = arn
        self._after = after
        # Called as soon as a page has arrived, so that nothing is lost when the caller is cancelled.
        self._deliver = deliver
        self._iterator: str | None = None
        self._empty_pages = 0

    async def read(self, limit: int) -> None:
        """Deliver the next changes, at most `limit`; none when the shard is quiet or at its end."""
        while not self.ended:
            records = await self._read_page(limit)
            if not records:
                self._empty_pages += 1
                if self._empty_pages >= _MAX_EMPTY_PAGES:
                    return
                continue
            self._empty_pages = 0
            self._after = records[-1]["dynamodb"]["SequenceNumber"]
            label = stream_label(self._arn)
            changes = [parse_record(record, label, self.shard) for record in records if not is_unchanged(record)]
            if changes:
                self._deliver(changes)
                return

    async def _read_page(self, limit: int) -> list[dict[str, Any]]:
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                response = await self._get_records(limit)
            except TableError as problem:
                if is_missing(problem):
                    log.warning("shard_gone", stream=self._arn, shard=self.shard, after=self._after)
                    self.ended = True
                    return []
                if attempt == _MAX_ATTEMPTS or not self._recover(problem):
                    raise
                continue
            self._iterator = response.get("NextShardIterator")
            self.ended = self._iterator is None
            return response["Records"]
        raise AssertionError

    async def _get_records(self, limit: int) -> Response:
        if self._iterator is None:
            start: dict[str, str] = {"ShardIteratorType": "TRIM_HORIZON"}
            if self._after is not None:
                start = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": self._after}
            response = await self._client.call(
                "GetShardIterator", service="dynamodbstreams", StreamArn=self._arn, ShardId=self.shard, **start
            )
            self._iterator = response["ShardIterator"]
        return await self._client.call(
            "GetRecords", service="dynamodbstreams", ShardIterator=self._iterator, Limit=min(limit, _MAX_PAGE_RECORDS)
        )

    def _recover(self, problem: TableError) -> bool:
        """Prepare another attempt; False when there is none to make."""
        match problem.details.get("code"):
            case "ExpiredIteratorException":
                self._iterator = None
            case "TrimmedDataAccessException":
                # Records older than a day are deleted, read or not; the rest of the shard is still to be read.
                log.warning("stream_records_trimmed", stream=self._arn, shard=self.shard, after=self._after)
                self._iterator = self._after = None
            case _:
                return False
        return True
