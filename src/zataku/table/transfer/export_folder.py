"""The folder of a running export: preparation, resumption, parts and completion."""

import re
import shutil
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, structs

from zataku.table.backend.errors import BadInput
from zataku.table.backend.table_schema import TableSchema
from zataku.table.transfer.atomic_files import Journal, final_name, write_errors
from zataku.table.transfer.dynamodb_json import ItemChecksum
from zataku.table.transfer.export_reader import read_part_records
from zataku.table.transfer.export_record import PARTS_JOURNAL, RECORD_FILE, ExportRecord, TableRecord, read_record
from zataku.table.transfer.manifest import FILES, PARTS_FOLDER, SUMMARY, read_file, write_manifests

# DynamoDB's rule for table names, which makes them safe folder names.
_TABLE_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
_PART_FILE = re.compile(r"[0-9]{4,}-[0-9]{6,}\.json\.gz")


class ExportFolder(Struct, frozen=True):
    """A running or complete export. Its methods block: call them in threads."""

    folder: Path
    record: ExportRecord
    was_complete: bool = False
    resumed: bool = False

    def journal(self, table: TableSchema) -> Journal:
        """The journal of finished parts of a table. Deletes unfinished files of an interrupted run."""
        folder = self.folder / table.name
        with write_errors(folder):
            (folder / PARTS_FOLDER).mkdir(parents=True, exist_ok=True)
        _require_own_files(folder)
        finished = {part.file for part in read_part_records(folder / PARTS_JOURNAL)}
        for path in (folder / PARTS_FOLDER).iterdir():
            if path.name not in finished:
                path.unlink()
        return Journal(folder / PARTS_JOURNAL)

    def part_path(self, table: TableSchema, segment: int, number: int) -> Path:
        """Path of a part."""
        return self.folder / table.name / PARTS_FOLDER / f"{segment:04d}-{number:06d}.json.gz"

    def completed(self, now: float) -> "ExportFolder":
        """Write the manifests, then mark the export as complete."""
        tables = tuple(self._table_record(table.schema, now) for table in self.record.tables)
        record = structs.replace(self.record, state="complete", finished=now, tables=tables)
        record.write(self.folder)
        return structs.replace(self, record=record)

    def _table_record(self, table: TableSchema, now: float) -> TableRecord:
        folder = self.folder / table.name
        parts = read_part_records(folder / PARTS_JOURNAL)
        checksum = ItemChecksum()
        for part in parts:
            checksum.merge(ItemChecksum(part.items, part.digest))
        started = self.record.started
        digest = sha256(f"{self.record.source} {table.name} {started}".encode()).hexdigest()
        identity = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
        write_manifests(folder, table.name, parts, identity=identity, started=started, ended=now)
        journal = sha256(read_file(folder / PARTS_JOURNAL)).hexdigest()
        return TableRecord(table, checksum.items, sum(part.text for part in parts), checksum.digest, journal)


def prepare_export_folder(
    folder: Path,
    tables: Sequence[TableSchema],
    source: str,
    facts: Mapping[str, str],
    now: float,
    segments: int,
    *,
    again: bool,
) -> ExportFolder:
    """Start an export in the folder, resume one, or find it complete. Raises `BadInput` for any other folder."""
    _check_table_names(tables)
    if segments < 1:
        raise BadInput("An export needs at least one segment. Give 1 or more.")
    record = read_record(folder)
    if record is None:
        _require_empty(folder)
    elif again or record.state == "clearing":
        _clear(folder, record)
    else:
        _require_same_export(folder, record, tables, source)
        return ExportFolder(folder, record, was_complete=record.state == "complete", resumed=record.state == "running")
    record = ExportRecord(
        started=now, source=source, facts=dict(facts), segments=segments, tables=tuple(map(TableRecord, tables))
    )
    record.write(folder)
    return ExportFolder(folder, record)


def _check_table_names(tables: Sequence[TableSchema]) -> None:
    names = [table.name for table in tables]
    if not names or len(set(names)) != len(names):
        raise BadInput("Name the tables to export, each of them once.")
    for name in names:
        if not _TABLE_NAME.fullmatch(name):
            raise BadInput(f"{name!r} cannot be the name of a table: use 3 to 255 letters, digits, '_', '-' and '.'.")


def _require_empty(folder: Path) -> None:
    foreign = sorted(path.name for path in folder.iterdir() if final_name(path.name) != RECORD_FILE)
    if foreign:
        raise BadInput(
            f"{folder} holds files that are not part of an export ({foreign[0]}). Give an empty or a new folder.",
            path=str(folder),
        )


def _require_same_export(folder: Path, record: ExportRecord, tables: Sequence[TableSchema], source: str) -> None:
    if record.source != source:
        raise BadInput(f"{folder} holds an export of another store. Give an empty folder.", path=str(folder))
    if {table.name: table for table in record.schemas} != {table.name: table for table in tables}:
        names = ", ".join(table.name for table in record.schemas)
        raise BadInput(
            f"{folder} holds an export of other tables, or of other designs ({names}). Give an empty folder.",
            path=str(folder),
        )


def _clear(folder: Path, record: ExportRecord) -> None:
    """Delete an export. The record is marked first, so that a crash leaves no half-valid export."""
    _check_table_names(record.schemas)
    table_folders = [folder / table.name for table in record.schemas if (folder / table.name).exists()]
    for table_folder in table_folders:
        _require_own_files(table_folder)
    structs.replace(record, state="clearing").write(folder)
    with write_errors(folder):
        for table_folder in table_folders:
            shutil.rmtree(table_folder)


def _require_own_files(folder: Path) -> None:
    own_names = {PARTS_JOURNAL, PARTS_FOLDER}
    for name in (SUMMARY, FILES):
        own_names |= {name, Path(name).with_suffix(".md5").name}
    foreign = [path for path in folder.iterdir() if final_name(path.name) not in own_names]
    if (folder / PARTS_FOLDER).exists():
        parts = (folder / PARTS_FOLDER).iterdir()
        foreign += [path for path in parts if not _PART_FILE.fullmatch(final_name(path.name))]
    if foreign:
        raise BadInput(f"{foreign[0]} is not part of an export. Move it elsewhere first.", path=str(foreign[0]))
