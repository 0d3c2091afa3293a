"""Transfers killed over and over: each run resumes, and the result is that of an undisturbed one."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

from tests.support.manual_clock import ManualClock
from tests.table.transfer.sample_items import CURTAINS, FURNITURE, fill, items_for, lines_in, lines_of, start_backend
from tests.table.transfer.transfer_process import PAGE_ITEMS, PART_BYTES, SEGMENTS, TABLES
from zataku.table.transfer import export_store, open_export
from zataku.table.transfer.atomic_files import read_complete_lines
from zataku.table.transfer.export_reader import read_part_records

ROOT = Path(__file__).parents[3]
FURNITURE_ITEMS, CURTAIN_ITEMS = 2000, 300


def run(direction: str, file: Path, folder: Path, max_lines: int | None) -> bool:
    """Run a transfer in a child and kill it after a number of printed lines; True when it finishes before."""
    command = [sys.executable, "-m", "tests.table.transfer.transfer_process", direction, str(file), str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, bufsize=0) as child:
        assert child.stdout is not None
        printed = 0
        while max_lines is None or printed < max_lines:
            if not child.stdout.readline():
                assert child.wait(30) == 0
                return True
            printed += 1
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait(30) == -signal.SIGKILL
        return False


def finished_parts(folder: Path) -> int:
    """The number of parts in the journals; each of them must exist."""
    count = 0
    for table in TABLES:
        parts = read_part_records(folder / table.name / "zataku-parts.jsonl")
        assert all((folder / table.name / "data" / part.file).stat().st_size == part.size for part in parts)
        count += len(parts)
    return count


async def create_store(path: Path) -> None:
    store = await start_backend(path)
    await fill(store, FURNITURE, items_for(FURNITURE, FURNITURE_ITEMS))
    await fill(store, CURTAINS, items_for(CURTAINS, CURTAIN_ITEMS))
    await store.close()


async def test_an_export_killed_over_and_over_equals_an_undisturbed_one(tmp_path: Path, clock: ManualClock):
    old, folder, undisturbed = tmp_path / "old.db", tmp_path / "export", tmp_path / "undisturbed"
    await create_store(old)
    random = Random(4)
    rounds, counts = 0, [0]
    while not run("export", old, folder, random.randrange(10, 90)):
        rounds += 1
        counts.append(finished_parts(folder))
        assert rounds < 50
    assert rounds >= 4
    assert counts == sorted(counts)
    assert len(set(counts)) > 3
    store = await start_backend(old)
    await export_store(
        store, TABLES, undisturbed, clock=clock, page_items=PAGE_ITEMS, part_bytes=PART_BYTES, segments=SEGMENTS
    )
    await store.close()
    for table in TABLES:
        expected = {path.name: path.read_bytes() for path in (undisturbed / table.name / "data").iterdir()}
        assert {path.name: path.read_bytes() for path in (folder / table.name / "data").iterdir()} == expected
        assert open_export(folder).tables[table.name].digest == open_export(undisturbed).tables[table.name].digest


async def test_a_finished_part_is_never_rewritten(tmp_path: Path):
    old, folder = tmp_path / "old.db", tmp_path / "export"
    await create_store(old)
    assert not run("export", old, folder, 120)
    journal = folder / FURNITURE.name / "zataku-parts.jsonl"
    names = [part.file for part in read_part_records(journal)]
    assert len(names) > 3
    before = {name: (folder / FURNITURE.name / "data" / name).stat() for name in names}
    # A power cut may truncate the last line.
    with journal.open("ab") as file:
        file.write(b'{"file":"0000-0000')
    assert run("export", old, folder, None)
    after = {name: (folder / FURNITURE.name / "data" / name).stat() for name in names}
    assert {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in before.items()} == {
        name: (stat.st_ino, stat.st_mtime_ns) for name, stat in after.items()
    }
    assert not list(folder.rglob("*.new"))


async def test_an_import_killed_over_and_over_writes_every_item(tmp_path: Path):
    old, new, folder = tmp_path / "old.db", tmp_path / "new.db", tmp_path / "export"
    await create_store(old)
    assert run("export", old, folder, None)
    parts = sum(len(table.parts) for table in open_export(folder).tables.values())
    random = Random(6)
    rounds = 0
    # The check prints a line for each part, so the child is killed while it writes items.
    while not run("import", new, folder, parts + random.randrange(20, 60)):
        rounds += 1
        journals = list(folder.glob("zataku-import-*"))
        if not journals:
            # The import was complete, and the child was killed while it exited.
            break
        assert rounds < 50
        assert len(read_complete_lines(journals[0])) > 1
    assert rounds >= 3
    assert not list(folder.glob("zataku-import-*"))
    store = await start_backend(new)
    assert await lines_in(store, FURNITURE) == lines_of(items_for(FURNITURE, FURNITURE_ITEMS))
    assert await lines_in(store, CURTAINS) == lines_of(items_for(CURTAINS, CURTAIN_ITEMS))
    await store.close()
