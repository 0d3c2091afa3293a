"""Stores opened read-only, also while another process writes: everything can be read, nothing is changed."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.support.reading_circle import circle, example, member, member_key
from tests.support.writer_process import writer_process
from zataku.table import (
    NEW_AND_OLD,
    BadInput,
    SchemaRefused,
    Store,
    StoreClosed,
    StoreDamaged,
    Table,
    open_embedded,
)
from zataku.table.embedded import EmbeddedBackend
from zataku.table.embedded.file.connection import connect, register_checksums
from zataku.table.embedded.file.lock import lock_holder


@pytest.fixture
async def stored_file(path: Path) -> Path:
    """The file of a closed store with one member."""
    async with await open_embedded(path, [circle]) as store:
        await store.put(member(1, 7))
    return path


def read_files(folder: Path) -> dict[str, bytes]:
    """The content of all files, except the shared memory in which readers note their positions."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}


async def test_writes_acknowledged_by_another_process_are_read(path: Path) -> None:
    with writer_process(path) as writer:
        async with await open_embedded(path, [circle], read_only=True) as store:
            for number in range(1, 30):
                writer.put(number, notes=number)
                stored = await store.get(member_key(number))
                assert stored is not None
                assert stored.note_count == number
            assert len((await store.page(example.notes_on("walden"), limit=5)).items) > 0
            assert await store.count(example.written_by("hana")) > 0
            members = [item async for item in store.scan(circle) if isinstance(item, example.Member)]
            assert len(members) == 30


async def test_a_mark_without_an_end_is_not_read_as_a_whole(stored_file: Path) -> None:
    os.truncate(f"{stored_file}.mark", 1 << 40)
    async with await open_embedded(stored_file, [circle], read_only=True) as store:
        assert await store.get(member_key(1)) is not None


async def test_a_pipe_in_the_place_of_the_mark_is_not_read(stored_file: Path) -> None:
    mark = Path(f"{stored_file}.mark")
    mark.unlink()
    os.mkfifo(mark)
    async with await open_embedded(stored_file, [circle], read_only=True) as store:
        assert await store.get(member_key(1)) is not None


async def test_every_read_returns_the_current_item_of_another_process(path: Path) -> None:
    with writer_process(path) as writer:
        async with await open_embedded(path, [circle], read_only=True) as store:
            for notes in range(20):
                writer.put(1, notes)
                assert (await store.get(member_key(1))).note_count == notes
                assert [item.note_count for item in await store.get_many([member_key(1)])] == [notes]


WRITES: dict[str, Callable[[Store], Awaitable[object]]] = {
    "put": lambda store: store.put(member(5)),
    "save": lambda store: store.save(member(1, 8), was=member(1, 7)),
    "delete": lambda store: store.delete(member_key(1)),
    "batch": lambda store: store.write_many(put=[member(5)]),
    "sweep": lambda store: store.sweep(),
    "new consumer": lambda store: store.stream(circle, "digest").read(),
    "restore": lambda store: store.restore("backup.db"),
}


@pytest.mark.parametrize("kind", WRITES)
async def test_every_write_is_refused(stored_file: Path, kind: str) -> None:
    before = read_files(stored_file.parent)
    async with await open_embedded(stored_file, [circle], read_only=True) as store:
        with pytest.raises(StoreClosed, match="for reading only. Nothing was written. Open it for writing."):
            await WRITES[kind](store)
    assert read_files(stored_file.parent) == before


async def test_a_refused_write_names_the_process_that_holds_the_store(path: Path) -> None:
    with writer_process(path) as writer:
        async with await open_embedded(path, [circle], read_only=True) as store:
            with pytest.raises(StoreClosed, match=f"while process {writer.pid} holds it") as refused:
                async with store.transact() as tx:
                    tx.put(member(5))
        assert refused.value.details["process"] == str(writer.pid)


async def test_reading_creates_and_changes_no_file(stored_file: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    before = read_files(stored_file.parent)
    stamps = {name: (stored_file.parent / name).stat().st_mtime_ns for name in before}
    more = Table("Another", pk="PK", sk="SK", stream=NEW_AND_OLD)
    async with await open_embedded(stored_file, [circle, more], read_only=True) as store:
        assert (await store.get(member_key(1))).note_count == 7
        assert [state.status for state in await store.index_states()] == ["active", "active"]
        await store.backend.sizes()
        await store.backend.facts()
        await store.backend.usage()
        await store.backup(tmp_path_factory.mktemp("copies") / "copy.db")
    assert read_files(stored_file.parent) == before
    assert {name: (stored_file.parent / name).stat().st_mtime_ns for name in before} == stamps


async def test_reading_a_table_that_is_not_stored_is_refused(stored_file: Path) -> None:
    another = Table("Another", pk="PK", sk="SK")
    async with await open_embedded(stored_file, [another], read_only=True) as store:
        with pytest.raises(BadInput, match="The store has no table Another"):
            _ = [item async for item in store.scan(another)]


async def test_tables_with_other_keys_are_refused(stored_file: Path) -> None:
    other = Table("ReadingCircle", pk="ID")
    with pytest.raises(SchemaRefused, match="The keys of ReadingCircle have changed"):
        await open_embedded(stored_file, [other], read_only=True)


async def test_a_missing_file_is_refused_and_not_created(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no store at .*absent.db"):
        await open_embedded(tmp_path / "deep" / "absent.db", [circle], read_only=True)
    assert list(tmp_path.iterdir()) == []


async def test_a_backup_during_the_writes_of_another_process_is_complete(path: Path, tmp_path: Path) -> None:
    with writer_process(path) as writer:
        writer.put(1, 1)
        async with await open_embedded(path, [], read_only=True) as store:
            await store.backup(tmp_path / "copy.db")
        writer.put(2, 2)
    async with await open_embedded(tmp_path / "copy.db", [circle]) as copy:
        assert (await copy.get(member_key(1))).note_count == 1
        assert await copy.get(member_key(2)) is None


async def test_every_acknowledged_write_can_be_read_after_a_crash(path: Path) -> None:
    with writer_process(path) as writer:
        for number in range(20):
            writer.put(number, number)
        writer.kill()
    before = read_files(path.parent)
    assert before["store.db-wal"]
    async with await open_embedded(path, [circle], read_only=True) as store:
        members = await store.get_many([member_key(number) for number in range(20)])
        assert [item.note_count for item in members] == list(range(20))
    assert read_files(path.parent) == before


async def test_a_store_without_its_log_is_not_opened_for_reading(path: Path) -> None:
    with writer_process(path) as writer:
        writer.put(1, 1)
        writer.kill()
    path.with_name("store.db-wal").write_bytes(b"")
    with pytest.raises(StoreDamaged, match="acknowledged commits are missing"):
        await open_embedded(path, [circle], read_only=True)


async def test_a_damaged_page_is_detected(stored_file: Path) -> None:
    pages = stored_file.read_bytes()
    stored_file.write_bytes(pages[:4096] + os.urandom(len(pages) - 4096))
    with pytest.raises(StoreDamaged):
        async with await open_embedded(stored_file, [circle], read_only=True) as store:
            await store.get(member_key(1))


async def test_a_reader_of_a_crashed_store_does_not_prevent_a_server_from_starting(path: Path) -> None:
    with writer_process(path) as writer:
        writer.put(1, 1)
        writer.kill()
    register_checksums()
    reader = connect(path, writable=False, read_only_file=True)
    reader.execute("BEGIN")
    before = reader.execute("SELECT commits FROM state").fetchall()
    async with await open_embedded(path, [circle]) as store:
        await store.put(member(2, 2))
        assert await store.get(member_key(1)) == member(1, 1)
    assert reader.execute("SELECT commits FROM state").fetchall() == before
    reader.close()
    async with await open_embedded(path, [circle]) as store:
        assert await store.get(member_key(2)) == member(2, 2)


async def test_tables_changed_by_another_process_are_loaded_again(stored_file: Path) -> None:
    async with await open_embedded(stored_file, [circle], read_only=True) as reader:
        assert {state.index for state in await reader.index_states()} == {"GSI1", "GSI2"}
        more = Table("Another", pk="PK")
        more.index("GSI9", pk="GSI9PK")
        await (await open_embedded(stored_file, [circle, more])).close()
        assert {state.index for state in await reader.index_states()} == {"GSI1", "GSI2", "GSI9"}


async def test_the_lock_holder_is_the_process_that_has_the_store_open(stored_file: Path) -> None:
    assert lock_holder(stored_file) is None
    with writer_process(stored_file) as writer:
        assert lock_holder(stored_file) == str(writer.pid)
        assert lock_holder(stored_file.with_name("absent.db")) is None
    assert lock_holder(stored_file) is None


async def test_a_closed_read_only_store_refuses_calls(stored_file: Path) -> None:
    backend = EmbeddedBackend(stored_file, read_only=True)
    await backend.start(())
    assert [table.name for table in await backend.stored_tables()] == ["ReadingCircle"]
    await backend.close()
    await backend.close()
    with pytest.raises(StoreClosed):
        await backend.index_states()


async def test_a_store_without_a_commit_mark_can_be_read(stored_file: Path) -> None:
    mark = stored_file.with_name(f"{stored_file.name}.mark")
    mark.unlink()
    async with await open_embedded(stored_file, [circle], read_only=True) as store:
        assert await store.get(member_key(1)) == member(1, 7)
    assert not mark.exists()
