"""Killed in the middle of moving, again and again: the next run goes on, and in the end everything is there."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

from tests.table.transfer.sample_items import CURTAINS, FURNITURE, fill, items_for, lines_in, lines_of, start_backend
from tests.table.transfer.transfer_process import PAGE_ITEMS, PART_BYTES, SEGMENTS, TABLES
from zataku.clock import ManualClock
from zataku.table.transfer import export_store, open_export
from zataku.table.transfer.atomic_files import read_complete_lines
from zataku.table.transfer.export_reader import read_part_records

ROOT = Path(__file__).parents[3]
FURNITURE_ITEMS, CURTAIN_ITEMS = 2000, 300


def run(way: str, file: Path, folder: Path, lines: int | None) -> bool:
    """Let a child work until it has said so many lines, then kill it; True when it was done before."""
    command = [sys.executable, "-m", "tests.table.transfer.transfer_process", way, str(file), str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, bufsize=0) as child:
        assert child.stdout is not None
        said = 0
        while lines is None or said < lines:
            heard = child.stdout.readline()
            if not heard:
                assert child.wait(30) == 0
                return True
            said += 1
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait(30) == -signal.SIGKILL
        return False


def finished_parts(folder: Path) -> int:
    """How many parts the journals name; each of them must be there."""
    count = 0
    for table in TABLES:
        parts = read_part_records(folder / table.name / "zataku-parts.jsonl")
        assert all((folder / table.name / "data" / part.file).stat().st_size == part.size for part in parts)
        count += len(parts)
    return count


async def filled(path: Path) -> None:
    store = await start_backend(path)
    await fill(store, FURNITURE, items_for(FURNITURE, FURNITURE_ITEMS))
    await fill(store, CURTAINS, items_for(CURTAINS, CURTAIN_ITEMS))
    await store.close()


async def test_an_export_that_is_killed_over_and_over_becomes_the_same_export(tmp_path: Path, clock: ManualClock):
    old, folder, calm = tmp_path / "old.db", tmp_path / "export", tmp_path / "calm"
    await filled(old)
    chance = Random(4)
    rounds, counts = 0, [0]
    while not run("export", old, folder, chance.randrange(10, 90)):
        rounds += 1
        counts.append(finished_parts(folder))
        assert rounds < 50
    assert rounds >= 4
    assert counts == sorted(counts)
    assert len(set(counts)) > 3
    store = await start_backend(old)
    await export_store(
        store, TABLES, calm, clock=clock, page_items=PAGE_ITEMS, part_bytes=PART_BYTES, segments=SEGMENTS
    )
    await store.close()
    for table in TABLES:
        undisturbed = {path.name: path.read_bytes() for path in (calm / table.name / "data").iterdir()}
        assert {path.name: path.read_bytes() for path in (folder / table.name / "data").iterdir()} == undisturbed
        assert open_export(folder).tables[table.name].digest == open_export(calm).tables[table.name].digest


async def test_a_part_that_was_finished_is_never_written_again(tmp_path: Path):
    old, folder = tmp_path / "old.db", tmp_path / "export"
    await filled(old)
    assert not run("export", old, folder, 120)
    journal = folder / FURNITURE.name / "zataku-parts.jsonl"
    names = [part.file for part in read_part_records(journal)]
    assert len(names) > 3
    before = {name: (folder / FURNITURE.name / "data" / name).stat() for name in names}
    # The system may cut the last line short when the power goes.
    with journal.open("ab") as file:
        file.write(b'{"file":"0000-0000')
    assert run("export", old, folder, None)
    after = {name: (folder / FURNITURE.name / "data" / name).stat() for name in names}
    assert {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in before.items()} == {
        name: (stat.st_ino, stat.st_mtime_ns) for name, stat in after.items()
    }
    assert not list(folder.rglob("*.new"))


async def test_an_import_that_is_killed_over_and_over_brings_every_item(tmp_path: Path):
    old, new, folder = tmp_path / "old.db", tmp_path / "new.db", tmp_path / "export"
    await filled(old)
    assert run("export", old, folder, None)
    parts = sum(len(table.parts) for table in open_export(folder).tables.values())
    chance = Random(6)
    rounds = 0
    # The check says a line for each part, so the killing comes while items are written.
    while not run("import", new, folder, parts + chance.randrange(20, 60)):
        rounds += 1
        states = list(folder.glob("zataku-import-*"))
        if not states:
            # It was through with everything, and was killed on its way out.
            break
        assert rounds < 50
        assert len(read_complete_lines(states[0])) > 1
    assert rounds >= 3
    assert not list(folder.glob("zataku-import-*"))
    store = await start_backend(new)
    assert await lines_in(store, FURNITURE) == lines_of(items_for(FURNITURE, FURNITURE_ITEMS))
    assert await lines_in(store, CURTAINS) == lines_of(items_for(CURTAINS, CURTAIN_ITEMS))
    await store.close()
