"""Moving out: what lies in the folder, what is refused, what is done twice."""

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

from tests.table.transfer.sample_items import CURTAINS, FURNITURE, fill, items_for, lines_of, start_backend
from zataku.clock import ManualClock
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


def tree(folder: Path) -> dict[str, bytes]:
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


async def test_the_manifests_are_those_of_an_export_to_s3(
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


async def test_the_top_file_tells_whose_export_it_is_and_of_what(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock)
    top = json.loads((folder / "zataku-export.json").read_bytes())
    assert (top["format"], top["version"], top["state"]) == ("zataku-export", 1, "complete")
    assert [table["schema"]["name"] for table in top["tables"]] == ["FurnitureOfARoom", "CurtainsByNumber"]
    assert [table["items"] for table in top["tables"]] == [300, 40]
    assert top["facts"]["file"] == (await source_store.facts())["file"]
    assert (await source_store.secret()).hex() not in json.dumps(top)
    parts = [json.loads(line) for line in (folder / "CurtainsByNumber/zataku-parts.jsonl").read_bytes().splitlines()]
    for part in parts:
        content = (folder / "CurtainsByNumber/data" / part["file"]).read_bytes()
        assert part["sha256"] == sha256(content).hexdigest()


async def test_an_empty_table_has_an_empty_part(target_store: EmbeddedBackend, folder: Path, clock: ManualClock):
    exported = await export_store(target_store, [CURTAINS], folder, clock=clock)
    assert exported.tables == (TransferredTable("CurtainsByNumber", 0, 0),)
    assert [part.items for part in open_export(folder).tables["CurtainsByNumber"].parts] == [0]


async def test_a_complete_export_is_left_alone(source_store: EmbeddedBackend, folder: Path, clock: ManualClock):
    first = await export_store(source_store, BOTH, folder, clock=clock)
    before = tree(folder)
    await clock.advance(60)
    second = await export_store(source_store, BOTH, folder, clock=clock)
    assert (first.already, second.already) == (False, True)
    assert second.tables == first.tables
    assert tree(folder) == before


async def test_a_complete_export_is_made_anew_when_told_so(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock, part_bytes=5_000, page_items=20)
    more = items_for(FURNITURE, 310)
    await fill(source_store, FURNITURE, more)
    exported = await export_store(source_store, BOTH, folder, clock=clock, again=True)
    assert not exported.already
    assert exported_lines(folder, FURNITURE) == lines_of(more)


async def test_segments_side_by_side_give_every_item_once(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, [FURNITURE], folder, clock=clock, segments=4, page_items=10, part_bytes=4_000)
    assert exported_lines(folder, FURNITURE) == lines_of(items_for(FURNITURE, 300))
    segments = {part.path.name[:4] for part in open_export(folder).tables["FurnitureOfARoom"].parts}
    assert segments == {"0000", "0001", "0002", "0003"}


async def test_a_busy_store_with_short_pages_is_exported_whole(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    strict = StrictBackend(source_store, random=Random(3), faults=Faults())
    await export_store(strict, BOTH, folder, clock=clock, page_items=30, part_bytes=4_000)
    assert exported_lines(folder, FURNITURE) == lines_of(items_for(FURNITURE, 300))
    assert exported_lines(folder, CURTAINS) == lines_of(items_for(CURTAINS, 40))


async def test_progress_tells_how_far_each_table_is(source_store: EmbeddedBackend, folder: Path, clock: ManualClock):
    told: list[tuple[str, int, int | None, int]] = []
    await export_store(
        source_store, BOTH, folder, clock=clock, page_items=100, progress=lambda *words: told.append(words)
    )
    furniture = [words for words in told if words[0] == "FurnitureOfARoom"]
    assert [words[1] for words in furniture][:4] == [0, 100, 200, 300]
    assert furniture[-1][3] == sum(len(line) + 1 for line in exported_lines(folder, FURNITURE))
    assert all(words[2] is None or words[2] >= words[1] for words in told)
    assert told[-1][:2] == ("CurtainsByNumber", 40)


async def test_a_folder_with_something_else_in_it_is_refused(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    folder.mkdir()
    (folder / "letters.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"letters\.txt"):
        await export_store(source_store, BOTH, folder, clock=clock)
    assert tree(folder) == {"letters.txt": b"mine"}


async def test_an_export_of_other_tables_or_another_store_is_not_touched(
    source_store: EmbeddedBackend, target_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock)
    before = tree(folder)
    with pytest.raises(BadInput, match="other tables"):
        await export_store(source_store, [FURNITURE], folder, clock=clock)
    with pytest.raises(BadInput, match="another store"):
        await export_store(target_store, BOTH, folder, clock=clock)
    assert tree(folder) == before


async def test_a_stranger_among_the_parts_is_not_thrown_away(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock)
    (folder / "FurnitureOfARoom" / "letters.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"letters\.txt"):
        await export_store(source_store, BOTH, folder, clock=clock, again=True)
    assert (folder / "FurnitureOfARoom" / "letters.txt").read_text() == "mine"


async def test_a_stranger_among_the_parts_of_an_unfinished_export_stays_too(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    def stop(table: str, items: int, total: int | None, size: int) -> None:
        if items > 100:
            raise KeyError("power cut")

    with pytest.raises(KeyError):
        await export_store(source_store, BOTH, folder, clock=clock, page_items=20, part_bytes=1, progress=stop)
    letter = folder / "FurnitureOfARoom" / "data" / "letters.txt"
    letter.write_text("mine")
    with pytest.raises(BadInput, match=r"letters\.txt"):
        await export_store(source_store, BOTH, folder, clock=clock)
    assert letter.read_text() == "mine"
    letter.unlink()
    assert (await export_store(source_store, BOTH, folder, clock=clock)).resumed


async def test_a_part_that_no_journal_names_does_not_stay(
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


async def test_a_new_export_that_was_killed_while_the_old_one_was_thrown_away_begins_anew(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    await export_store(source_store, BOTH, folder, clock=clock)
    record = read_record(folder)
    assert record is not None
    structs.replace(record, state="clearing").write(folder)
    (folder / "FurnitureOfARoom" / "manifest-files.json").unlink()
    exported = await export_store(source_store, BOTH, folder, clock=clock)
    assert (exported.already, exported.resumed) == (False, False)
    assert exported_lines(folder, FURNITURE) == lines_of(items_for(FURNITURE, 300))
    assert (await export_store(source_store, BOTH, folder, clock=clock)).already


async def test_a_place_that_cannot_be_written_to_is_named(
    source_store: EmbeddedBackend, tmp_path: Path, clock: ManualClock
):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(BadInput, match="cannot be written"):
        await export_store(source_store, BOTH, tmp_path / "file" / "export", clock=clock)


async def test_a_full_disk_stops_an_export_that_goes_on_when_there_is_room(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
):
    room = [30]
    flush = os.fsync

    def fsync(descriptor: int) -> None:
        room[0] -= 1
        if room[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync)
        with pytest.raises(StoreFull, match="Free some space"):
            await export_store(source_store, BOTH, folder, clock=clock, page_items=20, part_bytes=1)
    assert (await export_store(source_store, BOTH, folder, clock=clock)).resumed
    assert exported_lines(folder, FURNITURE) == lines_of(items_for(FURNITURE, 300))


def test_moving_needs_no_library_for_dynamodb():
    program = "import sys, zataku.table.transfer; sys.exit('botocore' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


async def test_a_crafted_export_cannot_make_us_throw_away_other_folders(
    source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    (folder.parent / "precious").mkdir()
    folder.mkdir()
    crafted = TableRecord(TableSchema("../precious", KeyAttribute("PK")))
    ExportRecord(started=0.0, source="", facts={}, segments=1, tables=(crafted,)).write(folder)
    with pytest.raises(BadInput, match="name of a table"):
        await export_store(source_store, BOTH, folder, clock=clock, again=True)
    assert (folder.parent / "precious").exists()


async def test_two_exports_do_not_share_a_folder(source_store: EmbeddedBackend, folder: Path, clock: ManualClock):
    folder.mkdir()
    lock = PathLock(folder, shared=False).acquire()
    with pytest.raises(BadInput, match="is running"):
        await export_store(source_store, BOTH, folder, clock=clock)
    lock.release()
    assert tree(folder) == {}


@pytest.mark.parametrize("name", ["..", "a/b/c", "no", "with space"])
async def test_a_name_that_is_no_folder_is_refused(
    name: str, source_store: EmbeddedBackend, folder: Path, clock: ManualClock
):
    with pytest.raises(BadInput, match="name of a table"):
        await export_store(source_store, [TableSchema(name, KeyAttribute("PK"))], folder, clock=clock)


async def test_memory_holds_pages_and_never_a_table_out_or_in(tmp_path: Path, folder: Path, clock: ManualClock):
    store = await start_backend(tmp_path / "large.db", [CURTAINS])
    other = await start_backend(tmp_path / "other.db", [CURTAINS])
    await fill(store, CURTAINS, [{"number": at, "filling": f"{at:03d} " * 75_000} for at in range(150)])
    tracemalloc.start()
    try:
        exported = await export_store(store, [CURTAINS], folder, clock=clock, part_bytes=8 << 20)
        grown = [("export", tracemalloc.get_traced_memory()[1])]

        def phase(name: str) -> None:
            at_first, most = tracemalloc.get_traced_memory()
            grown.append((name, most - at_first))
            tracemalloc.reset_peak()

        await import_store(other, [CURTAINS], folder, phase=phase)
        phase("end")
    finally:
        tracemalloc.stop()
        await store.close()
        await other.close()
    assert exported.tables[0].bytes > 45_000_000
    # What a phase took is told by the next one's beginning; the store itself remembers some of what is written to it.
    taken = dict(grown)
    assert taken["export"] < 16_000_000
    assert taken["write"] < 16_000_000
    assert taken["verify"] < 32_000_000
    assert taken["end"] < 16_000_000
