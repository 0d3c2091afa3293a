"""Stream consumers: the handlers of a table's changes, each run by one process at a time under a lease."""

import asyncio
from collections.abc import Sequence
from random import Random

import structlog

from zataku.clock import Clock, now_ms, wait_until_done
from zataku.jobs.definitions import StreamConsumer
from zataku.jobs.run import JobCounters
from zataku.platform.design import Lease, lease
from zataku.platform.errors import LeaseHeld
from zataku.platform.limits import SECOND, OwnerId
from zataku.platform.writes import release_lease, renew_lease, take_lease
from zataku.table import Change, ConditionFailed, ResultUnknown, Store, Stream, TableError

log = structlog.stdlib.get_logger()

LEASE_MS = 15 * SECOND
"""How long after the death of its process a consumer continues in another."""

# Stored in lease items: processes of an earlier version compete for the same names.
_LEASE_PREFIX = "follower/"
_RENEWAL_SECONDS = LEASE_MS / 3 / SECOND
_ACQUISITION_SECONDS = 5.0
_READ_TIMEOUT_SECONDS = 5.0
_MAX_BATCH = 100
_FIRST_RETRY_SECONDS = 0.5
_MAX_RETRY_SECONDS = 60.0
_STOP_SECONDS = 2.0


class StreamConsumers:
    """Runs the stream consumers of all systems whose leases this process holds."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        random: Random,
        process: str,
        consumers: Sequence[StreamConsumer],
        counters: JobCounters,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._owner = OwnerId(process)
        if len({consumer.name for consumer in consumers}) < len(consumers):
            raise ValueError("Two stream consumers have the same name. Give each its own.")
        # A table without a stream raises here, before anything has started.
        self._streams = [(consumer, store.stream(consumer.table, consumer.name)) for consumer in consumers]
        self._counters = counters
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Run the consumers whose lease is free, and take over others when their process is gone."""
        self._tasks = [asyncio.create_task(self._compete(consumer, stream)) for consumer, stream in self._streams]

    async def stop(self) -> None:
        """Release all leases. Changes that were handled but not acknowledged are delivered again elsewhere."""
        for task in self._tasks:
            task.cancel()
        await wait_until_done(self._tasks, self._clock, _STOP_SECONDS)

    async def _compete(self, consumer: StreamConsumer, stream: Stream) -> None:
        """Consume whenever the lease can be acquired."""
        while True:
            held = await self._acquire(consumer)
            if held is None:
                await self._clock.sleep(_ACQUISITION_SECONDS * self._random.uniform(0.8, 1.2))
                continue
            consuming = asyncio.create_task(self._consume(consumer, stream))
            try:
                await self._hold(held)
            finally:
                consuming.cancel()
                await asyncio.wait([consuming])
                self._counters.behind.pop(consumer.name, None)
                await self._release(held)

    async def _consume(self, consumer: StreamConsumer, stream: Stream) -> None:
        """Handle batch after batch. A batch that fails is delivered again after a growing pause."""
        pause = _FIRST_RETRY_SECONDS
        while True:
            try:
                changes = await stream.read(_MAX_BATCH, _READ_TIMEOUT_SECONDS)
                behind = self._clock.now() - changes[0].at if changes else 0.0
                self._counters.behind[consumer.name] = max(behind, 0.0)
                if changes:
                    if readable := self._readable(consumer, changes):
                        await consumer.handle(readable)
                    await stream.acknowledge(changes[-1])
                pause = _FIRST_RETRY_SECONDS
            except Exception as problem:
                self._counters.failures += 1
                log.warning("stream_consumer_failed", consumer=consumer.name, pause=pause, exc_info=problem)
                await self._clock.sleep(pause * self._random.uniform(0.8, 1.2))
                pause = min(pause * 2, _MAX_RETRY_SECONDS)

    def _readable(self, consumer: StreamConsumer, changes: Sequence[Change]) -> list[Change]:
        """The changes without those of items that do not fit their entity, which are logged and passed over.

        No retry can mend them, and the changes behind them must not wait.
        """
        for change in changes:
            if change.problem is not None:
                self._counters.failures += 1
                key = " ".join(map(str, change.keys.values()))
                log.error("stream_change_unreadable", consumer=consumer.name, key=key, problem=change.problem)
        return [change for change in changes if change.problem is None]

    # The lease

    async def _acquire(self, consumer: StreamConsumer) -> Lease | None:
        name = f"{_LEASE_PREFIX}{consumer.name}"
        now = now_ms(self._clock)
        try:
            current = await self._store.get(lease(name))
            return await self._store.write(take_lease(current, name, self._owner, now, now + LEASE_MS))
        except (LeaseHeld, ConditionFailed, ResultUnknown):
            # After a lost reply the next attempt finds the lease to be its own, and takes it again.
            return None
        except TableError as problem:
            log.warning("stream_consumer_not_leased", consumer=consumer.name, problem=str(problem))
            return None

    async def _hold(self, held: Lease) -> None:
        """Renew the lease, and return when it is lost or may be."""
        until = held.until
        while True:
            await self._clock.sleep(_RENEWAL_SECONDS)
            try:
                renewed = now_ms(self._clock) + LEASE_MS
                await self._store.write(renew_lease(held, renewed))
                until = renewed
            except ConditionFailed:
                return
            except TableError as problem:
                log.warning("stream_consumer_not_renewed", lease=held.name, problem=str(problem))
                if now_ms(self._clock) >= until:
                    return

    async def _release(self, held: Lease) -> None:
        try:
            await self._store.write(release_lease(held, now_ms(self._clock)))
        except TableError:
            # Another process has it already, or it lapses by itself.
            pass
