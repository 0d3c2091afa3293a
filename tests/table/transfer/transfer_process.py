"""Moves a store out or in, says each step, and waits to be killed.

`export FILE FOLDER` or `import FILE FOLDER`; each line it says is a number of items that are done.
"""

import asyncio
import os
import sys
from pathlib import Path

from tests.table.transfer.sample_items import CURTAINS, FURNITURE, opened_store
from zataku.clock import SystemClock
from zataku.table.transfer import export_store, import_store

TABLES = (FURNITURE, CURTAINS)
PAGE_ITEMS, PART_BYTES, SEGMENTS = 7, 4_000, 2


def say(table: str, items: int, total: int | None, size: int) -> None:
    """One line, at once and whole."""
    os.write(1, f"{items}\n".encode())


async def move(way: str, file: Path, folder: Path) -> None:
    """Do one or the other."""
    store = await opened_store(file, TABLES)
    if way == "export":
        await export_store(
            store,
            TABLES,
            folder,
            clock=SystemClock(),
            progress=say,
            page_items=PAGE_ITEMS,
            part_bytes=PART_BYTES,
            segments=SEGMENTS,
        )
    else:
        await import_store(store, TABLES, folder, progress=say, workers=1)
    await store.close()


if __name__ == "__main__":
    asyncio.run(move(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
