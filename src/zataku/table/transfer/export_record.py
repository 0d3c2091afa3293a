"""The record file of our own exports: tables, source store, times and state."""

from hashlib import blake2b, sha256
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct, structs

from zataku.table.backend.errors import ExportDamaged
from zataku.table.backend.port import Backend
from zataku.table.backend.table_schema import TableSchema
from zataku.table.transfer.atomic_files import write_atomically
from zataku.table.transfer.manifest import decoded, read_file

RECORD_FILE = "zataku-export.json"
PARTS_JOURNAL = "zataku-parts.jsonl"
_FORMAT = "zataku-export"
_VERSION = 1

State: TypeAlias = Literal["running", "complete", "clearing"]


class TableRecord(Struct, frozen=True):
    """One table of an export. The totals are set when it is complete."""

    schema: TableSchema
    items: int = 0
    bytes: int = 0
    digest: str = ""
    parts_sha256: str = ""


class ExportRecord(Struct, frozen=True, kw_only=True):
    """State of an export. `seal` is the SHA-256 of all other fields."""

    format: str = _FORMAT
    version: int = _VERSION
    state: State = "running"
    started: float
    finished: float | None = None
    source: str
    facts: dict[str, str]
    segments: int
    tables: tuple[TableRecord, ...]
    seal: str = ""

    @property
    def schemas(self) -> tuple[TableSchema, ...]:
        """The exported schemas."""
        return tuple(table.schema for table in self.tables)

    def write(self, folder: Path) -> None:
        """Write it into the export's folder, sealed."""
        sealed = structs.replace(self, seal=_seal(self))
        write_atomically(folder / RECORD_FILE, msgspec.json.format(msgspec.json.encode(sealed), indent=1) + b"\n")


def _seal(record: ExportRecord) -> str:
    return sha256(msgspec.json.encode(structs.replace(record, seal=""))).hexdigest()


def read_record(folder: Path) -> ExportRecord | None:
    """The record of a folder; None when there is none. Raises `ExportDamaged` for a modified one."""
    path = folder / RECORD_FILE
    if not path.exists():
        return None
    record = decoded(path, read_file(path), ExportRecord)
    if record.format != _FORMAT or record.version != _VERSION:
        raise ExportDamaged(
            f"{path} has version {record.version}, but this program reads version {_VERSION} only. Use a newer program."
        )
    if record.seal != _seal(record):
        raise ExportDamaged(f"{path} was changed after the export. Copy the export again.", path=str(path))
    return record


async def store_identity(backend: Backend) -> str:
    """Identifier of a store, derived from its secret without revealing it."""
    return blake2b(b"moving", key=await backend.secret(), digest_size=16).hexdigest()
