"""Files that are whole or not there: written aside, flushed to the disk, then renamed into place."""

import errno
import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Self

from zataku.table.backend.errors import BadInput, StoreFull

_FULL = {errno.ENOSPC, errno.EDQUOT}
_ASIDE = ".new"


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Say in our own words why a file could not be written."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFull(
                f"The disk that holds {path} is full. What is finished is safe. Free some space and run this again.",
                path=str(path),
            ) from error
        raise BadInput(
            f"{path} cannot be written ({error.strerror}). Give a folder that this user may write to.", path=str(path)
        ) from error


def aside(path: Path) -> Path:
    """Where a file is written until it is whole."""
    return path.with_name(path.name + _ASIDE)


def finished_name(name: str) -> str:
    """What a file is or would have been called, had it been finished."""
    return name.removesuffix(_ASIDE)


def put_in_place(path: Path) -> None:
    """Give a finished and flushed file its own name, for good."""
    os.replace(aside(path), path)  # noqa: PTH105 - the same name in both lines says what happens
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a small file: afterwards it has the new content, or the old one if anything goes wrong."""
    with writing(path):
        with aside(path).open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        put_in_place(path)


class PathLock:
    """Keeps others out of a folder or file: one may change it, or any number may read it.

    The system lets go of it when the process dies.
    """

    def __init__(self, path: Path, *, shared: bool) -> None:
        self._path = path
        self._way = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        self._descriptor: int | None = None

    def take(self) -> Self:
        """Take the lock or say that it is taken."""
        descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, self._way | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise BadInput(
                f"Another export or import is at work in {self._path}. Wait for it, or use another folder.",
                path=str(self._path),
            ) from None
        self._descriptor = descriptor
        return self

    def release(self) -> None:
        """Let go. Safe to call twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class Journal:
    """Lines that are on the disk once they have been added. A line cut off by a crash was never there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        with writing(path):
            self.lines = whole_lines(path)
            self._file = path.open("ab")
            self._file.truncate(sum(len(line) + 1 for line in self.lines))
            os.fsync(self._file.fileno())
            flush_folder(path.parent)

    def add(self, line: bytes) -> None:
        """Add a line; it is safe when this returns."""
        with self._lock, writing(self._path):
            self.lines.append(line)
            self._file.write(line + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """No more lines."""
        self._file.close()


def whole_lines(path: Path) -> list[bytes]:
    """The finished lines of a journal; none when there is no file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    return content.split(b"\n")[:-1]
