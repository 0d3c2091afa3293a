"""The shape of a table as a store needs it: keys, indexes, TTL, stream. Frozen values, compared by content."""

from typing import Literal, TypeAlias

from msgspec import Struct

from zataku.table.values import KeyType

StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]
Billing: TypeAlias = Literal["PAY_PER_REQUEST", "PROVISIONED"]


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
    """A table under its full name."""

    name: str
    pk: KeyAttribute
    sk: KeyAttribute | None = None
    indexes: tuple[IndexSchema, ...] = ()
    ttl: str | None = None
    stream: StreamView | None = None
    billing: Billing = "PAY_PER_REQUEST"
    recovery: bool = False
    encryption: bool = True

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
