"""What a host wants to know of the file itself."""

import shutil
from pathlib import Path

from zataku.table.embedded.reads.reader import ReadDesk

_CONSUMERS = "SELECT name, position FROM consumers WHERE table_number = ? ORDER BY name"


def of_file(path: Path) -> dict[str, str]:
    """Where it lies and how much room it takes and has; looks at the disk."""
    log = path.with_name(path.name + "-wal")
    return {
        "file": str(path),
        "bytes of the file": str(path.stat().st_size),
        "bytes of its log": str(log.stat().st_size if log.exists() else 0),
        "free bytes on the disk": str(shutil.disk_usage(path.parent).free),
    }


def of_streams(desk: ReadDesk) -> dict[str, str]:
    """How many changes each stream keeps, and how many of them each consumer has still to see."""
    found: dict[str, str] = {}
    for part in desk.catalog.parts:
        if part.schema.stream is None:
            continue
        name = part.schema.name
        kept = desk.cursor.execute(f"SELECT count(*) FROM {part.log}").fetchall()[0][0]
        found[f"changes kept of {name}"] = str(kept)
        for consumer, position in desk.cursor.execute(_CONSUMERS, (part.number,)).fetchall():
            behind = desk.cursor.execute(f"SELECT count(*) FROM {part.log} WHERE seq > ?", (position,)).fetchall()
            found[f"changes of {name} before {consumer}"] = str(behind[0][0])
    return found
