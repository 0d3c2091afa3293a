"""The part files of an export: gzip files of items with their checksums."""

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
from zataku.table.transfer.atomic_files import rename_into_place, temporary_path, write_errors
from zataku.table.transfer.dynamodb_json import ItemChecksum, decode_line, encode_line

# Fast, and within a few per cent of the best compression of such text.
_COMPRESSION_LEVEL = 4
_BLOCK_BYTES = 1 << 20
# The longest encoding of a 400 KB item (every byte as \u0000) is far below this.
_MAX_LINE_BYTES = 16 << 20


class PartRecord(Struct, frozen=True, omit_defaults=True):
    """A finished part, and the position at which the scan continues (None: the segment is complete)."""

    file: str
    segment: int
    items: int
    size: int
    text: int
    md5: str
    sha256: str
    digest: str
    after: dict[str, Any] | None = None


class _HashingFile:
    """Passes bytes on to a file and hashes them."""

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
    """A part being written; it becomes valid with `finish`. Its methods block: call them in threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with write_errors(path):
            self._file = temporary_path(path).open("wb")
        self._hashing_file = _HashingFile(cast("BinaryIO", self._file))
        # Without name and time, so that the same items give the same bytes.
        self._zip = gzip.GzipFile("", "wb", _COMPRESSION_LEVEL, cast("Any", self._hashing_file), mtime=0)
        self._checksum = ItemChecksum()
        self.text = 0

    def add(self, rows: list[Row]) -> int:
        """Write rows; returns the bytes of their lines."""
        lines = [encode_line(unpack_row(row)) for row in rows]
        self._checksum.add(lines)
        content = b"\n".join([*lines, b""])
        with write_errors(self._path):
            self._zip.write(content)
        self.text += len(content)
        return len(content)

    def finish(self, segment: int, after: dict[str, Any] | None) -> PartRecord:
        """Flush the part to disk and rename it into place."""
        with write_errors(self._path):
            self._zip.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            rename_into_place(self._path)
        file = self._hashing_file
        md5_digest = b64encode(file.md5.digest()).decode()
        return PartRecord(
            self._path.name,
            segment,
            self._checksum.items,
            file.size,
            self.text,
            md5_digest,
            file.sha256.hexdigest(),
            self._checksum.digest,
            after,
        )

    def abandon(self) -> None:
        """Delete the unfinished file."""
        self._file.close()
        temporary_path(self._path).unlink(missing_ok=True)


class Part(Struct, frozen=True):
    """A part of an export to import; the optional fields are known for our own exports."""

    path: Path
    items: int
    md5: str
    size: int | None = None
    sha256: str | None = None
    digest: str | None = None

    def check_bytes(self) -> None:
        """Raise `ExportDamaged` unless the file has the checksums of its manifest."""
        hashes = (md5(usedforsecurity=False), sha256())
        try:
            with self.path.open("rb") as file:
                while block := file.read(_BLOCK_BYTES):
                    for hasher in hashes:
                        hasher.update(block)
        except OSError as error:
            raise self.damaged(f"cannot be read ({error.strerror})") from error
        if b64encode(hashes[0].digest()).decode() != self.md5:
            raise self.damaged("does not have the MD5 checksum of its manifest")
        if self.sha256 not in (None, hashes[1].hexdigest()):
            raise self.damaged("does not have the SHA-256 checksum of its export")

    def read(self) -> Iterator[tuple[Item, int]]:
        """Iterate over the items, each with the length of its line, with one item in memory at a time."""
        number = 0
        try:
            with gzip.open(self.path, "rb") as file:
                while line := file.readline(_MAX_LINE_BYTES):
                    number += 1
                    if line.strip():
                        yield decode_line(line), len(line)
        except (OSError, EOFError, zlib.error) as error:
            raise self.damaged(f"cannot be unpacked after line {number} ({error})") from error
        except ValueError as error:
            raise self.damaged(f"has a line {number} that cannot be read: {error}") from error

    def damaged(self, problem: str) -> ExportDamaged:
        """The error for this part."""
        return ExportDamaged(
            f"{self.path} {problem}. Nothing was written. Copy the export again, or make a new one.",
            path=str(self.path),
        )
