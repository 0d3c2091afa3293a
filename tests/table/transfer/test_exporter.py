"""Exports: the files they write, the folders they refuse, and how they are resumed or repeated."""

import errno
import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from base64 import b64encode
from hashlib import md5, sha256
from pathlib import Path
from random import Random

import pytest
from msgspec import structs

from tests.support.manual_clock import ManualClock
from tests.table.transfer.sample_items import CURTAINS, FURNITURE, fill, items_for, lines_of, start_backend
from zataku.table import BadInput, StoreFull
from zataku.table.backend.table_schema import KeyAttribute, TableSchema
from zataku.table.embedded import EmbeddedBackend
from zataku.table.strict.strict_backend import Faults, StrictBackend
from zataku.table.transfer import TransferredTable, export_store, import_store, open_export
from zataku.table.transfer.atomic_files import PathLock
from zataku.table.transfer.export_record import ExportRecord, TableRecord, read_record

BOTH = (FURNITURE, CURTAINS)


def exported_lines(folder: Path, table: TableSchema) -> list[bytes]:
    parts = sorted((folder / table.name / "data").glob("*.json.gz"))
    return sorted(line for part in parts for line in gzip.decompress(part.read_bytes()).splitlines())


def file_contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_every_item_is_in_the_parts_of_its_table(source_store: EmbeddedBackend, folder: Path, clock: ManualClock):
    exported = await export_store(source_store, BOTH, folder, clock=clock, part_bytes=20_000, page_items=50)
    assert exported_lines(folder, FURNITURE) == lines_of(items_for(FURNITURE, 300))
    assert exported_lines(folder, CURTAINS) == lines_of(items_for(CURTAINS, 40))
    sizes = [sum(len(line) + 1 for line in exported_lines(folder, table)) for table in BOTH]
    assert exported.tables == (
        TransferredTable("FurnitureOfARoom", 300, sizes[0]),
        TransferredTable("CurtainsByNumber", 40, sizes[1]),
    )
    assert len(open_export(folder).tables["FurnitureOfARoom"].parts) > 3


async def test_the_manifests_have_the_format_of_an_export_to_s3(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock, part_bytes=20_000, page_items=50)
    table = folder / "FurnitureOfARoom"
    for name in ("manifest-summary", "manifest-files"):
        content = (table / f"{name}.json").read_bytes()
        assert (table / f"{name}.md5").read_bytes() == b64encode(md5(content).digest())
    summary = json.loads((table / "manifest-summary.json").read_bytes())
    assert summary["version"] == "2020-06-30"
    assert summary["tableArn"].endswith(":table/FurnitureOfARoom")
    assert summary["outputFormat"] == "DYNAMODB_JSON"
    assert summary["manifestFilesS3Key"] == "FurnitureOfARoom/manifest-files.json"
    assert summary["itemCount"] == 300
    assert summary["startTime"] == "2026-01-01T00:00:00.000Z"
    entries = [json.loads(line) for line in (table / "manifest-files.json").read_bytes().splitlines()]
    assert sum(entry["itemCount"] for entry in entries) == 300
    for entry in entries:
        content = (folder / entry["dataFileS3Key"]).read_bytes()
        assert entry["md5Checksum"] == b64encode(md5(content).digest()).decode()
        lines = gzip.decompress(content).splitlines()
        assert entry["itemCount"] == len(lines)
        assert all(json.loads(line).keys() == {"Item"} for line in lines)


async def test_the_export_record_names_its_source_and_tables(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock)
    record = json.loads((folder / "zataku-export.json").read_bytes())
    assert (record["format"], record["version"], record["state"]) == ("zataku-export", 1, "complete")
    assert [table["schema"]["name"] for table in record["tables"]] == ["FurnitureOfARoom", "CurtainsByNumber"]
    assert [table["items"] for table in record["tables"]] == [300, 40]
    assert record["facts"]["file"] == (await source_store.facts())["file"]
    assert (await source_store.secret()).hex() not in json.dumps(record)
    parts = [json.loads(line) for line in (folder / "CurtainsByNumber/zataku-parts.jsonl").read_bytes().splitlines()]
    for part in parts:
        content = (folder / "CurtainsByNumber/data" / part["file"]).read_bytes()
        assert part["sha256"] == sha256(content).hexdigest()


async def test_an_empty_table_has_an_empty_part(target_store: EmbeddedBackend, folder: Path, clock: ManualClock):
    exported = await export_store(target_store, [CURTAINS], folder, clock=clock)
    assert exported.tables == (TransferredTable("CurtainsByNumber", 0, 0),)
    assert [part.items for part in open_export(folder).tables["CurtainsByNumber"].parts] == [0]


async def test_repeating_a_complete_export_changes_nothing(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    first = await export_store(source_store, BOTH, folder, clock=clock)
    before = file_contents(folder)
    await clock.advance(60)
    second = await export_store(source_store, BOTH, folder, clock=clock)
    assert (first.was_complete, second.was_complete) == (False, True)
    assert second.tables == first.tables
    assert file_contents(folder) == before


async def test_a_complete_export_is_replaced_on_request(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock, part_bytes=5_000, page_items=20)
    items = items_for(FURNITURE, 310)
    await fill(source_store, FURNITURE, items)
    exported = await export_store(source_store, BOTH, folder, clock=clock, again=True)
    assert not exported.was_complete
    assert exported_lines(folder, FURNITURE) == lines_of(items)


async def test_parallel_segments_export_every_item_once(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, [FURNITURE], folder, clock=clock, segments=4, page_items=10, part_bytes=4_000)
    assert exported_lines(folder, FURNITURE) == lines_of(items_for(FURNITURE, 300))
    segments = {part.path.name[:4] for part in open_export(folder).tables["FurnitureOfARoom"].parts}
    assert segments == {"0000", "0001", "0002", "0003"}


async def test_a_store_that_throttles_and_returns_short_pages_is_exported_completely(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    strict = StrictBackend(source_store, random=Random(3), faults=Faults(throttle=0.2, short_page=0.5))
    await export_store(strict, BOTH, folder, clock=clock, page_items=30, part_bytes=4_000)
    assert min(strict.injected["throttle"], strict.injected["short_page"]) > 0
    assert exported_lines(folder, FURNITURE) == lines_of(items_for(FURNITURE, 300))
    assert exported_lines(folder, CURTAINS) == lines_of(items_for(CURTAINS, 40))


async def test_progress_reports_the_items_of_each_table(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    reports: list[tuple[str, int, int | None, int]] = []
    await export_store(
        source_store, BOTH, folder, clock=clock, page_items=100, progress=lambda *report: reports.append(report)
    )
    furniture = [report for report in reports if report[0] == "FurnitureOfARoom"]
    assert [items for _, items, _, _ in furniture][:4] == [0, 100, 200, 300]
    assert furniture[-1][3] == sum(len(line) + 1 for line in exported_lines(folder, FURNITURE))
    assert all(total is None or total >= items for _, items, total, _ in reports)
    assert reports[-1][:2] == ("CurtainsByNumber", 40)


async def test_a_folder_with_other_files_is_refused(source_store: EmbeddedBackend, folder: Path, clock: ManualClock):
    folder.mkdir()
    (folder / "letters.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"letters\.txt"):
        await export_store(source_store, BOTH, folder, clock=clock)
    assert file_contents(folder) == {"letters.txt": b"mine"}


async def test_an_export_of_other_tables_or_another_store_is_not_overwritten(
    source_store: EmbeddedBackend, target_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock)
    before = file_contents(folder)
    with pytest.raises(BadInput, match="other tables"):
        await export_store(source_store, [FURNITURE], folder, clock=clock)
    with pytest.raises(BadInput, match="another store"):
        await export_store(target_store, BOTH, folder, clock=clock)
    assert file_contents(folder) == before


async def test_replacing_an_export_refuses_to_delete_an_unknown_file(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock)
    (folder / "FurnitureOfARoom" / "letters.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"letters\.txt"):
        await export_store(source_store, BOTH, folder, clock=clock, again=True)
    assert (folder / "FurnitureOfARoom" / "letters.txt").read_text() == "mine"


async def test_resuming_an_export_refuses_to_delete_an_unknown_file(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    def stop(table: str, items: int, total: int | None, size: int) -> None:
        if items > 100:
            raise KeyError("power cut")

    with pytest.raises(KeyError):
        await export_store(source_store, BOTH, folder, clock=clock, page_items=20, part_bytes=1, progress=stop)
    unknown_file = folder / "FurnitureOfARoom" / "data" / "letters.txt"
    unknown_file.write_text("mine")
    with pytest.raises(BadInput, match=r"letters\.txt"):
        await export_store(source_store, BOTH, folder, clock=clock)
    assert unknown_file.read_text() == "mine"
    unknown_file.unlink()
    assert (await export_store(source_store, BOTH, folder, clock=clock)).resumed


async def test_resuming_an_export_deletes_a_part_missing_from_the_journal(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    def stop(table: str, items: int, total: int | None, size: int) -> None:
        if items > 100:
            raise KeyError("power cut")

    with pytest.raises(KeyError):
        await export_store(source_store, BOTH, folder, clock=clock, page_items=20, part_bytes=1, progress=stop)
    orphan = folder / "FurnitureOfARoom" / "data" / "0000-000099.json.gz"
    orphan.write_bytes(gzip.compress(b'{"Item":{"PK":{"S":"a"},"SK":{"S":"b"}}}\n'))
    assert (await export_store(source_store, BOTH, folder, clock=clock)).resumed
    assert not orphan.exists()
    assert exported_lines(folder, FURNITURE) == lines_of(items_for(FURNITURE, 300))


async def test_an_export_killed_while_clearing_the_previous_one_starts_over(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock)
    record = read_record(folder)
    assert record is not None
    structs.replace(record, state="clearing").write(folder)
    (folder / "FurnitureOfARoom" / "manifest-files.json").unlink()
    exported = await export_store(source_store, BOTH, folder, clock=clock)
    assert (exported.was_complete, exported.resumed) == (False, False)
    assert exported_lines(folder, FURNITURE) == lines_of(items_for(FURNITURE, 300))
    assert (await export_store(source_store, BOTH, folder, clock=clock)).was_complete


async def test_a_path_that_cannot_be_written_is_refused(
    source_store: EmbeddedBackend, tmp_path: Path, clock: ManualClock
):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(BadInput, match="cannot be written"):
        await export_store(source_store, BOTH, tmp_path / "file" / "export", clock=clock)


async def test_an_export_stopped_by_a_full_disk_resumes_once_there_is_space(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
):
    writes_left = 30
    real_fsync = os.fsync

    def fsync(descriptor: int) -> None:
        nonlocal writes_left
        writes_left -= 1
        if writes_left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        real_fsync(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync)
        with pytest.raises(StoreFull, match="Free some space"):
            await export_store(source_store, BOTH, folder, clock=clock, page_items=20, part_bytes=1)
    assert (await export_store(source_store, BOTH, folder, clock=clock)).resumed
    assert exported_lines(folder, FURNITURE) == lines_of(items_for(FURNITURE, 300))


def test_transfers_do_not_import_botocore():
    program = "import sys, zataku.table.transfer; sys.exit('botocore' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


async def test_a_crafted_export_record_cannot_delete_other_folders(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    (folder.parent / "precious").mkdir()
    folder.mkdir()
    crafted = TableRecord(TableSchema("../precious", KeyAttribute("PK")))
    ExportRecord(started=0.0, source="", facts={}, segments=1, tables=(crafted,)).write(folder)
    with pytest.raises(BadInput, match="name of a table"):
        await export_store(source_store, BOTH, folder, clock=clock, again=True)
    assert (folder.parent / "precious").exists()


async def test_an_export_into_a_folder_that_is_in_use_is_refused(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    folder.mkdir()
    lock = PathLock(folder, shared=False).acquire()
    with pytest.raises(BadInput, match="is running"):
        await export_store(source_store, BOTH, folder, clock=clock)
    lock.release()
    assert file_contents(folder) == {}


@pytest.mark.parametrize("name", ["..", "a/b/c", "no", "with space"])
async def test_a_table_name_that_is_not_a_valid_folder_name_is_refused(
    name: str, source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    with pytest.raises(BadInput, match="name of a table"):
        await export_store(source_store, [TableSchema(name, KeyAttribute("PK"))], folder, clock=clock)


async def test_export_and_import_hold_pages_in_memory_and_never_a_table(
    tmp_path: Path, folder: Path, clock: ManualClock
):
    store = await start_backend(tmp_path / "large.db", [CURTAINS])
    other = await start_backend(tmp_path / "other.db", [CURTAINS])
    await fill(store, CURTAINS, [{"number": at, "filling": f"{at:03d} " * 75_000} for at in range(150)])
    tracemalloc.start()
    try:
        exported = await export_store(store, [CURTAINS], folder, clock=clock, part_bytes=8 << 20)
        growth = {"export": tracemalloc.get_traced_memory()[1]}

        def phase(name: str) -> None:
            current, peak = tracemalloc.get_traced_memory()
            growth[name] = peak - current
            tracemalloc.reset_peak()

        await import_store(other, [CURTAINS], folder, phase=phase)
        phase("end")
    finally:
        tracemalloc.stop()
        await store.close()
        await other.close()
    assert exported.tables[0].bytes > 45_000_000
    # The growth of a phase is recorded when the next one starts; the store caches some of what is written to it.
    assert growth["export"] < 16_000_000
    assert growth["write"] < 16_000_000
    assert growth["verify"] < 32_000_000
    assert growth["end"] < 16_000_000
