"""The shape of a table as a store needs it: keys, indexes, TTL, stream. Frozen values, compared by content."""

from typing import Literal, TypeAlias

from msgspec import Struct

from zataku.table.backend.values import KeyType

StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]


# All items are encrypted at rest: with a key that DynamoDB owns, or with the account's own, which AWS manages.
Encryption: TypeAlias = Literal["owned", "managed"]


class KeyAttribute(Struct, frozen=True):
    """An attribute that serves as a key: its name on disk and its type."""

    name: str
    type: KeyType = "S"


class Projection(Struct, frozen=True):
    """Which attributes an index holds beside the keys."""

    kind: Literal["ALL", "KEYS_ONLY", "INCLUDE"] = "ALL"
    attributes: tuple[str, ...] = ()


ALL = Projection("ALL")
KEYS_ONLY = Projection("KEYS_ONLY")


def include(*attributes: str) -> Projection:
    """A projection of the keys and these attributes."""
    return Projection("INCLUDE", tuple(sorted(set(attributes))))


class OnDemand(Struct, frozen=True, tag=True):
    """Pay for each call. The maxima cap what a table, and each of its global indexes, may use in a second."""

    max_reads: int | None = None
    max_writes: int | None = None


class Provisioned(Struct, frozen=True, tag=True):
    """Pay for so many units a second, used or not.

    With a maximum, the units follow the load between the figure given and the maximum, aiming at `target` per cent.
    """

    reads: int
    writes: int
    max_reads: int | None = None
    max_writes: int | None = None
    target: int = 70


Capacity: TypeAlias = OnDemand | Provisioned


class IndexSchema(Struct, frozen=True):
    """A secondary index. A local one shares the table's partition key and exists from the table's first day."""

    name: str
    pk: KeyAttribute
    sk: KeyAttribute | None = None
    projection: Projection = ALL
    local: bool = False

    @property
    def keys(self) -> tuple[KeyAttribute, ...]:
        """The key attributes in order."""
        return (self.pk,) if self.sk is None else (self.pk, self.sk)


class TableSchema(Struct, frozen=True):
    """A table under its full name.

    `recovery` keeps what is needed to go back to any second of the last 35 days, `protected` refuses to delete the
    table. Both are for DynamoDB; a file has neither.
    """

    name: str
    pk: KeyAttribute
    sk: KeyAttribute | None = None
    indexes: tuple[IndexSchema, ...] = ()
    ttl: str | None = None
    stream: StreamView | None = None
    capacity: Capacity = OnDemand()
    recovery: bool = False
    encryption: Encryption = "owned"
    protected: bool = False

    @property
    def keys(self) -> tuple[KeyAttribute, ...]:
        """The key attributes in order."""
        return (self.pk,) if self.sk is None else (self.pk, self.sk)

    def projected(self, index: IndexSchema) -> frozenset[str] | None:
        """The names an index holds, or None for all of them."""
        if index.projection.kind == "ALL":
            return None
        keys = {key.name for key in (*self.keys, *index.keys)}
        return frozenset(keys.union(index.projection.attributes))
