"""Since when sessions count: those that a restored backup brings back may have been ended since it was taken.

The moment lies in a file of the data folder, outside of what a backup replaces.
"""

import os
from pathlib import Path

from zataku.table import Millis

FILE = "sessions-from"
"""Its name, in the server's data folder."""


def sessions_from(folder: Path) -> Millis:
    """The moment that was kept; 0 when nothing was ever restored, so that all count."""
    try:
        return int((folder / FILE).read_text(encoding="ascii"))
    except FileNotFoundError:
        return 0


def write_session_cutoff(folder: Path, moment: Millis) -> None:
    """From now on only sessions count that begin at this moment or later."""
    path = folder / FILE
    fresh = path.with_name(f"{FILE}.{os.getpid()}")
    fresh.write_text(str(moment), encoding="ascii")
    fresh.replace(path)
