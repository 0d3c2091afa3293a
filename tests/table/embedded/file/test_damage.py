"""Damaged files and failing disks are reported as errors; damaged data is never returned."""

import asyncio
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Thread

import apsw
import pytest

from tests.table.embedded.tables import PLAIN, TableClient, game, open_store
from zataku.table.backend import errors
from zataku.table.embedded import EmbeddedBackend
from zataku.table.embedded.database import CommitMark
from zataku.table.embedded.file.connection import connect
from zataku.table.embedded.file.layout import PAGE_SIZE
from zataku.table.embedded.file.lock import lock_holder


async def create_store(path: Path, count: int = 300) -> None:
    store = await open_store(path, [PLAIN])
    await asyncio.gather(*(TableClient(store).put(game(f"{n:04d}", body=f"{n:04d}" * 200)) for n in range(count)))
    await store.close()


def flip(path: Path, offset: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0x10]))


def copy_store(path: Path, to: Path) -> Path:
    """Copy the files of a store, log included, as a crash would leave them."""
    to.mkdir(exist_ok=True)
    for ending in ("", "-wal", ".mark"):
        side = path.with_name(path.name + ending)
        if side.exists():
            shutil.copy(side, to / side.name)
    return to / path.name


async def test_a_flipped_byte_is_reported_and_never_returned(path: Path) -> None:
    await create_store(path)
    content = path.read_bytes()
    flip(path, content.index(b"0123012301230123") + 10)
    store = await open_store(path, [PLAIN])
    with pytest.raises(errors.StoreDamaged, match="checksum.*restore a backup"):
        await TableClient(store).get("0123")
    for call in (
        TableClient(store).get("0001"),
        TableClient(store).put(game("x")),
        store.secret(),
        store.start([PLAIN]),
    ):
        with pytest.raises(errors.StoreDamaged):
            await call
    await store.close()


async def test_a_full_read_detects_a_flipped_byte_in_any_page(path: Path, tmp_path: Path) -> None:
    await create_store(path, 60)
    pages = path.stat().st_size // PAGE_SIZE
    for page in range(1, pages):
        broken = copy_store(path, tmp_path / "broken")
        flip(broken, page * PAGE_SIZE + 1234 + page)
        with pytest.raises(errors.StoreDamaged):
            store = await open_store(broken, [PLAIN])
            try:
                await TableClient(store).scan_all()
                await store.backup(tmp_path / "never")
            finally:
                await store.close()


async def test_a_write_into_a_damaged_page_is_refused(path: Path) -> None:
    await create_store(path)
    flip(path, path.read_bytes().index(b"0200020002000200") + 10)
    store = await open_store(path, [PLAIN])
    with pytest.raises(errors.StoreDamaged):
        await TableClient(store).put(game("0200", n=1))
    await store.close()


@pytest.mark.parametrize("garbage", [b"not a database at all" * 500, b"SQLite format 3\0" + b"\xff" * 8000])
async def test_a_file_that_is_not_a_database_is_not_opened(path: Path, garbage: bytes) -> None:
    path.write_bytes(garbage)
    with pytest.raises(errors.StoreDamaged):
        await open_store(path, [PLAIN])
    assert path.read_bytes() == garbage


async def test_a_truncated_file_is_not_opened(path: Path) -> None:
    await create_store(path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 3 * PAGE_SIZE)
    with pytest.raises(errors.StoreDamaged):
        await open_store(path, [PLAIN])


async def copy_before_checkpoint(path: Path, to: Path) -> Path:
    """Copy a store while all its acknowledged writes are in the log only."""
    store = await open_store(path, [PLAIN])
    for n in range(20):
        await TableClient(store).put(game(f"{n}"))
    copy = copy_store(path, to)
    await store.close()
    return copy


async def test_a_crash_loses_no_acknowledged_write(path: Path, tmp_path: Path) -> None:
    store = await open_store(await copy_before_checkpoint(path, tmp_path / "copy"), [PLAIN])
    assert len(await TableClient(store).scan_all()) == 20
    await store.close()


@pytest.mark.parametrize("loss", ["deleted", "cut", "flipped"])
async def test_a_missing_or_damaged_log_is_detected(path: Path, tmp_path: Path, loss: str) -> None:
    copy = await copy_before_checkpoint(path, tmp_path / "copy")
    log = copy.with_name(copy.name + "-wal")
    if loss == "deleted":
        log.unlink()
    elif loss == "cut":
        with log.open("r+b") as file:
            file.truncate(log.stat().st_size - 100)
    else:
        flip(log, log.stat().st_size // 2)
    before = copy.read_bytes()
    with pytest.raises(errors.StoreDamaged, match="acknowledged commits are missing.*accept_loss=True"):
        await open_store(copy, [PLAIN])
    assert copy.read_bytes() == before
    store = await open_store(copy, [PLAIN], accept_loss=True)
    assert len(await TableClient(store).scan_all()) < 20
    await TableClient(store).put(game("new"))
    await store.close()
    store = await open_store(copy, [PLAIN])
    assert await TableClient(store).get("new") == game("new")
    await store.close()


async def test_an_older_copy_of_the_file_is_detected(path: Path, tmp_path: Path) -> None:
    await create_store(path, 5)
    old = copy_store(path, tmp_path / "old")
    store = await open_store(path, [PLAIN])
    await TableClient(store).put(game("later"))
    await store.close()
    shutil.copy(old, path)
    with pytest.raises(errors.StoreDamaged, match="1 acknowledged commits are missing"):
        await open_store(path, [PLAIN])


async def test_a_missing_file_is_detected(path: Path) -> None:
    await create_store(path, 5)
    path.unlink()
    with pytest.raises(errors.StoreDamaged, match="gone"):
        await open_store(path, [PLAIN])
    assert not path.exists()
    store = await open_store(path, [PLAIN], accept_loss=True)
    assert await TableClient(store).scan_all() == []
    await store.close()


async def test_a_file_of_a_newer_format_or_another_program_is_refused(path: Path, tmp_path: Path) -> None:
    await create_store(path, 1)
    connection = connect(path, writable=True)
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(errors.SchemaRefused, match="newer"):
        await open_store(path, [PLAIN])
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(errors.BadInput, match="not a Zataku store"):
        await open_store(foreign, [PLAIN])


async def test_a_second_store_on_the_same_file_is_refused(path: Path) -> None:
    store = await open_store(path, [PLAIN])
    with pytest.raises(errors.StoreClosed, match="Another process holds"):
        await open_store(path, [PLAIN])
    await TableClient(store).put(game("a"))
    await store.close()
    reopened = await open_store(path, [PLAIN])
    await reopened.close()


CHILD = """
import asyncio, sys
from pathlib import Path
from tests.table.embedded.tables import PLAIN, open_store
from zataku.table.backend.errors import StoreClosed
try:
    asyncio.run(open_store(Path(sys.argv[1]), [PLAIN]))
except StoreClosed as error:
    print(error.message)
"""


async def test_a_second_process_on_the_same_file_is_refused(store: EmbeddedBackend, path: Path) -> None:
    child = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, check=True
    )
    assert f"Another process holds {path} (process {os.getpid()})" in child.stdout


def run_with_fault(path: Path, fault: str) -> list[str]:
    command = [sys.executable, "-m", "tests.table.embedded.file.faulty_disk", str(path), fault]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    return completed.stdout.splitlines()


def test_a_failed_sync_disables_the_store_until_it_is_reopened(path: Path) -> None:
    assert run_with_fault(path, "sync") == [
        "before ok",
        "during ResultUnknown",
        "during ResultUnknown",
        "after StoreDamaged",
        "read StoreDamaged",
        "close ok",
        "reopened 2",
    ]


@pytest.mark.parametrize("fault", ["full", "quota"])
def test_a_store_recovers_when_a_full_disk_has_space_again(path: Path, fault: str) -> None:
    assert run_with_fault(path, fault) == [
        "before ok",
        "during StoreFull",
        "during StoreFull",
        "after ok",
        "read 1",
        "close ok",
        "reopened 1",
    ]


def test_a_write_that_fails_for_another_reason_disables_the_store(path: Path) -> None:
    outcomes = run_with_fault(path, "broken")
    assert outcomes[1:4] == ["during ResultUnknown", "during ResultUnknown", "after StoreDamaged"]


async def test_a_full_store_rolls_back_the_whole_batch_and_accepts_writes_later(path: Path) -> None:
    store = await open_store(path, [PLAIN])
    client = TableClient(store)
    await client.put(game("first"))
    connection = store._engine.database.connection
    pages = connection.pragma("page_count")
    connection.pragma("max_page_count", pages + 2)
    results = await asyncio.gather(
        *(client.put(game(f"{n}", body="x" * 5000)) for n in range(20)), return_exceptions=True
    )
    assert {type(result) for result in results} == {errors.StoreFull}
    assert "Nothing of this call was written" in str(results[0])
    assert [item["PK"] for item in await client.scan_all()] == ["first"]
    connection.pragma("max_page_count", 1_000_000)
    await asyncio.gather(*(client.put(game(f"{n}", body="x" * 5000)) for n in range(20)))
    assert len(await client.scan_all()) == 21
    await store.close()


async def test_a_store_that_the_disk_was_too_full_for_is_created_when_there_is_room(tmp_path: Path) -> None:
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(tmp_path)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system needs more rights")
    ballast = tmp_path / "ballast"
    try:
        for pages in range(1, 16):
            disk = os.statvfs(tmp_path)
            ballast.write_bytes(bytes(disk.f_bavail * disk.f_frsize - pages * PAGE_SIZE))
            path = tmp_path / f"{pages}.db"
            with pytest.raises(errors.StoreFull, match="Free some space"):
                await open_store(path, [PLAIN])
            ballast.unlink()
            store = await open_store(path, [PLAIN])
            await store.close()
            for file in tmp_path.glob(f"{path.name}*"):
                file.unlink()
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.parametrize("failing", ["ftruncate", "pwrite"])
async def test_a_store_can_be_opened_after_the_disk_was_too_full_for_its_lock(
    path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, failing, full)
        with pytest.raises(OSError, match="No space left") as refused:
            await open_store(path, [PLAIN])
    assert refused.value.filename == f"{path}.lock"
    store = await open_store(path, [PLAIN])
    await store.close()


async def test_a_disk_that_is_too_full_for_the_mark_is_a_full_store(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: CommitMark, __: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(CommitMark, "write", full)
    with pytest.raises(errors.StoreFull, match="Free some space"):
        await open_store(path, [PLAIN])


@pytest.mark.parametrize("suffix", [".lock", ".mark"])
async def test_a_pipe_in_the_place_of_a_side_file_is_named(path: Path, suffix: str) -> None:
    os.mkfifo(f"{path}{suffix}")
    with pytest.raises(OSError, match="Not a regular file") as refused:
        await open_store(path, [PLAIN])
    assert refused.value.filename == f"{path}{suffix}"


def test_the_holder_of_a_store_is_not_awaited_at_a_pipe(path: Path) -> None:
    os.mkfifo(f"{path}.lock")
    looking = Thread(target=lock_holder, args=(path,), daemon=True)
    looking.start()
    looking.join(10)
    assert not looking.is_alive()


async def test_a_full_file_system_loses_no_acknowledged_write(tmp_path: Path) -> None:
    mount = tmp_path / "small"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(mount)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system needs more rights")
    try:
        store = await open_store(mount / "store.db", [PLAIN])
        client = TableClient(store)
        ballast = mount / "ballast"
        ballast.write_bytes(b"\0" * 1_000_000)
        acknowledged = []
        with pytest.raises(errors.StoreFull):
            for n in range(1000):
                await client.put(game(f"{n}", body="x" * 50_000))
                acknowledged.append(f"{n}")
        assert sorted(item["PK"] for item in await client.scan_all()) == sorted(acknowledged)
        with pytest.raises(errors.StoreFull):
            await store.backup(mount / "backup")
        ballast.unlink()
        await client.put(game("later"))
        await store.close()
        store = await open_store(mount / "store.db", [PLAIN])
        assert sorted(item["PK"] for item in await TableClient(store).scan_all()) == sorted([*acknowledged, "later"])
        await store.close()
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def test_the_default_vfs_of_sqlite_is_unchanged(path: Path) -> None:
    assert "unix" in apsw.vfs_names()[0]
