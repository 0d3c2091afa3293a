"""Reading single items by their keys."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from zataku.table.backend import GetItem, Row
from zataku.table.embedded import keys
from zataku.table.embedded.catalog import Catalog
from zataku.table.embedded.reader import ReadDesk
from zataku.table.embedded.recent import Recent
from zataku.table.errors import BadInput, SameItemTwice, TooManyItems, TransactionTooLarge
from zataku.table.limits import BATCH_GETS, TRANSACTION_BYTES
from zataku.table.packed import unpack


class Lookup(NamedTuple):
    """A key to look up, with everything checked that can be before reading."""

    table: str
    pk: bytes
    sk: bytes
    attributes: tuple[str, ...] | None
    lagging: bool

    def __call__(self, desk: ReadDesk) -> Row | None:
        """Read it."""
        table, pk, sk, attributes, lagging = self
        cursor = desk.late_cursor() if lagging else desk.cursor
        # All rows are fetched, though there is one: a statement left half read would keep the snapshot past its COMMIT,
        # and the next strong read would see the past.
        rows: list[tuple[Any, ...]] = cursor.execute(desk.catalog.part(table).get, (pk, sk)).fetchall()
        if not rows:
            return None
        packed: bytes = rows[0][0]
        if not lagging:
            desk.keep(table, pk, sk, packed)
        return packed if attributes is None else trimmed(packed, attributes)

    def recalled(self, recent: Recent) -> Row | None:
        """The item, if it was read or written lately."""
        packed = None if self.lagging else recent.get(self[:3])
        return packed if packed is None or self.attributes is None else trimmed(packed, self.attributes)

    def sized(self, desk: ReadDesk) -> tuple[Row | None, int]:
        """Read it and say how large it is."""
        cursor = desk.own_cursor(self.lagging)
        rows = cursor.execute(desk.catalog.part(self.table).get, (self.pk, self.sk)).fetchall()
        if not rows:
            return None, 0
        packed, size = rows[0]
        return (packed if self.attributes is None else trimmed(packed, self.attributes)), size


def trimmed(packed: bytes, attributes: Sequence[str]) -> Row:
    """Only these attributes of an item."""
    item = unpack(packed)
    return {name: item[name] for name in attributes if name in item}


def lookup(catalog: Catalog, read: GetItem) -> Lookup:
    """Check a read."""
    part = catalog.part(read.table.name)
    pk, sk = keys.of_key(part.schema, read.key)
    return Lookup(read.table.name, pk, sk, checked_attributes(read.attributes), read.lagging)


def checked_attributes(attributes: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """A projection names something, and nothing twice."""
    if attributes is not None and (not attributes or len(set(attributes)) < len(attributes)):
        raise BadInput("The projection is empty or names an attribute twice. Name each once, or leave it out.")
    return attributes


def lookups(catalog: Catalog, reads: Sequence[GetItem]) -> list[Lookup]:
    """Check a batch of reads."""
    if len(reads) > BATCH_GETS:
        raise TooManyItems(f"The call names {len(reads)} items; {BATCH_GETS} can be read at once. Split it.")
    checked = [lookup(catalog, read) for read in reads]
    if len({(each.table, each.pk, each.sk) for each in checked}) < len(checked):
        raise SameItemTwice("One item is named twice. Read it once.")
    return checked


def at_one_moment(every: list[Lookup], desk: ReadDesk) -> list[Row | None]:
    """All of them from one snapshot, within the size of a transaction."""
    found = [each.sized(desk) for each in every]
    size = sum(size for _, size in found)
    if size > TRANSACTION_BYTES:
        raise TransactionTooLarge(f"The items add up to {size} bytes; {TRANSACTION_BYTES} are allowed. Split the call.")
    return [row for row, _ in found]


def one_by_one(every: list[Lookup], desk: ReadDesk) -> list[Row | None]:
    """Each of them."""
    return [each(desk) for each in every]
