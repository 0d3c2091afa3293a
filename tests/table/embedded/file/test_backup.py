"""Backups and restores while the store is in use."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.table.embedded.tables import BY_STATUS, PLAIN, TableClient, game, open_store, wait_for_index
from zataku.table.backend import errors
from zataku.table.backend import expression as ex
from zataku.table.backend.port import UpdateItem
from zataku.table.embedded import EmbeddedBackend


def transfer_writes(n: int) -> list[UpdateItem]:
    """A transfer between two items that keeps their sum."""
    return [
        UpdateItem(PLAIN, (f"left{n}", "META"), (ex.Increase(("n",), -1),)),
        UpdateItem(PLAIN, (f"right{n}", "META"), (ex.Increase(("n",), 1),)),
    ]


async def total(client: TableClient) -> int:
    return sum(item["n"] for item in await client.scan_all() if "n" in item)


async def test_a_backup_under_load_shows_the_store_at_one_moment(path: Path, tmp_path: Path) -> None:
    store = await open_store(path, [PLAIN])
    client = TableClient(store)
    await asyncio.gather(*(client.put(game(f"filler{n}", body="x" * 3000)) for n in range(1000)))
    done = asyncio.Event()
    count = 0

    async def transfer(n: int) -> None:
        nonlocal count
        while not done.is_set():
            await store.transact(transfer_writes(n))
            count += 1

    running = [asyncio.create_task(transfer(n)) for n in range(4)]
    progress: list[tuple[int, int]] = []
    for n in range(3):
        await store.backup(tmp_path / f"backup{n}", lambda done, total: progress.append((done, total)))
    done.set()
    await asyncio.gather(*running)
    assert count > 5
    assert progress[-1][0] == progress[-1][1] > 0
    await store.close()
    for n in range(3):
        copy = await open_store(tmp_path / f"backup{n}", [PLAIN])
        assert await total(TableClient(copy)) == 0
        assert len([item for item in await TableClient(copy).scan_all() if "body" in item]) == 1000
        await copy.close()


async def test_a_backup_never_overwrites_a_file_and_leaves_no_partial_one(
    store: EmbeddedBackend, tmp_path: Path
) -> None:
    existing = tmp_path / "existing"
    existing.write_text("mine")
    with pytest.raises(errors.BadInput, match="exists already"):
        await store.backup(existing)
    with pytest.raises(errors.BadInput):
        await store.backup(tmp_path / "no" / "such" / "folder" / "backup")
    await store.backup(tmp_path / "backup")
    assert existing.read_text() == "mine"
    assert {entry.name for entry in tmp_path.iterdir()} >= {"backup"}
    assert not [entry.name for entry in tmp_path.iterdir() if "part" in entry.name or entry.name.startswith("backup-")]


async def test_a_restore_returns_to_the_backup_and_keeps_the_replaced_file(path: Path, tmp_path: Path) -> None:
    store = await open_store(path, [PLAIN])
    client = TableClient(store)
    await client.put(game("a", n=1))
    await store.backup(tmp_path / "backup")
    await client.put(game("a", n=2))
    await client.put(game("b"))
    secret = await store.secret()
    await store.restore(tmp_path / "backup")
    assert await client.scan_all() == [game("a", n=1)]
    assert await store.secret() == secret
    await client.put(game("c"))
    await store.close()
    store = await open_store(path, [PLAIN])
    assert [item["PK"] for item in await TableClient(store).scan_all()] == ["a", "c"]
    await store.close()
    replaced = await open_store(path.with_name(path.name + ".before-restore"), [PLAIN])
    assert [item["PK"] for item in await TableClient(replaced).scan_all()] == ["a", "b"]
    await replaced.close()


async def test_calls_wait_while_a_store_is_restored(path: Path, tmp_path: Path) -> None:
    store = await open_store(path, [PLAIN])
    client = TableClient(store)
    for n in range(4):
        await store.transact(transfer_writes(n))
    await store.backup(tmp_path / "backup")
    done = asyncio.Event()

    async def transfer(n: int) -> None:
        while not done.is_set():
            await store.transact(transfer_writes(n))

    async def read() -> None:
        while not done.is_set():
            assert await total(client) == 0
            assert (await client.get("left0", lagging=True) or {})["n"] <= -1

    running = [*(asyncio.create_task(transfer(n)) for n in range(4)), asyncio.create_task(read())]
    for _ in range(3):
        await store.restore(tmp_path / "backup")
    done.set()
    await asyncio.gather(*running)
    assert await total(client) == 0
    await store.close()


async def test_a_restored_store_gets_the_current_tables_and_indexes(path: Path, tmp_path: Path) -> None:
    store = await open_store(path, [PLAIN])
    await asyncio.gather(*(TableClient(store).put(game(f"{n}", status="OPEN", at=n)) for n in range(300)))
    await store.backup(tmp_path / "backup")
    indexed = replace(PLAIN, indexes=(BY_STATUS,))
    await store.start([indexed])
    await store.restore(tmp_path / "backup")
    await wait_for_index(store, "by_status")
    assert len(await TableClient(store, indexed).query("OPEN", index=BY_STATUS)) == 300
    await store.close()


@pytest.mark.parametrize("fault", ["missing", "garbage", "flipped", "foreign", "itself", "other keys"])
async def test_a_bad_backup_is_refused_and_the_store_is_unchanged(path: Path, tmp_path: Path, fault: str) -> None:
    store = await open_store(path, [PLAIN])
    await TableClient(store).put(game("a"))
    backup = tmp_path / "backup"
    if fault == "garbage":
        backup.write_bytes(os.urandom(50_000))
    elif fault == "flipped":
        await store.backup(backup)
        content = bytearray(backup.read_bytes())
        content[len(content) // 2] ^= 1
        backup.write_bytes(content)
    elif fault == "foreign":
        sqlite3.connect(backup).executescript("CREATE TABLE x (y)").connection.close()
    elif fault == "itself":
        backup = path
    elif fault == "other keys":
        other = await open_store(backup, [replace(PLAIN, sk=None)])
        await other.close()
    with pytest.raises((errors.BadInput, errors.StoreDamaged, errors.SchemaRefused)):
        await store.restore(backup)
    assert await TableClient(store).scan_all() == [game("a")]
    await TableClient(store).put(game("b"))
    assert not path.with_name(f"{path.name}.restoring").exists()
    await store.close()


@pytest.mark.parametrize("running", [True, False])
async def test_a_damaged_store_can_be_restored(path: Path, tmp_path: Path, running: bool) -> None:
    store = await open_store(path, [PLAIN])
    await asyncio.gather(*(TableClient(store).put(game(f"{n}", body=f"{n:04d}" * 200)) for n in range(100)))
    await store.backup(tmp_path / "backup")
    await TableClient(store).put(game("later"))
    await store.close()
    content = bytearray(path.read_bytes())
    content[content.index(b"004200420042") + 8] ^= 1
    path.write_bytes(content)
    if running:
        await store.start([PLAIN])
        with pytest.raises(errors.StoreDamaged):
            await TableClient(store).get("42")
    await store.restore(tmp_path / "backup")
    if not running:
        await store.start([PLAIN])
    assert await TableClient(store).get("42") == game("42", body="0042" * 200)
    assert await TableClient(store).get("later") is None
    assert path.with_name(path.name + ".before-restore").read_bytes() == content
    await store.close()


INTERRUPTED = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.table.embedded.tables import PLAIN, open_store
from zataku.table.embedded import engine
from zataku.table.embedded.file import backup, restore
step, path, source = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
passed = 0
def counting(function):
    def called(*arguments, **options):
        global passed
        passed += 1
        if passed > step:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return called
os.link = counting(os.link)
Path.rename = counting(Path.rename)
Path.unlink = counting(Path.unlink)
engine.advance_commits = counting(engine.advance_commits)
backup.sync_to_disk = restore.sync_to_disk = counting(backup.sync_to_disk)
async def main():
    store = await open_store(path, [PLAIN])
    await store.restore(source)
    print("finished")
    os._exit(0)
asyncio.run(main())
"""


async def test_an_interrupted_restore_leaves_the_old_store_or_the_new_one(tmp_path: Path) -> None:
    path, backup = tmp_path / "store.db", tmp_path / "backup"
    store = await open_store(path, [PLAIN])
    await TableClient(store).put(game("state", which="new"))
    await store.backup(backup)
    for n in range(30):
        await TableClient(store).put(game("state", which="old", n=n))
    await store.close()
    outcomes: list[str] = []
    for step in range(4, 40, 2):
        folder = tmp_path / f"step{step}"
        folder.mkdir()
        for ending in ("", ".mark"):
            shutil.copy(tmp_path / f"store.db{ending}", folder)
        command = [sys.executable, "-c", INTERRUPTED, str(step), str(folder / "store.db"), str(backup)]
        child = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
        store = await open_store(folder / "store.db", [PLAIN])
        state = await TableClient(store).get("state")
        outcomes.append((state or {})["which"])
        assert not (folder / "store.db.restoring").exists()
        await store.close()
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL, child.stderr
    assert outcomes[0] == "old"
    assert outcomes[-1] == "new"
    assert sorted(outcomes, reverse=True) == outcomes
