"""Reading single items by their keys."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from zataku.table.backend.errors import SameItemTwice
from zataku.table.backend.port import GetItem, Row
from zataku.table.backend.validation import check_read_count, check_transaction_size, checked_attributes
from zataku.table.backend.values import unpack
from zataku.table.embedded import keys
from zataku.table.embedded.catalog import Catalog
from zataku.table.embedded.item_cache import Kept, Recent
from zataku.table.embedded.reads.reader import ReadDesk

# What a read found, and the size of the whole item; 0 for none.
Sized: TypeAlias = tuple[Row | None, int]
_NOTHING: Sized = (None, 0)


class Lookup(NamedTuple):
    """A key to look up, with everything checked that can be before reading."""

    table: str
    pk: bytes
    sk: bytes
    attributes: tuple[str, ...] | None
    lagging: bool

    def __call__(self, desk: ReadDesk) -> Sized:
        """Read it."""
        table, pk, sk, _, lagging = self
        cursor = desk.late_cursor() if lagging else desk.cursor
        # All rows are fetched, though there is one: a statement left half read would keep the snapshot past its COMMIT,
        # and the next strong read would see the past.
        rows: list[Any] = cursor.execute(desk.catalog.part(table).get, (pk, sk)).fetchall()
        if not rows:
            return _NOTHING
        found: Kept = rows[0]
        if not lagging:
            desk.keep(table, pk, sk, found)
        return self._shown(found)

    def recalled(self, recent: Recent) -> Sized | None:
        """The item, if it was read or written lately."""
        found = None if self.lagging else recent.get(self[:3])
        return None if found is None else self._shown(found)

    def _shown(self, found: Kept) -> Sized:
        return found if self.attributes is None else (trimmed(found[0], self.attributes), found[1])


def trimmed(packed: bytes, attributes: Sequence[str]) -> Row:
    """Only these attributes of an item."""
    item = unpack(packed)
    return {name: item[name] for name in attributes if name in item}


def lookup(catalog: Catalog, read: GetItem) -> Lookup:
    """Check a read."""
    part = catalog.part(read.table.name)
    pk, sk = keys.of_key(part.schema, read.key)
    return Lookup(read.table.name, pk, sk, checked_attributes(read.attributes), read.lagging)


def lookups(catalog: Catalog, reads: Sequence[GetItem]) -> list[Lookup]:
    """Check a batch of reads."""
    check_read_count(len(reads))
    checked = [lookup(catalog, read) for read in reads]
    if len({(each.table, each.pk, each.sk) for each in checked}) < len(checked):
        raise SameItemTwice("One item is named twice. Read it once.")
    return checked


def at_one_moment(every: list[Lookup], desk: ReadDesk) -> list[Sized]:
    """All of them from one snapshot, within the size of a transaction."""
    found = one_by_one(every, desk)
    check_transaction_size(sum(size for _, size in found))
    return found


def one_by_one(every: list[Lookup], desk: ReadDesk) -> list[Sized]:
    """Each of them."""
    return [each(desk) for each in every]
