"""The lock of a store's file: one process, and one store in it, may open it for writing."""

import errno
import fcntl
import os
import stat
from pathlib import Path
from time import sleep

from zataku.table.backend.errors import StoreClosed

# A process that only looks up the holder keeps the lock for less than this.
_PROBE_SECONDS = 0.05


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def lock_holder(path: Path) -> str | None:
    """The id of the process that holds a store, "unknown" when it left none, or None. Nothing is created or changed."""
    try:
        # Without waiting for the writer of a pipe.
        descriptor = os.open(_lock_path(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _process_id(descriptor)
    finally:
        os.close(descriptor)
    return None


def open_side_file(path: Path) -> int:
    """The descriptor of a file next to a store, created if it is missing. A pipe or device in its place is refused."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    return descriptor


def _process_id(descriptor: int) -> str:
    return os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"


class FileLock:
    """An exclusive lock on `<path>.lock`. The system releases it when the process dies, so no lock can be stale."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Acquire the lock; raises `StoreClosed` with the process that has it."""
        descriptor = open_side_file(_lock_path(self._path))
        if not _try_lock(descriptor):
            sleep(_PROBE_SECONDS)
            if not _try_lock(descriptor):
                process = _process_id(descriptor)
                os.close(descriptor)
                raise StoreClosed(
                    f"Another process holds {self._path} (process {process}). Stop it, or give this one its own file.",
                    path=str(self._path),
                    process=process,
                )
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        except OSError as error:
            # The disk is full. A descriptor that stays open would keep the lock.
            os.close(descriptor)
            raise OSError(error.errno, error.strerror, str(_lock_path(self._path))) from error
        self._descriptor = descriptor

    def release(self) -> None:
        """Release the lock. Safe to call twice. The file stays: removing it would let two processes lock two files."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _try_lock(descriptor: int) -> bool:
    try:
        # flock belongs to the open file, not to the process: a second store in this process is refused too.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
