"""The parts of an export: compressed files of items, with the sums that prove them whole."""

import gzip
import os
import zlib
from base64 import b64encode
from collections.abc import Iterator
from hashlib import md5, sha256
from pathlib import Path
from typing import Any, BinaryIO, cast

from msgspec import Struct

from zataku.table.backend.errors import ExportDamaged
from zataku.table.backend.port import Row
from zataku.table.backend.values import Item, unpack_row
from zataku.table.transfer.atomic_files import aside, put_in_place, writing
from zataku.table.transfer.dynamodb_json import ItemChecksum, decode_line, encode_line

# Fast, and within a few per cent of the smallest for text of this kind.
_COMPRESSION = 4
_BLOCK = 1 << 20
# An item of 400 KB in its longest spelling (every byte as \u0000) is far below this.
_LONGEST_LINE = 16 << 20


class PartRecord(Struct, frozen=True, omit_defaults=True):
    """A finished part, and where the scan goes on after it (None: this segment is at its end)."""

    file: str
    segment: int
    items: int
    size: int
    text: int
    md5: str
    sha256: str
    digest: str
    after: dict[str, Any] | None = None


class _Sums:
    """Passes bytes on to a file and sums them up."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0
        self.md5 = md5(usedforsecurity=False)
        self.sha256 = sha256()

    def write(self, block: bytes) -> int:
        self.size += len(block)
        self.md5.update(block)
        self.sha256.update(block)
        return self._file.write(block)

    def flush(self) -> None:
        self._file.flush()


class PartWriter:
    """One part while it is being written; nothing of it counts before `finish`. All of it is for threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with writing(path):
            self._file = aside(path).open("wb")
        self._sums = _Sums(cast("BinaryIO", self._file))
        # No name and no time inside: the same items make the same bytes.
        self._zip = gzip.GzipFile("", "wb", _COMPRESSION, cast("Any", self._sums), mtime=0)
        self._checksum = ItemChecksum()
        self.text = 0

    def add(self, rows: list[Row]) -> int:
        """Write rows; returns the bytes of their lines."""
        lines = [encode_line(unpack_row(row)) for row in rows]
        self._checksum.add(lines)
        content = b"\n".join([*lines, b""])
        with writing(self._path):
            self._zip.write(content)
        self.text += len(content)
        return len(content)

    def finish(self, segment: int, after: dict[str, Any] | None) -> PartRecord:
        """Put the part in its place, safe from a power cut."""
        with writing(self._path):
            self._zip.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            put_in_place(self._path)
        sums = self._sums
        md5_digest = b64encode(sums.md5.digest()).decode()
        return PartRecord(
            self._path.name,
            segment,
            self._checksum.items,
            sums.size,
            self.text,
            md5_digest,
            sums.sha256.hexdigest(),
            self._checksum.digest,
            after,
        )

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._file.close()
        aside(self._path).unlink(missing_ok=True)


class Part(Struct, frozen=True):
    """A part of an export that was found; our own exports know more of theirs."""

    path: Path
    items: int
    md5: str
    size: int | None = None
    sha256: str | None = None
    digest: str | None = None

    def check_bytes(self) -> None:
        """Refuse a file that is not to the byte what the manifest says."""
        sums = (md5(usedforsecurity=False), sha256())
        try:
            with self.path.open("rb") as file:
                while block := file.read(_BLOCK):
                    for each in sums:
                        each.update(block)
        except OSError as error:
            raise self.damaged(f"cannot be read ({error.strerror})") from error
        if b64encode(sums[0].digest()).decode() != self.md5:
            raise self.damaged("does not have the MD5 checksum of its manifest")
        if self.sha256 not in (None, sums[1].hexdigest()):
            raise self.damaged("does not have the SHA-256 checksum of its export")

    def read(self) -> Iterator[tuple[Item, int]]:
        """The items one after the other, each with the length of its line; never more than one in memory."""
        number = 0
        try:
            with gzip.open(self.path, "rb") as file:
                while line := file.readline(_LONGEST_LINE):
                    number += 1
                    if line.strip():
                        yield decode_line(line), len(line)
        except (OSError, EOFError, zlib.error) as error:
            raise self.damaged(f"cannot be unpacked after line {number} ({error})") from error
        except ValueError as error:
            raise self.damaged(f"has a line {number} that cannot be read: {error}") from error

    def damaged(self, what: str) -> ExportDamaged:
        """The refusal that names this part."""
        return ExportDamaged(
            f"{self.path} {what}. Nothing was written. Copy the export again, or make a new one.", path=str(self.path)
        )
