"""A store opened read-only beside its owner: everything can be read, nothing is changed."""

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
async def kept(path: Path) -> Path:
    """A store with one member, closed."""
    async with await open_embedded(path, [circle]) as store:
        await store.put(member(1, 7))
    return path


def disk(folder: Path) -> dict[str, bytes]:
    """All files with their content, but for the shared memory in which readers note where they are."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}


async def test_what_another_process_has_acknowledged_is_read_beside_it(path: Path) -> None:
    with writer_process(path) as other:
        async with await open_embedded(path, [circle], read_only=True) as store:
            for number in range(1, 30):
                other.put(number, notes=number)
                found = await store.get(member_key(number))
                assert found is not None
                assert found.note_count == number
            assert len((await store.page(example.notes_on("walden"), limit=5)).items) > 0
            assert await store.count(example.written_by("hana")) > 0
            members = [found async for found in store.scan(circle) if isinstance(found, example.Member)]
            assert len(members) == 30


async def test_an_item_that_was_read_once_is_read_anew(path: Path) -> None:
    with writer_process(path) as other:
        async with await open_embedded(path, [circle], read_only=True) as store:
            for notes in range(20):
                other.put(1, notes)
                assert (await store.get(member_key(1))).note_count == notes
                assert [found.note_count for found in await store.get_many([member_key(1)])] == [notes]


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
async def test_every_write_is_refused(kept: Path, kind: str) -> None:
    before = disk(kept.parent)
    async with await open_embedded(kept, [circle], read_only=True) as store:
        with pytest.raises(StoreClosed, match="for reading only. Nothing was written. Open it for writing."):
            await WRITES[kind](store)
    assert disk(kept.parent) == before


async def test_a_refused_write_says_who_holds_the_store(path: Path) -> None:
    with writer_process(path) as other:
        async with await open_embedded(path, [circle], read_only=True) as store:
            with pytest.raises(StoreClosed, match=f"while process {other.pid} holds it") as refused:
                async with store.transact() as tx:
                    tx.put(member(5))
        assert refused.value.details["process"] == str(other.pid)


async def test_nothing_is_made_or_changed_on_the_disk(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    before = disk(kept.parent)
    stamps = {name: (kept.parent / name).stat().st_mtime_ns for name in before}
    more = Table("Another", pk="PK", sk="SK", stream=NEW_AND_OLD)
    async with await open_embedded(kept, [circle, more], read_only=True) as store:
        assert (await store.get(member_key(1))).note_count == 7
        assert [state.status for state in await store.index_states()] == ["active", "active"]
        await store.backend.sizes()
        await store.backend.facts()
        await store.backend.usage()
        await store.backup(tmp_path_factory.mktemp("copies") / "copy.db")
    assert disk(kept.parent) == before
    assert {name: (kept.parent / name).stat().st_mtime_ns for name in before} == stamps


async def test_a_table_that_is_not_stored_holds_nothing_to_read(kept: Path) -> None:
    another = Table("Another", pk="PK", sk="SK")
    async with await open_embedded(kept, [another], read_only=True) as store:
        with pytest.raises(BadInput, match="The store has no table Another"):
            _ = [found async for found in store.scan(another)]


async def test_tables_with_other_keys_are_refused(kept: Path) -> None:
    other = Table("ReadingCircle", pk="ID")
    with pytest.raises(SchemaRefused, match="The keys of ReadingCircle have changed"):
        await open_embedded(kept, [other], read_only=True)


async def test_a_file_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no store at .*absent.db"):
        await open_embedded(tmp_path / "deep" / "absent.db", [circle], read_only=True)
    assert list(tmp_path.iterdir()) == []


async def test_a_backup_beside_a_writing_process_is_whole(path: Path, tmp_path: Path) -> None:
    with writer_process(path) as other:
        other.put(1, 1)
        async with await open_embedded(path, [], read_only=True) as store:
            await store.backup(tmp_path / "copy.db")
        other.put(2, 2)
    async with await open_embedded(tmp_path / "copy.db", [circle]) as copy:
        assert (await copy.get(member_key(1))).note_count == 1
        assert await copy.get(member_key(2)) is None


async def test_after_a_crash_everything_acknowledged_is_there_to_read(path: Path) -> None:
    with writer_process(path) as other:
        for number in range(20):
            other.put(number, number)
        other.kill()
    before = disk(path.parent)
    assert before["store.db-wal"]
    async with await open_embedded(path, [circle], read_only=True) as store:
        found = await store.get_many([member_key(number) for number in range(20)])
        assert [each.note_count for each in found] == list(range(20))
    assert disk(path.parent) == before


async def test_a_store_that_lost_its_log_is_refused_for_reading_too(path: Path) -> None:
    with writer_process(path) as other:
        other.put(1, 1)
        other.kill()
    path.with_name("store.db-wal").write_bytes(b"")
    with pytest.raises(StoreDamaged, match="acknowledged commits are missing"):
        await open_embedded(path, [circle], read_only=True)


async def test_a_damaged_page_is_noticed(kept: Path) -> None:
    pages = kept.read_bytes()
    kept.write_bytes(pages[:4096] + os.urandom(len(pages) - 4096))
    with pytest.raises(StoreDamaged):
        async with await open_embedded(kept, [circle], read_only=True) as store:
            await store.get(member_key(1))


async def test_a_process_that_copies_a_crashed_store_does_not_keep_a_server_from_starting(path: Path) -> None:
    with writer_process(path) as other:
        other.put(1, 1)
        other.kill()
    register_checksums()
    copying = connect(path, writable=False, read_only_file=True)
    copying.execute("BEGIN")
    before = copying.execute("SELECT commits FROM state").fetchall()
    async with await open_embedded(path, [circle]) as store:
        await store.put(member(2, 2))
        assert await store.get(member_key(1)) == member(1, 1)
    assert copying.execute("SELECT commits FROM state").fetchall() == before
    copying.close()
    async with await open_embedded(path, [circle]) as store:
        assert await store.get(member_key(2)) == member(2, 2)


async def test_tables_that_another_process_changes_are_read_again(kept: Path) -> None:
    async with await open_embedded(kept, [circle], read_only=True) as looking:
        assert {state.index for state in await looking.index_states()} == {"GSI1", "GSI2"}
        more = Table("Another", pk="PK")
        more.index("GSI9", pk="GSI9PK")
        await (await open_embedded(kept, [circle, more])).close()
        assert {state.index for state in await looking.index_states()} == {"GSI1", "GSI2", "GSI9"}


async def test_who_holds_a_store(kept: Path) -> None:
    assert lock_holder(kept) is None
    with writer_process(kept) as other:
        assert lock_holder(kept) == str(other.pid)
        assert lock_holder(kept.with_name("absent.db")) is None
    assert lock_holder(kept) is None


async def test_a_closed_read_only_store_refuses_calls(kept: Path) -> None:
    backend = EmbeddedBackend(kept, read_only=True)
    await backend.start(())
    assert [table.name for table in await backend.stored_tables()] == ["ReadingCircle"]
    await backend.close()
    await backend.close()
    with pytest.raises(StoreClosed):
        await backend.index_states()


async def test_a_store_without_a_commit_mark_can_be_read(kept: Path) -> None:
    mark = kept.with_name(f"{kept.name}.mark")
    mark.unlink()
    async with await open_embedded(kept, [circle], read_only=True) as store:
        assert await store.get(member_key(1)) == member(1, 7)
    assert not mark.exists()
