"""A side file that remembers the last acknowledged commit, so that a store which lost its end is noticed.

SQLite takes a write-ahead log as far as it is whole and cannot know that there was more. The database holds the number
of its last commit; `<path>.mark` holds the last one that was acknowledged. The mark is written without a sync: after a
power cut it may be behind, which does no harm, and it can never be ahead of what was acknowledged.
"""

import os
import struct
import zlib
from pathlib import Path

_SHAPE = struct.Struct("<QI")


def side_file(path: Path) -> Path:
    """Where the mark of a store lies."""
    return path.with_name(path.name + ".mark")


def last_mark(path: Path) -> int:
    """The mark of a store that is only looked at: nothing is made when there is none."""
    try:
        return _number(side_file(path).read_bytes())
    except OSError:
        return 0


def _number(content: bytes) -> int:
    if len(content) != _SHAPE.size:
        return 0
    number, check = _SHAPE.unpack(content)
    return number if zlib.crc32(content[:8]) == check else 0


class Watermark:
    """The number of the last acknowledged commit."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(side_file(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def read(self) -> int:
        """The number, or 0 when there is none to be read."""
        return _number(os.pread(self._descriptor, _SHAPE.size, 0))

    def write(self, number: int) -> None:
        """Remember the number."""
        content = number.to_bytes(8, "little")
        os.pwrite(self._descriptor, content + zlib.crc32(content).to_bytes(4, "little"), 0)

    def close(self) -> None:
        """Let go of the side file."""
        os.close(self._descriptor)
