"""Reads of single items by key, and what they cost."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from zataku.table.backend import cost
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import SameItemTwice
from zataku.table.backend.port import GetItem, Row
from zataku.table.backend.validation import check_read_count, check_transaction_size, checked_attributes
from zataku.table.backend.values import unpack
from zataku.table.embedded.catalog import Catalog
from zataku.table.embedded.database import CachedItem, ItemCache
from zataku.table.embedded.reads.reader import ReadSession
from zataku.table.embedded.rows import table_key

# The row, or None, and the size of the whole item; 0 for no item.
SizedRow: TypeAlias = tuple[Row | None, int]
_NOT_FOUND: SizedRow = (None, 0)


class Lookup(NamedTuple):
    """A read of one item, checked as far as possible without reading it."""

    table: str
    pk: bytes
    sk: bytes
    attributes: tuple[str, ...] | None
    lagging: bool

    def __call__(self, session: ReadSession) -> SizedRow:
        """Read the item from the file."""
        table, pk, sk, _, lagging = self
        cursor = session.lagging_cursor() if lagging else session.cursor
        # All rows are fetched, though there is at most one: a statement that is not read to its end would keep the
        # snapshot past its COMMIT, and the next strong read would see an old state.
        rows: list[Any] = cursor.execute(session.catalog[table].select_item, (pk, sk)).fetchall()
        if not rows:
            return _NOT_FOUND
        cached: CachedItem = rows[0]
        if not lagging:
            session.cache_item(table, pk, sk, cached)
        return self._project(cached)

    def from_cache(self, cache: ItemCache) -> SizedRow | None:
        """The item, if it is cached."""
        cached = None if self.lagging else cache.get(self[:3])
        return None if cached is None else self._project(cached)

    def _project(self, cached: CachedItem) -> SizedRow:
        if self.attributes is None:
            return cached
        item = unpack(cached[0])
        return {name: item[name] for name in self.attributes if name in item}, cached[1]


def prepare_lookup(catalog: Catalog, read: GetItem) -> Lookup:
    """Check a read."""
    pk, sk = table_key(catalog[read.table.name].schema, read.key)
    return Lookup(read.table.name, pk, sk, checked_attributes(read.attributes), read.lagging)


def prepare_lookups(catalog: Catalog, reads: Sequence[GetItem]) -> list[Lookup]:
    """Check a batch of reads, which must name different items."""
    check_read_count(len(reads))
    lookups = [prepare_lookup(catalog, read) for read in reads]
    if len({(lookup.table, lookup.pk, lookup.sk) for lookup in lookups}) < len(lookups):
        raise SameItemTwice("One item is named twice. Read it once.")
    return lookups


def read_each(lookups: list[Lookup], session: ReadSession) -> list[SizedRow]:
    """Read every item."""
    return [lookup(session) for lookup in lookups]


def read_snapshot(lookups: list[Lookup], session: ReadSession) -> list[SizedRow]:
    """Read every item from one snapshot, within the size limit of a transaction."""
    rows = read_each(lookups, session)
    check_transaction_size(sum(size for _, size in rows))
    return rows


def charge_get(consumed: ConsumedCapacity, read: GetItem, size: int) -> None:
    """Charge the read of one item; 0 bytes when it did not exist."""
    consumed.add(read.table.name, reads=cost.read(size, read.strong))


def charge_batch_get(consumed: ConsumedCapacity, reads: Sequence[GetItem], sizes: Sequence[int]) -> None:
    """Charge reads of a batch, summed by table."""
    units: dict[str, float] = {}
    for read, size in zip(reads, sizes, strict=True):
        name = read.table.name
        units[name] = units.get(name, 0.0) + cost.read(size, read.strong)
    for name, used in units.items():
        consumed.add(name, reads=used)


def charge_snapshot(consumed: ConsumedCapacity, reads: Sequence[GetItem], sizes: Sequence[int]) -> None:
    """Charge reads of one snapshot."""
    for read, size in zip(reads, sizes, strict=True):
        consumed.add(read.table.name, reads=cost.snapshot_read(size))
