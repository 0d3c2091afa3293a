"""One consumer of a table's changes, for the shards that this process reads."""

import asyncio

from msgspec import Struct

from zataku.clock import has_passed
from zataku.table.backend.errors import BadInput, LeaseLost, ResultUnknown, StoreClosed, TableError
from zataku.table.backend.port import RawChange
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.streams.lease_assignment import assign_shards
from zataku.table.dynamodb.streams.leases import Lease, StreamWorker
from zataku.table.dynamodb.streams.records import StreamPosition, parse_position, sortable_sequence, stream_label
from zataku.table.dynamodb.streams.shard_reader import ShardReader
from zataku.table.dynamodb.streams.shards import readable_shards
from zataku.table.dynamodb.streams.stream_lineage import StreamLineage

# Number of times that a worker renews its leases, and reads those of others, while a lease lasts.
RENEWALS_PER_LEASE = 4


class PendingChange(Struct):
    """A change that has been read and not acknowledged."""

    change: RawChange
    position: StreamPosition
    is_delivered: bool = False


class Consumer:
    """Reads the shards whose leases this worker holds, and keeps what is not acknowledged in delivery order."""

    def __init__(self, worker: StreamWorker, table: TableSchema, name: str) -> None:
        self.last_used_at = worker.clock.now()
        self._worker = worker
        self._clock = worker.clock
        self._refresh_seconds = worker.lease_seconds / RENEWALS_PER_LEASE
        self._refresh_at = 0.0
        self._lineage = StreamLineage(worker, table, name)
        self._lock = asyncio.Lock()
        self._is_released = False
        self._readers: dict[str, ShardReader] = {}
        # Workers that request a lease of this one, by shard.
        self._requests: dict[str, str] = {}
        self._pending: list[PendingChange] = []

    async def read(self, limit: int) -> list[RawChange]:
        """The oldest changes that are not acknowledged; those delivered before come first, in the same order."""
        async with self._lock:
            self._touch()
            while True:
                await self._refresh()
                await self._fetch(limit)
                # The end of a shard makes its children readable, which may hold the next changes.
                if not await self._finish_ended_shards() or self._pending:
                    break
            delivered = self._pending[:limit]
            for pending in delivered:
                pending.is_delivered = True
            return [pending.change for pending in delivered]

    async def acknowledge(self, position: str) -> None:
        """Acknowledge this change and all that were delivered before it."""
        parsed = parse_position(position)
        async with self._lock:
            self._touch()
            at = next(
                (at for at, pending in enumerate(self._pending) if pending.is_delivered and pending.position == parsed),
                None,
            )
            if at is None:
                await self._acknowledge_undelivered(parsed)
                return
            reached = {pending.position.shard: pending.position.sequence for pending in self._pending[: at + 1]}
            # The shard of the change itself comes last: a call that fails in between finds it again when repeated.
            del reached[parsed.shard]
            lost = [shard for shard, sequence in reached.items() if not await self._checkpoint(shard, sequence)]
            lost += [] if await self._checkpoint(parsed.shard, parsed.sequence) else [parsed.shard]
            await self._finish_ended_shards()
            await self._hand_over_requested()
            if lost:
                raise _lease_lost(lost)

    async def renew_leases(self) -> None:
        """Keep the leases alive between calls."""
        async with self._lock:
            if self._readers:
                await self._renew()

    async def release(self) -> None:
        """Give all leases back, so that other workers need not wait for them to expire."""
        async with self._lock:
            # A call that waits for the lock at this moment must not take them again.
            self._is_released = True
            for shard in list(self._readers):
                self._drop(shard)
                await self._lineage.leases.hand_over(shard, None)

    async def forget(self) -> None:
        """Delete everything that is stored for the consumer."""
        async with self._lock:
            self._reset()
            await self._lineage.erase()

    def _touch(self) -> None:
        if self._is_released:
            raise StoreClosed("The store is closed. Open it first.")
        self.last_used_at = self._clock.now()

    async def _refresh(self) -> None:
        """Update the stream, its shards and their leases, unless they were read a moment ago."""
        lineage = self._lineage
        if lineage.is_stale:
            if await lineage.refresh():
                self._reset()
        elif not has_passed(self._refresh_at - self._refresh_seconds, self._clock.now(), self._refresh_seconds):
            return
        await self._renew()
        await self._claim_shards()
        expiry = lineage.monitor.next_expiry(self._worker.name)
        self._refresh_at = min(self._clock.now() + self._refresh_seconds, expiry)

    async def _renew(self) -> None:
        await asyncio.gather(*map(self._renew_one, list(self._readers)))
        await self._hand_over_requested()

    async def _renew_one(self, shard: str) -> None:
        try:
            lease = await self._lineage.leases.renew(shard)
        except ResultUnknown:
            # The next renewal shows whether this one happened.
            return
        if lease is None:
            self._drop(shard)
        elif lease.wanted is not None:
            self._requests[shard] = lease.wanted

    async def _hand_over_requested(self) -> None:
        """Hand over the leases that other workers request, except for shards with delivered changes."""
        for shard, new_owner in list(self._requests.items()):
            if not any(pending.is_delivered and pending.position.shard == shard for pending in self._pending):
                self._drop(shard)
                await self._lineage.leases.hand_over(shard, new_owner)

    async def _claim_shards(self) -> None:
        lineage, name = self._lineage, self._worker.name
        leases = await lineage.read_leases()
        finished = {shard for shard, lease in leases.items() if lease.finished}
        shards = readable_shards(lineage.shards, finished, leases.keys() - finished)
        assignment = assign_shards(shards, leases, lineage.monitor, name, self._worker.random)
        for shard in shards:
            lease = leases.get(shard)
            if shard in assignment.take and (lease is None or lease.owner != name):
                lease = await lineage.leases.take(shard, lease)
            # Also a lease that was handed over, or whose reply was lost when it was taken.
            if lease is not None and lease.owner == name and shard not in self._readers:
                self._start_reading(lease)
        if assignment.request is not None:
            await lineage.leases.request(assignment.request)

    def _start_reading(self, lease: Lease) -> None:
        self._readers[lease.shard] = ShardReader(
            self._worker.client, self._lineage.arn, lease.shard, lease.sequence, self._append
        )

    def _drop(self, shard: str) -> None:
        self._readers.pop(shard, None)
        self._requests.pop(shard, None)
        self._pending = [pending for pending in self._pending if pending.position.shard != shard]

    def _reset(self) -> None:
        for shard in list(self._readers):
            self._drop(shard)
        self._refresh_at = 0.0

    def _append(self, changes: list[RawChange]) -> None:
        self._pending += [PendingChange(change, parse_position(change.position)) for change in changes]

    async def _fetch(self, limit: int) -> None:
        missing = limit - len(self._pending)
        if missing <= 0:
            return
        reads = [reader.read(missing) for reader in self._readers.values() if not reader.ended]
        results = await asyncio.gather(*reads, return_exceptions=True)
        for problem in results:
            # Changes of other shards are not held up by one that is throttled.
            if problem is not None and (not isinstance(problem, TableError) or not self._pending):
                raise problem

    async def _finish_ended_shards(self) -> bool:
        ended = [shard for shard, reader in self._readers.items() if reader.ended]
        finished = [shard for shard in ended if not any(pending.position.shard == shard for pending in self._pending)]
        for shard in finished:
            await self._lineage.leases.finish(shard)
            self._drop(shard)
            self._lineage.mark_stale()
        return bool(finished)

    async def _checkpoint(self, shard: str, sequence: str) -> bool:
        lease = await self._lineage.leases.checkpoint(shard, sequence)
        if lease is None:
            self._drop(shard)
            return False
        reached = sortable_sequence(sequence)
        self._pending = [
            pending
            for pending in self._pending
            if pending.position.shard != shard or sortable_sequence(pending.position.sequence) > reached
        ]
        return True

    async def _acknowledge_undelivered(self, position: StreamPosition) -> None:
        """Acknowledge a change that this process has not delivered, or has acknowledged before."""
        lineage = self._lineage
        if lineage.is_stale:
            await self._refresh()
        label = stream_label(lineage.arn)
        if position.label < label:
            # The consumer has finished that stream and moved to a later one.
            return
        shard = position.shard
        lease = await lineage.leases.read(shard) if position.label == label else None
        if position.label != label or (lease is None and shard not in lineage.shards):
            raise BadInput(f"{position} is not in the stream of the table. Pass a position that came with a change.")
        if lease is not None and (lease.finished or _is_acknowledged(position, lease)):
            return
        if lease is None or lease.owner is None:
            lease = await lineage.leases.take(shard, lease)
        if lease is None or lease.owner != self._worker.name or not await self._checkpoint(shard, position.sequence):
            raise _lease_lost([shard])
        # Reading continues from the new checkpoint, regardless of what was read before.
        self._drop(shard)
        self._refresh_at = 0.0


def _is_acknowledged(position: StreamPosition, lease: Lease) -> bool:
    return lease.sequence is not None and sortable_sequence(position.sequence) <= sortable_sequence(lease.sequence)


def _lease_lost(shards: list[str]) -> LeaseLost:
    return LeaseLost(
        f"Another process reads {', '.join(shards)} now, and will receive those changes again. Continue reading to see "
        "which changes are still yours.",
        shards=shards,
    )
