"""Discovery of exports in a folder: our own, or those that Amazon DynamoDB writes to S3."""

from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from zataku.table.backend.errors import ExportDamaged
from zataku.table.backend.table_schema import TableSchema
from zataku.table.transfer.atomic_files import read_complete_lines
from zataku.table.transfer.export_record import PARTS_JOURNAL, RECORD_FILE, TableRecord, read_record
from zataku.table.transfer.manifest import (
    FILES,
    PARTS_FOLDER,
    SUMMARY,
    FileEntry,
    files_manifest,
    read_file,
    read_manifests,
)
from zataku.table.transfer.parts import Part, PartRecord

# The folder itself, one folder per table, AWSDynamoDB/<id>, and the same below a prefix.
_MANIFEST_DEPTHS = ("", "*/", "*/*/", "*/*/*/")


class ExportedTable(Struct, frozen=True):
    """A table of an export. `schema` and `digest` are known for our own exports."""

    name: str
    parts: tuple[Part, ...]
    items: int
    schema: TableSchema | None = None
    digest: str | None = None


class ExportContents(Struct, frozen=True):
    """An export with valid manifests. `identity` differs between exports."""

    folder: Path
    identity: str
    tables: dict[str, ExportedTable]


def open_export(folder: Path) -> ExportContents:
    """Read the manifests of an export and check that every part exists. Blocks: call it in a thread."""
    if not folder.is_dir():
        raise ExportDamaged(f"{folder} is not a folder. Name the folder of an export.", path=str(folder))
    record = read_record(folder)
    if record is None:
        return _foreign_export(folder)
    if record.state != "complete":
        raise ExportDamaged(
            f"The export in {folder} is not finished. Run the export again: it continues where it stopped.",
            path=str(folder),
        )
    return ExportContents(
        folder, record.seal, {table.schema.name: _own_table(folder, table) for table in record.tables}
    )


def _own_table(folder: Path, table: TableRecord) -> ExportedTable:
    name = table.schema.name
    path = folder / name / PARTS_JOURNAL
    content = read_file(path)
    if sha256(content).hexdigest() != table.parts_sha256:
        raise ExportDamaged(f"{path} was changed after the export. Copy the export again.", path=str(path))
    records = read_part_records(path)
    summary, entries = read_manifests(folder / name)
    listed = [(entry.data_file_s3_key, entry.item_count, entry.md5_checksum) for entry in entries]
    if listed != [(f"{name}/{PARTS_FOLDER}/{part.file}", part.items, part.md5) for part in records]:
        raise ExportDamaged(f"{folder / name / FILES} and {PARTS_JOURNAL} disagree. Copy the export again.")
    if summary.table != name or summary.item_count != table.items:
        raise ExportDamaged(f"{folder / name / SUMMARY} and {RECORD_FILE} disagree. Copy the export again.")
    parts = [
        Part(folder / name / PARTS_FOLDER / part.file, part.items, part.md5, part.size, part.sha256, part.digest)
        for part in records
    ]
    return ExportedTable(name, _require_files(parts), table.items, table.schema, table.digest)


def read_part_records(path: Path) -> list[PartRecord]:
    """The parts in a journal, ordered by segment and number."""
    try:
        records = [msgspec.json.decode(line, type=PartRecord) for line in read_complete_lines(path)]
    except msgspec.DecodeError as error:
        raise ExportDamaged(f"{path} cannot be decoded: {error}. Copy the export again.", path=str(path)) from error
    return sorted(records, key=lambda part: part.file)


def _foreign_export(folder: Path) -> ExportContents:
    summaries = [path for depth in _MANIFEST_DEPTHS for path in sorted(folder.glob(depth + SUMMARY))]
    if not summaries:
        raise ExportDamaged(
            f"{folder} holds no export: there is no {RECORD_FILE} and no {SUMMARY}. Name the folder of an export.",
            path=str(folder),
        )
    tables: dict[str, ExportedTable] = {}
    identity = sha256()
    for path in summaries:
        summary, entries = read_manifests(path.parent)
        if summary.table in tables:
            raise ExportDamaged(f"{folder} holds two exports of {summary.table}. Name the folder of one of them.")
        identity.update(read_file(path) + read_file(files_manifest(path.parent, summary)))
        parts = [_foreign_part(path.parent, entry) for entry in entries]
        tables[summary.table] = ExportedTable(summary.table, _require_files(parts), summary.item_count)
    return ExportContents(folder, identity.hexdigest(), tables)


def _foreign_part(folder: Path, entry: FileEntry) -> Part:
    # A key is a path in the bucket, which may be copied anywhere: only its last component counts.
    return Part(folder / PARTS_FOLDER / Path(entry.data_file_s3_key).name, entry.item_count, entry.md5_checksum)


def _require_files(parts: list[Part]) -> tuple[Part, ...]:
    for part in parts:
        if not part.path.is_file():
            raise ExportDamaged(f"{part.path} is missing. Copy the export again, or make a new one.")
        if part.size is not None and part.path.stat().st_size != part.size:
            raise part.damaged("does not have the length of its manifest")
    return tuple(parts)
