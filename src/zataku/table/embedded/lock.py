"""One process, and one store in it, may hold a file."""

import fcntl
import os
from pathlib import Path

from zataku.table.errors import StoreClosed


class FileLock:
    """Holds `<path>.lock`. The system lets go of it when the process dies, so there is no stale lock to clear."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self) -> None:
        """Take the lock or say who has it."""
        side = self._path.with_name(self._path.name + ".lock")
        descriptor = os.open(side, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            # flock belongs to the open file, not the process: a second store in this process is refused too.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise StoreClosed(
                f"Another process holds {self._path} (process {holder}). Stop it, or give this one its own file.",
                path=str(self._path),
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Let go. Safe to call twice. The side file stays: removing it would let two holders lock two files."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
