"""Every item of a store as it is stored, whatever entity it belongs to."""

from zataku.table import Store
from zataku.table.backend.port import ScanItems
from zataku.table.backend.values import unpack_row


async def raw_items(store: Store) -> list[str]:
    """The items of all tables as text: the names and values of all attributes, keys included."""
    found: list[str] = []
    for table in store.tables:
        start = None
        while True:
            page = await store.backend.scan(ScanItems(store.schema(table), start=start, strong=True))
            found += [repr(unpack_row(row)) for row in page.rows]
            start = page.resume
            if start is None:
                break
    return found
