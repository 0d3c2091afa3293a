"""What the store's calls cost, put onto bills.

It happens on the caller's side, from what the store's threads found anyway: the writer is left with nothing more to do,
and only one thread ever touches a ConsumedCapacity.
"""

from collections.abc import Sequence

from zataku.table.backend import cost
from zataku.table.backend.condition_evaluation import equal
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.port import GetItem, QueryItems, ScanItems, TransactWrite, Write
from zataku.table.embedded import keys
from zataku.table.embedded.catalog import IndexPart
from zataku.table.embedded.reads.pages import PageRead
from zataku.table.embedded.rows import NewRow
from zataku.table.embedded.write_group import Found, unmoved
from zataku.table.embedded.writes import Decision


def charge_get(consumed: ConsumedCapacity, read: GetItem, size: int) -> None:
    """One item was read; 0 bytes when it was not there."""
    consumed.add(read.table.name, reads=cost.read(size, read.strong))


def charge_gets(consumed: ConsumedCapacity, reads: Sequence[GetItem], sizes: Sequence[int]) -> None:
    """Items were read, each by itself; they are charged table by table."""
    units: dict[str, float] = {}
    for read, size in zip(reads, sizes, strict=True):
        name = read.table.name
        units[name] = units.get(name, 0.0) + cost.read(size, read.strong)
    for name, used in units.items():
        consumed.add(name, reads=used)


def charge_snapshot(consumed: ConsumedCapacity, reads: Sequence[GetItem], sizes: Sequence[int]) -> None:
    """Items were read as of one moment."""
    for read, size in zip(reads, sizes, strict=True):
        consumed.add(read.table.name, reads=cost.snapshot_read(size))


def charge_page(consumed: ConsumedCapacity, read: QueryItems | ScanItems, page: PageRead) -> None:
    """A page was read; what a local index had to fetch counts for the table."""
    index = None if read.index is None else read.index.name
    consumed.add(read.table.name, index, reads=cost.read(page.size, read.strong))
    if page.fetched:
        consumed.add(read.table.name, reads=cost.fetches(page.fetched, read.strong))


def charge_write(consumed: ConsumedCapacity, decision: Decision, phases: int = 1) -> None:
    """A write was carried out; `phases` is 2 in a transaction."""
    part, _, _, old, new, keep = decision
    units = cost.write(0 if old is None else old.size, 0 if new is None else new.size)
    table = part.schema.name
    consumed.add(table, writes=phases * units)
    if keep:
        return
    for at, index in enumerate(part.indexes):
        if index.held is None and new is not None and (old is None or unmoved(index.schema, old.item, new.item)):
            # Most writes: an item that comes or changes where it is, and an entry that is the item.
            used = 0 if new.index_keys[at] is None else units
        else:
            used = _entry_units(index, old, new, at)
        if used:
            consumed.add(table, index.schema.name, writes=used)


def charge_refused(
    consumed: ConsumedCapacity, writes: Sequence[Write | TransactWrite], lay: Sequence[int], phases: int = 1
) -> None:
    """Conditions were not met by the items that lay there; each is paid for."""
    # Writes that came after one which broke off have found nothing out.
    for write, size in zip(writes, lay, strict=False):
        consumed.add(write.table.name, writes=phases * cost.failed_write(size))


def charge_repetition(consumed: ConsumedCapacity, writes: Sequence[TransactWrite], lie: Sequence[int]) -> None:
    """A transaction that was done before costs the reading of its items, so AWS's page on transactions."""
    for write, size in zip(writes, lie, strict=True):
        consumed.add(write.table.name, reads=cost.snapshot_read(size))


def _entry_units(index: IndexPart, old: Found | None, new: NewRow | None, at: int) -> float:
    after = new is not None and new.index_keys[at] is not None
    stays = old is not None and new is not None and unmoved(index.schema, old.item, new.item)
    before = after if stays else old is not None and keys.of_index_if_fit(index.schema, old.item) is not None
    if not before and not after:
        return 0
    held = index.held
    if held is None:
        return cost.entry_write(old.size if before and old else None, new.size if after and new else None, not stays)
    was = {name: old.item[name] for name in held if name in old.item} if before and old else None
    now = {name: new.item[name] for name in held if name in new.item} if after and new else None
    if was is not None and now is not None and equal(was, now):
        return 0
    lay, lies = None if was is None else cost.entry_size(was, was), None if now is None else cost.entry_size(now, now)
    return cost.entry_write(lay, lies, not stays)
