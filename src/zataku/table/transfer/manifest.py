"""The manifests of a table's export, as Amazon DynamoDB writes them when it exports to S3.

The export folder takes the role of the bucket: keys of files are paths below it.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import md5
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from zataku.table.backend.errors import ExportDamaged
from zataku.table.transfer.atomic_files import write_atomically
from zataku.table.transfer.parts import PartRecord

SUMMARY = "manifest-summary.json"
FILES = "manifest-files.json"
PARTS_FOLDER = "data"
# AWS documents `.checksum` but writes `.md5`.
_CHECKSUM_SUFFIXES = (".md5", ".checksum")
_VERSION = "2020-06-30"
_OUTPUT_FORMAT = "DYNAMODB_JSON"
_ARN_PREFIX = "arn:aws:dynamodb:local:000000000000"

T = TypeVar("T")


class Summary(Struct, frozen=True, kw_only=True, rename="camel"):
    """Summary manifest: the exported table, times and item count."""

    version: str = _VERSION
    export_arn: str = ""
    start_time: str | None = None
    end_time: str | None = None
    table_arn: str
    table_id: str | None = None
    export_time: str | None = None
    s3_bucket: str | None = None
    s3_prefix: str | None = None
    s3_sse_algorithm: str | None = None
    s3_sse_kms_key_id: str | None = None
    manifest_files_s3_key: str
    billed_size_bytes: int = 0
    item_count: int
    output_format: str = _OUTPUT_FORMAT
    export_type: str = "FULL_EXPORT"

    @property
    def table(self) -> str:
        """The name of the table."""
        return self.table_arn.partition(":table/")[2].split("/")[0]


class FileEntry(Struct, frozen=True, kw_only=True, rename="camel"):
    """One line of the files manifest: a part file."""

    item_count: int
    md5_checksum: str
    etag: str | None = None
    data_file_s3_key: str


def iso(at: float) -> str:
    """A time in the format of the manifests."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_manifests(
    folder: Path, table: str, parts: Sequence[PartRecord], *, identity: str, started: float, ended: float
) -> None:
    """Write both manifests of a table into its folder."""
    entries = [
        FileEntry(
            item_count=part.items,
            md5_checksum=part.md5,
            etag=_etag(part.md5),
            data_file_s3_key=f"{table}/{PARTS_FOLDER}/{part.file}",
        )
        for part in parts
    ]
    summary = Summary(
        export_arn=f"{_ARN_PREFIX}:table/{table}/export/{int(started * 1000):014d}-{identity[:8]}",
        start_time=iso(started),
        end_time=iso(ended),
        table_arn=f"{_ARN_PREFIX}:table/{table}",
        table_id=identity,
        export_time=iso(started),
        s3_bucket="zataku",
        manifest_files_s3_key=f"{table}/{FILES}",
        item_count=sum(part.items for part in parts),
    )
    _write(folder / FILES, b"\n".join([*map(msgspec.json.encode, entries), b""]))
    _write(folder / SUMMARY, msgspec.json.encode(summary))


def _write(path: Path, content: bytes) -> None:
    write_atomically(path, content)
    write_atomically(path.with_suffix(_CHECKSUM_SUFFIXES[0]), _checksum(content))


def _etag(checksum: str) -> str:
    """The S3 ETag of a file uploaded in one part."""
    return md5(b64decode(checksum), usedforsecurity=False).hexdigest() + "-1"


def _checksum(content: bytes) -> bytes:
    return b64encode(md5(content, usedforsecurity=False).digest())


def read_manifests(folder: Path) -> tuple[Summary, list[FileEntry]]:
    """The manifests of the table in a folder, checked against their checksums and each other."""
    summary = decoded(folder / SUMMARY, _checked(folder / SUMMARY), Summary)
    if summary.output_format != _OUTPUT_FORMAT or summary.export_type != "FULL_EXPORT":
        raise ExportDamaged(
            f"{folder} is an export of the kind {summary.export_type} in {summary.output_format}. Only full exports in "
            f"{_OUTPUT_FORMAT} can be imported."
        )
    path = files_manifest(folder, summary)
    lines = [line for line in _checked(path).splitlines() if line.strip()]
    entries = [decoded(path, line, FileEntry) for line in lines]
    if sum(entry.item_count for entry in entries) != summary.item_count:
        raise ExportDamaged(f"{folder}: the manifests disagree on the number of items. Copy the export again.")
    if not summary.table:
        raise ExportDamaged(f"{folder / SUMMARY} names no table. Copy the export again.")
    return summary, entries


def files_manifest(folder: Path, summary: Summary) -> Path:
    """Path of the files manifest: only the last component of its bucket key counts."""
    return folder / Path(summary.manifest_files_s3_key).name


def read_file(path: Path) -> bytes:
    """The content of a required file of an export."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ExportDamaged(f"{path} is missing. Copy the export again, or make a new one.", path=str(path)) from None
    except OSError as error:
        raise ExportDamaged(
            f"{path} cannot be read ({error.strerror}). Check its permissions and the disk.", path=str(path)
        ) from error


def decoded(path: Path, content: bytes, kind: type[T]) -> T:
    """Decode JSON to a struct; raises `ExportDamaged`."""
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.DecodeError as error:
        raise ExportDamaged(f"{path} cannot be decoded: {error}. Copy the export again.", path=str(path)) from error


def _checked(path: Path) -> bytes:
    content = read_file(path)
    candidates = [path.with_suffix(suffix) for suffix in _CHECKSUM_SUFFIXES]
    checksum = next((candidate for candidate in candidates if candidate.exists()), candidates[0])
    if read_file(checksum).strip() != _checksum(content):
        raise ExportDamaged(
            f"{path} does not have the checksum in {checksum.name}. Copy the export again.", path=str(path)
        )
    return content
