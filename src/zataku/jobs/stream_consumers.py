"""Followers: what follows from the changes of a table, done by one process at a time."""

import asyncio
from collections.abc import Sequence
from random import Random

import structlog

from zataku.clock import Clock
from zataku.jobs.counters import Counts
from zataku.jobs.definitions import StreamConsumer
from zataku.jobs.timeouts import wait_until_done
from zataku.platform.design import Lease, lease
from zataku.platform.errors import LeaseHeld
from zataku.platform.limits import SECOND, OwnerId
from zataku.platform.writes import release_lease, renew_lease, take_lease
from zataku.table import ConditionFailed, Millis, ResultUnknown, Store, Stream, TableError

log = structlog.stdlib.get_logger()

HELD_FOR = 15 * SECOND
"""How long after the death of its process a follower goes on in another."""

_RENEWED_EVERY = HELD_FOR / 3 / SECOND
_TAKEN_EVERY = 5.0
_WAITS_FOR_CHANGES = 5.0
_MOST_CHANGES = 100
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_BREAKING_OFF = 2.0


class Following:
    """The followers of all systems, those of them that are this process's to run."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        random: Random,
        process: str,
        followers: Sequence[StreamConsumer],
        counts: Counts,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._owner = OwnerId(process)
        if len({each.name for each in followers}) < len(followers):
            raise ValueError("Two followers have the same name. Give each its own.")
        # A table without a stream is refused here, before anything has started.
        self._streams = [(each, store.stream(each.table, each.name)) for each in followers]
        self._counts = counts
        self._running: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin with those that no other process runs; take over the others when their process is gone."""
        self._running = [asyncio.create_task(self._compete(*each)) for each in self._streams]

    async def stop(self) -> None:
        """Let them go to other processes. What was taken but not acknowledged comes again there."""
        for each in self._running:
            each.cancel()
        await wait_until_done(self._running, self._clock, _BREAKING_OFF)

    async def _compete(self, follower: StreamConsumer, stream: Stream) -> None:
        """Follow whenever the lease can be had."""
        while True:
            held = await self._taken(follower)
            if held is None:
                await self._clock.sleep(_TAKEN_EVERY * self._random.uniform(0.8, 1.2))
                continue
            following = asyncio.create_task(self._follow(follower, stream))
            try:
                await self._hold(held)
            finally:
                following.cancel()
                await asyncio.wait([following])
                self._counts.behind.pop(follower.name, None)
                await self._let_go(held)

    async def _follow(self, follower: StreamConsumer, stream: Stream) -> None:
        """Take change after change. Changes that cannot be taken come again, after a pause that grows."""
        pause = _FIRST_PAUSE
        while True:
            try:
                changes = await stream.read(_MOST_CHANGES, _WAITS_FOR_CHANGES)
                behind = self._clock.now() - changes[0].at if changes else 0.0
                self._counts.behind[follower.name] = max(behind, 0.0)
                if changes:
                    await follower.handle(changes)
                    await stream.acknowledge(changes[-1])
                pause = _FIRST_PAUSE
            except Exception as problem:
                self._counts.failures += 1
                log.warning("follower_failed", follower=follower.name, pause=pause, exc_info=problem)
                await self._clock.sleep(pause * self._random.uniform(0.8, 1.2))
                pause = min(pause * 2, _LONGEST_PAUSE)

    # The lease

    async def _taken(self, follower: StreamConsumer) -> Lease | None:
        name = f"follower/{follower.name}"
        now = self._now()
        try:
            found = await self._store.get(lease(name))
            return await self._store.write(take_lease(found, name, self._owner, now, now + HELD_FOR))
        except (LeaseHeld, ConditionFailed, ResultUnknown):
            # After a lost reply the next try finds its own lease, and takes it again.
            return None
        except TableError as problem:
            log.warning("follower_waits", follower=follower.name, problem=str(problem))
            return None

    async def _hold(self, held: Lease) -> None:
        """Come back when the lease is lost, or may be."""
        until = held.until
        while True:
            await self._clock.sleep(_RENEWED_EVERY)
            try:
                renewed = self._now() + HELD_FOR
                await self._store.write(renew_lease(held, renewed))
                until = renewed
            except ConditionFailed:
                return
            except TableError as problem:
                log.warning("follower_not_renewed", lease=held.name, problem=str(problem))
                if self._now() >= until:
                    return

    async def _let_go(self, held: Lease) -> None:
        try:
            await self._store.write(release_lease(held, self._now()))
        except TableError:
            # It is another's already, or it lapses by itself.
            pass

    def _now(self) -> Millis:
        return int(self._clock.now() * SECOND)
