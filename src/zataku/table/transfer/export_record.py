"""The top file of our own exports: which tables, whose, when, and whether it is complete."""

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

TOP = "zataku-export.json"
PARTS = "zataku-parts.jsonl"
_FORMAT = "zataku-export"
_VERSION = 1

State: TypeAlias = Literal["running", "complete", "clearing"]


class TableRecord(Struct, frozen=True):
    """One table of an export. The sums are there when it is complete."""

    schema: TableSchema
    items: int = 0
    bytes: int = 0
    digest: str = ""
    parts_sha256: str = ""


class ExportRecord(Struct, frozen=True, kw_only=True):
    """What an export is. `seal` is the SHA-256 of all the rest."""

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
        """The tables as they were."""
        return tuple(table.schema for table in self.tables)

    def write(self, folder: Path) -> None:
        """Put it into the export's folder, sealed."""
        sealed = structs.replace(self, seal=_seal(self))
        write_atomically(folder / TOP, msgspec.json.format(msgspec.json.encode(sealed), indent=1) + b"\n")


def _seal(record: ExportRecord) -> str:
    return sha256(msgspec.json.encode(structs.replace(record, seal=""))).hexdigest()


def read_record(folder: Path) -> ExportRecord | None:
    """The top file of a folder; None when there is none. Refuses one that somebody has changed."""
    path = folder / TOP
    if not path.exists():
        return None
    record = decoded(path, read_file(path), ExportRecord)
    if record.format != _FORMAT or record.version != _VERSION:
        raise ExportDamaged(
            f"{path} is of version {record.version}, and this program knows {_VERSION} only. Use a newer program."
        )
    if record.seal != _seal(record):
        raise ExportDamaged(f"{path} was changed after the export. Copy the export again.", path=str(path))
    return record


async def store_identity(backend: Backend) -> str:
    """Which store this is: made from its secret, and telling nothing of it."""
    return blake2b(b"moving", key=await backend.secret(), digest_size=16).hexdigest()
