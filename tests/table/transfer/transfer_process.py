"""A process that exports or imports a store and prints its progress, to be killed by a test.

`export FILE FOLDER` or `import FILE FOLDER`; each printed line is the number of items done.
"""

import asyncio
import os
import sys
from pathlib import Path

from tests.table.transfer.sample_items import CURTAINS, FURNITURE, start_backend
from zataku.clock import SystemClock
from zataku.table.transfer import export_store, import_store

TABLES = (FURNITURE, CURTAINS)
PAGE_ITEMS, PART_BYTES, SEGMENTS = 7, 4_000, 2


def print_progress(table: str, items: int, total: int | None, size: int) -> None:
    """Print one line, unbuffered."""
    os.write(1, f"{items}\n".encode())


async def transfer(direction: str, file: Path, folder: Path) -> None:
    """Run the export or import."""
    store = await start_backend(file, TABLES)
    if direction == "export":
        await export_store(
            store,
            TABLES,
            folder,
            clock=SystemClock(),
            progress=print_progress,
            page_items=PAGE_ITEMS,
            part_bytes=PART_BYTES,
            segments=SEGMENTS,
        )
    else:
        await import_store(store, TABLES, folder, progress=print_progress, workers=1)
    await store.close()


if __name__ == "__main__":
    asyncio.run(transfer(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
