"""One consumer's way through the changes of a table, as far as this process reads them."""

import asyncio

from msgspec import Struct

from zataku.table.backend.errors import BadInput, LeaseLost, ResultUnknown, StoreClosed, TableError
from zataku.table.backend.port import RawChange
from zataku.table.backend.table_schema import TableSchema
from zataku.table.dynamodb.streams.lease_assignment import share
from zataku.table.dynamodb.streams.leases import Lease
from zataku.table.dynamodb.streams.owner import Owner
from zataku.table.dynamodb.streams.positions import Place, label_of, ordinal, place_of
from zataku.table.dynamodb.streams.shard_reader import ShardReader
from zataku.table.dynamodb.streams.shards import readable
from zataku.table.dynamodb.streams.stream_lineage import Course

# So many times in the span of a lease its owner shows that it lives, and looks what the others do.
RENEWALS = 4


class Waiting(Struct):
    """A change that has been read and not acknowledged; `handed` once somebody was given it."""

    change: RawChange
    place: Place
    handed: bool = False


class Consumer:
    """Reads the shards that this process holds leases on, and keeps what is not acknowledged in delivery order."""

    def __init__(self, owner: Owner, table: TableSchema, name: str) -> None:
        self.used = owner.clock.now()
        self._owner = owner
        self._clock = owner.clock
        self._every = owner.lease_seconds / RENEWALS
        self._course = Course(owner, table, name)
        self._lock = asyncio.Lock()
        self._left = False
        self._readers: dict[str, ShardReader] = {}
        self._wanted: dict[str, str] = {}
        self._queue: list[Waiting] = []
        self._look_at = 0.0

    async def read(self, limit: int) -> list[RawChange]:
        """The oldest changes that are not acknowledged, those handed out before first and in the same order."""
        async with self._lock:
            self._use()
            while True:
                await self._settle()
                await self._fetch(limit)
                # The end of a shard opens its children, which may hold what the caller asks for.
                if not await self._finish_ended() or self._queue:
                    break
            given = self._queue[:limit]
            for waiting in given:
                waiting.handed = True
            return [waiting.change for waiting in given]

    async def acknowledge(self, position: str) -> None:
        """This change and all handed out before it are done with."""
        place = place_of(position)
        async with self._lock:
            self._use()
            at = next((at for at, it in enumerate(self._queue) if it.handed and it.place == place), None)
            if at is None:
                await self._acknowledge_by_itself(place)
                return
            reached = {it.place.shard: it.place.sequence for it in self._queue[: at + 1]}
            # The shard of the change itself comes last: a call that fails in between finds it again when repeated.
            del reached[place.shard]
            lost = [shard for shard, to in reached.items() if not await self._checkpoint(shard, to)]
            lost += [] if await self._checkpoint(place.shard, place.sequence) else [place.shard]
            await self._finish_ended()
            await self._oblige()
            if lost:
                raise _lost(lost)

    async def beat(self) -> None:
        """Keep the leases alive between calls."""
        async with self._lock:
            if self._readers:
                await self._renew()

    async def release(self) -> None:
        """Give all leases back, so that others need not wait for them to lapse."""
        async with self._lock:
            # Who waits for the lock at this moment must not take them again.
            self._left = True
            for shard in list(self._readers):
                self._drop(shard)
                await self._course.desk.hand_over(shard, None)

    async def forget(self) -> None:
        """Take everything away that is kept for the consumer."""
        async with self._lock:
            self._start_over()
            await self._course.erase()

    def _use(self) -> None:
        if self._left:
            raise StoreClosed("The store is closed. Open it first.")
        self.used = self._clock.now()

    # Leases

    async def _settle(self) -> None:
        """Know the stream, its shards and who reads them, none of it older than a moment."""
        course = self._course
        if course.due:
            if await course.chart():
                self._start_over()
        elif self._clock.now() < self._look_at:
            return
        await self._renew()
        await self._claim()
        self._look_at = min(self._clock.now() + self._every, course.watch.next_lapse(self._owner.name))

    async def _renew(self) -> None:
        await asyncio.gather(*map(self._renew_one, list(self._readers)))
        await self._oblige()

    async def _renew_one(self, shard: str) -> None:
        try:
            lease = await self._course.desk.renew(shard)
        except ResultUnknown:
            # Renewed or not, the next time tells.
            return
        if lease is None:
            self._drop(shard)
        elif lease.wanted is not None:
            self._wanted[shard] = lease.wanted

    async def _oblige(self) -> None:
        """Hand over what others ask for, unless somebody is still busy with changes of it."""
        for shard, other in list(self._wanted.items()):
            if not any(it.handed and it.place.shard == shard for it in self._queue):
                self._drop(shard)
                await self._course.desk.hand_over(shard, other)

    async def _claim(self) -> None:
        course = self._course
        leases = await course.look()
        finished = {shard for shard, lease in leases.items() if lease.finished}
        shards = readable(course.shards, finished, leases.keys() - finished)
        choice = share(shards, leases, course.watch, self._owner.name, self._owner.random)
        for shard in shards:
            lease = leases.get(shard)
            if shard in choice.take and (lease is None or lease.owner != self._owner.name):
                lease = await course.desk.take(shard, lease)
            # A lease of ours that we do not know of: the answer to the taking was lost, or it was handed over.
            if lease is not None and lease.owner == self._owner.name and shard not in self._readers:
                self._begin(lease)
        if choice.ask is not None:
            await course.desk.ask_for(choice.ask)

    def _begin(self, lease: Lease) -> None:
        self._readers[lease.shard] = ShardReader(
            self._owner.client, self._course.arn, lease.shard, lease.sequence, self._append
        )

    def _drop(self, shard: str) -> None:
        self._readers.pop(shard, None)
        self._wanted.pop(shard, None)
        self._queue = [it for it in self._queue if it.place.shard != shard]

    def _start_over(self) -> None:
        for shard in list(self._readers):
            self._drop(shard)
        self._look_at = 0.0

    # Records

    def _append(self, changes: list[RawChange]) -> None:
        self._queue += [Waiting(change, place_of(change.position)) for change in changes]

    async def _fetch(self, limit: int) -> None:
        need = limit - len(self._queue)
        if need <= 0:
            return
        reading = [reader.more(need) for reader in self._readers.values() if not reader.ended]
        problems = [it for it in await asyncio.gather(*reading, return_exceptions=True) if it is not None]
        for problem in problems:
            # What other shards gave is not held up by one that is busy.
            if not isinstance(problem, TableError) or not self._queue:
                raise problem

    async def _finish_ended(self) -> bool:
        ended = [shard for shard, reader in self._readers.items() if reader.ended]
        over = [shard for shard in ended if not any(it.place.shard == shard for it in self._queue)]
        for shard in over:
            await self._course.desk.finish(shard)
            self._drop(shard)
            self._course.ask_again()
        return bool(over)

    async def _checkpoint(self, shard: str, sequence: str) -> bool:
        lease = await self._course.desk.checkpoint(shard, sequence)
        if lease is None:
            self._drop(shard)
            return False
        reached = ordinal(sequence)
        self._queue = [it for it in self._queue if it.place.shard != shard or ordinal(it.place.sequence) > reached]
        return True

    async def _acknowledge_by_itself(self, place: Place) -> None:
        """Acknowledge a change that this process has not handed out, or has acknowledged before."""
        course = self._course
        if course.due:
            await self._settle()
        label = label_of(course.arn)
        if place.label < label:
            # The consumer has finished that stream and gone on to a later one.
            return
        lease = await course.desk.lease(place.shard) if place.label == label else None
        if place.label != label or (lease is None and place.shard not in course.shards):
            raise BadInput(f"{place} is not in the stream of the table. Pass a position that came with a change.")
        if lease is not None and (lease.finished or _behind(place, lease)):
            return
        if lease is None or lease.owner is None:
            lease = await course.desk.take(place.shard, lease)
        if lease is None or lease.owner != self._owner.name or not await self._checkpoint(place.shard, place.sequence):
            raise _lost([place.shard])
        # Read on from the new checkpoint, whatever was read before.
        self._drop(place.shard)
        self._look_at = 0.0


def _behind(place: Place, lease: Lease) -> bool:
    return lease.sequence is not None and ordinal(place.sequence) <= ordinal(lease.sequence)


def _lost(shards: list[str]) -> LeaseLost:
    return LeaseLost(
        f"Another process reads {', '.join(shards)} now, and will be given those changes again. Read on to see which "
        "changes are still yours.",
        shards=shards,
    )
