"""Schema of a stored table: keys, indexes, TTL, stream, capacity. Frozen values, compared by content."""

from typing import Literal, TypeAlias

from msgspec import Struct

from zataku.table.backend.values import Item, KeyType, KeyValue

StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]


# Encryption at rest uses a key that DynamoDB owns, or the account's key managed by AWS.
Encryption: TypeAlias = Literal["owned", "managed"]


class KeyAttribute(Struct, frozen=True):
    """A key attribute: its name on disk and its type."""

    name: str
    type: KeyType = "S"


class Projection(Struct, frozen=True):
    """The attributes that an index holds in addition to the keys."""

    kind: Literal["ALL", "KEYS_ONLY", "INCLUDE"] = "ALL"
    attributes: tuple[str, ...] = ()


ALL = Projection("ALL")
KEYS_ONLY = Projection("KEYS_ONLY")


def include(*attributes: str) -> Projection:
    """A projection of the keys and these attributes."""
    return Projection("INCLUDE", tuple(sorted(set(attributes))))


class OnDemand(Struct, frozen=True, tag=True):
    """Billing per call. The maxima cap the units per second of the table and of each global index."""

    max_reads: int | None = None
    max_writes: int | None = None


class Provisioned(Struct, frozen=True, tag=True):
    """Billing for a fixed number of units per second, used or not.

    With a maximum, auto scaling adjusts the units between the given number and the maximum, for `target` per cent
    utilisation.
    """

    reads: int
    writes: int
    max_reads: int | None = None
    max_writes: int | None = None
    target: int = 70


Capacity: TypeAlias = OnDemand | Provisioned


class IndexSchema(Struct, frozen=True):
    """A secondary index. A local one shares the table's partition key and exists since the table was created."""

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

    `recovery` enables point-in-time recovery for 35 days, `protected` deletion protection. Both apply to DynamoDB only.
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

    def key_of(self, item: Item) -> tuple[KeyValue, KeyValue | None]:
        """The key of an item, which must have all key attributes."""
        return item[self.pk.name], None if self.sk is None else item[self.sk.name]

    def projected(self, index: IndexSchema) -> frozenset[str] | None:
        """The attribute names that an index holds, or None for all."""
        if index.projection.kind == "ALL":
            return None
        keys = {key.name for key in (*self.keys, *index.keys)}
        return frozenset(keys.union(index.projection.attributes))
