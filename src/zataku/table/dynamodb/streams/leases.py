"""Leases: who reads which shard, and how far the shard has been read.

One item of the book for each shard of a consumer holds both, so that the checkpoint can only be moved by the owner of
the lease. A lease is renewed by counting up. Whether its owner still lives is judged by watching the counter on one's
own clock (`sharing.Watch`): machines never compare their times.
"""

from contextlib import suppress

from msgspec import Struct

from zataku.table.backend.errors import ConditionFailed, ResultUnknown
from zataku.table.backend.values import Item
from zataku.table.dynamodb.metadata_table import Book
from zataku.table.dynamodb.streams.positions import ordinal


class Lease(Struct, frozen=True):
    """The state of one shard for one consumer. Without owner it is free; `wanted` is who asks for it."""

    shard: str
    owner: str | None
    counter: int
    sequence: str | None = None
    finished: bool = False
    wanted: str | None = None


def lease_of(shard: str, item: Item) -> Lease:
    """A lease as the book holds it."""
    return Lease(
        shard,
        item.get("owner"),
        int(item.get("counter", 0)),
        item.get("sequence"),
        bool(item.get("finished", False)),
        item.get("wanted"),
    )


class Desk:
    """The leases of one consumer on the shards of one stream, written on behalf of one owner.

    When the answer to a write is lost, it does not matter whether it happened: the next look at the leases shows how
    they are. Only a checkpoint has to be known to be written.
    """

    def __init__(self, book: Book, partition: str, label: str, owner: str) -> None:
        self._book = book
        self._partition = partition
        self._prefix = f"shard#{label}#"
        self._owner = owner

    async def leases(self) -> dict[str, Lease]:
        """All leases as they are now, by shard."""
        found: dict[str, Lease] = {}
        for item in await self._book.items(self._partition):
            sk = str(item["sk"])
            if sk.startswith(self._prefix):
                shard = sk.removeprefix(self._prefix)
                found[shard] = lease_of(shard, item)
        return found

    async def lease(self, shard: str) -> Lease | None:
        """One lease as it is now."""
        item = await self._book.item(self._partition, self._prefix + shard)
        return None if item is None else lease_of(shard, item)

    async def take(self, shard: str, known: Lease | None) -> Lease | None:
        """Become the owner, if the lease is still as it was known; None when another was faster."""
        sk = self._prefix + shard
        try:
            if known is None:
                new: Item = {"owner": self._owner, "counter": 1}
                return lease_of(shard, new) if await self._book.put_new(self._partition, sk, new) else None
            values: Item = {"owner": self._owner, "one": 1, "seen": known.counter}
            when = "attribute_not_exists(#owner)" if known.owner is None else "#owner = :former"
            if known.owner is not None:
                values["former"] = known.owner
            return await self._change(
                shard,
                "SET #owner = :owner, #counter = #counter + :one REMOVE #wanted",
                values,
                f"{when} AND #counter = :seen",
            )
        except ResultUnknown:
            return None

    async def renew(self, shard: str) -> Lease | None:
        """Show that the owner lives; None when the lease has gone to another."""
        return await self._change(shard, "SET #counter = #counter + :one", {"one": 1})

    async def checkpoint(self, shard: str, sequence: str) -> Lease | None:
        """Everything up to this record is done with, and never less than before; None when the lease is lost."""
        values: Item = {"one": 1, "sequence": sequence, "ordinal": ordinal(sequence)}
        moved = await self._change(
            shard,
            "SET #sequence = :sequence, #ordinal = :ordinal, #counter = #counter + :one",
            values,
            "#owner = :owner AND (attribute_not_exists(#ordinal) OR #ordinal < :ordinal)",
        )
        if moved is not None:
            return moved
        # Refused because it lies behind, or because the lease is another's: the item tells.
        found = await self.lease(shard)
        return found if found is not None and found.owner == self._owner else None

    async def finish(self, shard: str) -> None:
        """The shard is closed and everything in it done with; nobody needs the lease any more."""
        change = "SET #finished = :yes, #counter = #counter + :one REMOVE #owner, #wanted"
        with suppress(ResultUnknown):
            await self._change(shard, change, {"one": 1, "yes": True})

    async def hand_over(self, shard: str, to: str | None) -> None:
        """Give the lease to another, or to whoever comes first."""
        values: Item = {"one": 1} if to is None else {"one": 1, "next": to}
        change = "SET #counter = #counter + :one REMOVE #owner, #wanted"
        if to is not None:
            change = "SET #owner = :next, #counter = #counter + :one REMOVE #wanted"
        with suppress(ResultUnknown):
            await self._change(shard, change, values)

    async def ask_for(self, lease: Lease) -> None:
        """Ask the owner to hand a lease over when it suits."""
        values: Item = {"me": self._owner, "owner": lease.owner}
        with suppress(ResultUnknown):
            await self._change(
                lease.shard, "SET #wanted = :me", values, "#owner = :owner AND attribute_not_exists(#wanted)"
            )

    async def remove(self, shard: str) -> None:
        """Forget a shard that is trimmed away."""
        await self._book.delete(self._partition, self._prefix + shard)

    async def _change(self, shard: str, change: str, values: Item, when: str = "#owner = :owner") -> Lease | None:
        if ":owner" in f"{change} {when}":
            values = {"owner": self._owner} | values
        try:
            item = await self._book.update(self._partition, self._prefix + shard, change, values, when=when)
        except ConditionFailed:
            return None
        return lease_of(shard, item)
