"""Leases: which worker reads which shard, and how far it has been read.

One item of the metadata table for each shard of a consumer holds both, so that only the owner of the lease can move the
checkpoint. A lease is renewed by incrementing a counter. Whether its owner is alive is judged by watching the counter
on the worker's own clock (`lease_assignment.LeaseMonitor`): machines never compare their clocks.
"""

from contextlib import suppress
from random import Random

from msgspec import Struct

from zataku.clock import Clock
from zataku.table.backend.errors import ConditionFailed, ResultUnknown
from zataku.table.backend.values import Item
from zataku.table.dynamodb.client import Client
from zataku.table.dynamodb.metadata_table import MetadataTable
from zataku.table.dynamodb.streams.records import sortable_sequence


class StreamWorker(Struct, frozen=True):
    """A process that reads streams. Others take over its leases after `lease_seconds` without a renewal."""

    name: str
    client: Client
    metadata: MetadataTable
    clock: Clock
    random: Random
    lease_seconds: float


class Lease(Struct, frozen=True):
    """State of one shard for one consumer. It is free without owner; `wanted` names a worker that requests it."""

    shard: str
    owner: str | None
    counter: int
    sequence: str | None = None
    finished: bool = False
    wanted: str | None = None


def parse_lease(shard: str, item: Item) -> Lease:
    """The lease that an item of the metadata table holds."""
    return Lease(
        shard,
        item.get("owner"),
        int(item.get("counter", 0)),
        item.get("sequence"),
        bool(item.get("finished", False)),
        item.get("wanted"),
    )


class LeaseTable:
    """Leases of one consumer on the shards of one stream, written for one worker.

    When the reply to a write is lost, the outcome does not matter: the next read of the leases shows it. Only a
    checkpoint has to be known to be written.
    """

    def __init__(self, metadata: MetadataTable, partition: str, label: str, owner: str) -> None:
        self._metadata = metadata
        self._partition = partition
        self._prefix = f"shard#{label}#"
        self._owner = owner

    async def read_all(self) -> dict[str, Lease]:
        """All leases by shard."""
        leases: dict[str, Lease] = {}
        for item in await self._metadata.items(self._partition):
            sk = str(item["sk"])
            if sk.startswith(self._prefix):
                shard = sk.removeprefix(self._prefix)
                leases[shard] = parse_lease(shard, item)
        return leases

    async def read(self, shard: str) -> Lease | None:
        """The lease of one shard."""
        item = await self._metadata.item(self._partition, self._prefix + shard)
        return None if item is None else parse_lease(shard, item)

    async def take(self, shard: str, seen: Lease | None) -> Lease | None:
        """Become the owner if the lease is still as it was seen; None when another worker was faster."""
        sk = self._prefix + shard
        try:
            if seen is None:
                new: Item = {"owner": self._owner, "counter": 1}
                return parse_lease(shard, new) if await self._metadata.put_new(self._partition, sk, new) else None
            values: Item = {"owner": self._owner, "one": 1, "seen": seen.counter}
            condition = "attribute_not_exists(#owner)" if seen.owner is None else "#owner = :former"
            if seen.owner is not None:
                values["former"] = seen.owner
            return await self._update(
                shard,
                "SET #owner = :owner, #counter = #counter + :one REMOVE #wanted",
                values,
                f"{condition} AND #counter = :seen",
            )
        except ResultUnknown:
            return None

    async def renew(self, shard: str) -> Lease | None:
        """Show that the owner is alive; None when the lease has another owner."""
        return await self._update(shard, "SET #counter = #counter + :one", {"one": 1})

    async def checkpoint(self, shard: str, sequence: str) -> Lease | None:
        """Move the checkpoint forward to this record, never back; None when the lease has another owner."""
        values: Item = {"one": 1, "sequence": sequence, "ordinal": sortable_sequence(sequence)}
        moved = await self._update(
            shard,
            "SET #sequence = :sequence, #ordinal = :ordinal, #counter = #counter + :one",
            values,
            "#owner = :owner AND (attribute_not_exists(#ordinal) OR #ordinal < :ordinal)",
        )
        if moved is not None:
            return moved
        # Refused because the checkpoint is further already, or the lease has another owner: the item shows which.
        lease = await self.read(shard)
        return lease if lease is not None and lease.owner == self._owner else None

    async def finish(self, shard: str) -> None:
        """Mark a shard as closed and completely acknowledged; its lease is no longer needed."""
        change = "SET #finished = :yes, #counter = #counter + :one REMOVE #owner, #wanted"
        with suppress(ResultUnknown):
            await self._update(shard, change, {"one": 1, "yes": True})

    async def hand_over(self, shard: str, new_owner: str | None) -> None:
        """Give the lease to another worker, or free it."""
        values: Item = {"one": 1} if new_owner is None else {"one": 1, "next": new_owner}
        change = "SET #counter = #counter + :one REMOVE #owner, #wanted"
        if new_owner is not None:
            change = "SET #owner = :next, #counter = #counter + :one REMOVE #wanted"
        with suppress(ResultUnknown):
            await self._update(shard, change, values)

    async def request(self, lease: Lease) -> None:
        """Request a lease from its owner, which hands it over when it can."""
        values: Item = {"worker": self._owner, "owner": lease.owner}
        with suppress(ResultUnknown):
            await self._update(
                lease.shard, "SET #wanted = :worker", values, "#owner = :owner AND attribute_not_exists(#wanted)"
            )

    async def remove(self, shard: str) -> None:
        """Delete the lease of a shard that the service has trimmed."""
        await self._metadata.delete(self._partition, self._prefix + shard)

    async def _update(self, shard: str, change: str, values: Item, condition: str = "#owner = :owner") -> Lease | None:
        if ":owner" in f"{change} {condition}":
            values = {"owner": self._owner} | values
        sk = self._prefix + shard
        try:
            item = await self._metadata.update(self._partition, sk, change, values, condition=condition)
        except ConditionFailed:
            return None
        return parse_lease(shard, item)
