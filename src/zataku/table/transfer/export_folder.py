"""The folder of an export that is being made: what may be there, what is there already, and its completion."""

import re
import shutil
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, structs

from zataku.table.backend.errors import BadInput
from zataku.table.backend.table_schema import TableSchema
from zataku.table.transfer.atomic_files import Journal, finished_name, writing
from zataku.table.transfer.dynamodb_json import ItemChecksum
from zataku.table.transfer.export_reader import read_part_records
from zataku.table.transfer.export_record import PARTS, TOP, ExportRecord, TableRecord, read_record
from zataku.table.transfer.manifest import FILES, PARTS_FOLDER, SUMMARY, read_file, write_manifests

# DynamoDB's own rule for names, which makes them safe as names of folders.
_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
_PART = re.compile(r"[0-9]{4,}-[0-9]{6,}\.json\.gz")


class ExportFolder(Struct, frozen=True):
    """An export under way. All of it is for threads."""

    folder: Path
    record: ExportRecord
    already: bool = False
    resumed: bool = False

    def journal(self, table: TableSchema) -> Journal:
        """The finished parts of a table. What a killed run left unfinished is cleared away."""
        folder = self.folder / table.name
        with writing(folder):
            (folder / PARTS_FOLDER).mkdir(parents=True, exist_ok=True)
        _refuse_strangers(folder)
        known = {part.file for part in read_part_records(folder / PARTS)}
        for path in (folder / PARTS_FOLDER).iterdir():
            if path.name not in known:
                path.unlink()
        return Journal(folder / PARTS)

    def part_path(self, table: TableSchema, segment: int, number: int) -> Path:
        """Where a part goes."""
        return self.folder / table.name / PARTS_FOLDER / f"{segment:04d}-{number:06d}.json.gz"

    def completed(self, now: float) -> "ExportFolder":
        """Write the manifests, and last of all that the export is complete."""
        tables = tuple(self._completed(table.schema, now) for table in self.record.tables)
        record = structs.replace(self.record, state="complete", finished=now, tables=tables)
        record.write(self.folder)
        return structs.replace(self, record=record)

    def _completed(self, table: TableSchema, now: float) -> TableRecord:
        folder = self.folder / table.name
        parts = read_part_records(folder / PARTS)
        checksum = ItemChecksum()
        for part in parts:
            checksum.take(ItemChecksum(part.items, part.digest))
        started = self.record.started
        made_of = sha256(f"{self.record.source} {table.name} {started}".encode()).hexdigest()
        identity = "-".join((made_of[:8], made_of[8:12], made_of[12:16], made_of[16:20], made_of[20:32]))
        write_manifests(folder, table.name, parts, identity=identity, started=started, ended=now)
        journal = sha256(read_file(folder / PARTS)).hexdigest()
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
    """Look at the folder: begin an export, go on with one, or find it complete. Refuses what is none of these."""
    _refuse_names(tables)
    if segments < 1:
        raise BadInput("An export is read in one segment or more.")
    record = read_record(folder)
    if record is None:
        _refuse_others(folder)
    elif again or record.state == "clearing":
        _cleared(folder, record)
    else:
        _refuse_another(folder, record, tables, source)
        return ExportFolder(folder, record, already=record.state == "complete", resumed=record.state == "running")
    fresh = ExportRecord(
        started=now, source=source, facts=dict(facts), segments=segments, tables=tuple(map(TableRecord, tables))
    )
    fresh.write(folder)
    return ExportFolder(folder, fresh)


def _refuse_names(tables: Sequence[TableSchema]) -> None:
    names = [table.name for table in tables]
    if not names or len(set(names)) != len(names):
        raise BadInput("Name the tables to export, each of them once.")
    for name in names:
        if not _NAME.fullmatch(name):
            raise BadInput(f"{name!r} cannot be the name of a table: use 3 to 255 letters, digits, '_', '-' and '.'.")


def _refuse_others(folder: Path) -> None:
    others = sorted(path.name for path in folder.iterdir() if finished_name(path.name) != TOP)
    if others:
        raise BadInput(
            f"{folder} holds something that is no export ({others[0]}). Give an empty or a new folder.",
            path=str(folder),
        )


def _refuse_another(folder: Path, record: ExportRecord, tables: Sequence[TableSchema], source: str) -> None:
    if record.source != source:
        raise BadInput(f"{folder} holds an export of another store. Give an empty folder.", path=str(folder))
    if {each.name: each for each in record.schemas} != {each.name: each for each in tables}:
        names = ", ".join(each.name for each in record.schemas)
        raise BadInput(
            f"{folder} holds an export of other tables, or of other designs of them ({names}). Give an empty folder.",
            path=str(folder),
        )


def _cleared(folder: Path, record: ExportRecord) -> None:
    """Throw an export away. The top file says so first, so that a crash in between leaves nothing half valid."""
    _refuse_names(record.schemas)
    filled = [folder / table.name for table in record.schemas if (folder / table.name).exists()]
    for each in filled:
        _refuse_strangers(each)
    structs.replace(record, state="clearing").write(folder)
    with writing(folder):
        for each in filled:
            shutil.rmtree(each)


def _refuse_strangers(folder: Path) -> None:
    ours = {PARTS, PARTS_FOLDER}
    for name in (SUMMARY, FILES):
        ours |= {name, Path(name).with_suffix(".md5").name}
    strangers = [path for path in folder.iterdir() if finished_name(path.name) not in ours]
    if (folder / PARTS_FOLDER).exists():
        parts = (folder / PARTS_FOLDER).iterdir()
        strangers += [path for path in parts if not _PART.fullmatch(finished_name(path.name))]
    if strangers:
        raise BadInput(f"{strangers[0]} is no part of an export. Move it away first.", path=str(strangers[0]))
