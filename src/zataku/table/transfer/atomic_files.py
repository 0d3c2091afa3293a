"""Atomic files: written under a temporary name, flushed to disk, then renamed into place. Also locks and journals."""

import errno
import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Self

from zataku.table.backend.errors import BadInput, StoreFull

_DISK_FULL_ERRNOS = {errno.ENOSPC, errno.EDQUOT}
_TEMPORARY_SUFFIX = ".new"


@contextmanager
def write_errors(path: Path) -> Generator[None]:
    """Turn OSErrors of a write into `StoreFull` or `BadInput`."""
    try:
        yield
    except OSError as error:
        if error.errno in _DISK_FULL_ERRNOS:
            raise StoreFull(
                f"The disk that holds {path} is full. What is finished is safe. Free some space and run this again.",
                path=str(path),
            ) from error
        raise BadInput(
            f"{path} cannot be written ({error.strerror}). Give a folder that this user may write to.", path=str(path)
        ) from error


def temporary_path(path: Path) -> Path:
    """The temporary name of a file that is being written."""
    return path.with_name(path.name + _TEMPORARY_SUFFIX)


def final_name(name: str) -> str:
    """The final name of a finished or unfinished file."""
    return name.removesuffix(_TEMPORARY_SUFFIX)


def rename_into_place(path: Path) -> None:
    """Rename a flushed file to its final name, durably."""
    os.replace(temporary_path(path), path)  # noqa: PTH105 - os.replace names the operation
    fsync_folder(path.parent)


def fsync_folder(folder: Path) -> None:
    """Flush the directory entries of a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a small file atomically: after a failure it has its old content."""
    with write_errors(path):
        with temporary_path(path).open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        rename_into_place(path)


class PathLock:
    """Lock on a folder or file: exclusive, or shared between readers.

    The operating system releases it when the process dies.
    """

    def __init__(self, path: Path, *, shared: bool) -> None:
        self._path = path
        self._mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        self._descriptor: int | None = None

    def acquire(self) -> Self:
        """Acquire the lock; raises `BadInput` when another process holds it."""
        descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, self._mode | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise BadInput(
                f"Another export or import is running in {self._path}. Wait for it, or use another folder.",
                path=str(self._path),
            ) from None
        self._descriptor = descriptor
        return self

    def release(self) -> None:
        """Release the lock. Safe to call twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class Journal:
    """Append-only file of durable lines. A line truncated by a crash is ignored."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        with write_errors(path):
            self.lines = read_complete_lines(path)
            self._file = path.open("ab")
            self._file.truncate(sum(len(line) + 1 for line in self.lines))
            os.fsync(self._file.fileno())
            fsync_folder(path.parent)

    def add(self, line: bytes) -> None:
        """Append a line, durable on return."""
        with self._lock, write_errors(self._path):
            self.lines.append(line)
            self._file.write(line + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_complete_lines(path: Path) -> list[bytes]:
    """The complete lines of a journal; none when there is no file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    return content.split(b"\n")[:-1]
