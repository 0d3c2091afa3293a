"""One process, and one store in it, may hold a file."""

import fcntl
import os
from pathlib import Path
from time import sleep

from zataku.table.backend.errors import StoreClosed

_LOOKING_SECONDS = 0.05


def side_file(path: Path) -> Path:
    """Where the lock of a store lies."""
    return path.with_name(path.name + ".lock")


def holder(path: Path) -> str | None:
    """The process that holds a store, as far as it is known, or None when nobody does. Nothing is made or changed."""
    try:
        descriptor = os.open(side_file(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _name(descriptor)
    finally:
        os.close(descriptor)
    return None


def _name(descriptor: int) -> str:
    return os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"


class FileLock:
    """Holds `<path>.lock`. The system lets go of it when the process dies, so there is no stale lock to clear."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self) -> None:
        """Take the lock or say who has it."""
        descriptor = os.open(side_file(self._path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if not _locked(descriptor):
            # Somebody may have been looking who holds it, which takes no longer than this.
            sleep(_LOOKING_SECONDS)
            if not _locked(descriptor):
                name = _name(descriptor)
                os.close(descriptor)
                raise StoreClosed(
                    f"Another process holds {self._path} (process {name}). Stop it, or give this one its own file.",
                    path=str(self._path),
                    process=name,
                )
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Let go. Safe to call twice. The side file stays: removing it would let two holders lock two files."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _locked(descriptor: int) -> bool:
    try:
        # flock belongs to the open file, not the process: a second store in this process is refused too.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
