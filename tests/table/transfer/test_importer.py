"""Moving in: into empty tables, over others, after an interruption, and read back."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
from msgspec import structs

from tests.table.transfer.sample_items import (
    CURTAINS,
    FURNITURE,
    PAST,
    fill,
    items_for,
    lines_in,
    lines_of,
    start_backend,
)
from zataku.clock import ManualClock
from zataku.table import BadInput, CopyDiffers, SchemaRefused, StoreUnreachable, WrongType
from zataku.table.backend import port as port
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.table_schema import IndexSchema, KeyAttribute, TableSchema
from zataku.table.embedded import EmbeddedBackend
from zataku.table.store.capacity_meter import Meter, MeteredCalls
from zataku.table.store.retry import Retry, RetryPolicy
from zataku.table.strict.strict_backend import Faults, StrictBackend
from zataku.table.transfer import Phase, export_store, import_store
from zataku.table.transfer.atomic_files import PathLock

BOTH = (FURNITURE, CURTAINS)


class Interrupted(EmbeddedBackend):
    """A store that is out of reach after so many batches."""

    batches = 10**9

    async def batch_write(
        self, writes: Sequence[port.PutItem | port.DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> list[port.PutItem | port.DeleteItem]:
        self.batches -= 1
        if self.batches < 0:
            raise StoreUnreachable("Out of reach.")
        return await super().batch_write(writes, consumed)


def calls_without_retries() -> MeteredCalls:
    return MeteredCalls(Retry(Random(1), RetryPolicy(max_attempts=1)), Meter())


@pytest.fixture
async def export_folder(source_store: EmbeddedBackend, folder: Path, clock: ManualClock) -> Path:
    """An export of some twenty parts."""
    await export_store(source_store, BOTH, folder, clock=clock, page_items=20, part_bytes=1)
    return folder


async def holds_all(store: port.Backend) -> bool:
    furniture = await lines_in(store, FURNITURE) == lines_of(items_for(FURNITURE, 300))
    return furniture and await lines_in(store, CURTAINS) == lines_of(items_for(CURTAINS, 40))


async def test_every_item_arrives_exactly_expired_ones_too(export_folder: Path, target_store: EmbeddedBackend):
    imported = await import_store(target_store, BOTH, export_folder)
    assert await holds_all(target_store)
    assert [(table.name, table.items) for table in imported.tables] == [
        ("FurnitureOfARoom", 300),
        ("CurtainsByNumber", 40),
    ]
    assert (imported.verified, imported.resumed, imported.left_out) == (True, False, ())
    assert any(item.get("until") == PAST for item in items_for(FURNITURE, 300))


async def test_a_finished_import_leaves_the_export_as_it_was(export_folder: Path, target_store: EmbeddedBackend):
    before = sorted(export_folder.rglob("*"))
    await import_store(target_store, BOTH, export_folder)
    assert sorted(export_folder.rglob("*")) == before


async def test_a_table_that_is_not_empty_is_refused(export_folder: Path, target_store: EmbeddedBackend):
    mine = {"number": 77, "mine": True}
    await fill(target_store, CURTAINS, [mine])
    with pytest.raises(BadInput, match="CurtainsByNumber is not empty"):
        await import_store(target_store, BOTH, export_folder)
    assert await lines_in(target_store, FURNITURE) == []
    assert await lines_in(target_store, CURTAINS) == lines_of([mine])
    assert not list(export_folder.glob("zataku-import-*"))


async def test_merging_replaces_the_same_keys_and_keeps_the_others(export_folder: Path, target_store: EmbeddedBackend):
    curtains = items_for(CURTAINS, 40)
    mine = {"number": 77, "mine": True}
    await fill(target_store, CURTAINS, [mine, {"number": curtains[3]["number"], "old": True}])
    await import_store(target_store, BOTH, export_folder, merge=True)
    assert await lines_in(target_store, CURTAINS) == lines_of([mine, *curtains])


async def test_an_interrupted_import_goes_on_after_its_last_part(export_folder: Path, tmp_path: Path):
    store = Interrupted(tmp_path / "far.db")
    await store.start(BOTH)
    written: list[int] = []
    for batches in (3, 5, 4):
        store.batches = batches
        with pytest.raises(StoreUnreachable):
            await import_store(store, BOTH, export_folder, calls=calls_without_retries(), workers=1)
        written.append(len(await lines_in(store, FURNITURE)))
    store.batches = 15
    imported = await import_store(store, BOTH, export_folder, calls=calls_without_retries(), workers=1)
    assert imported.resumed
    assert written == [60, 160, 240]
    assert await holds_all(store)
    assert not list(export_folder.glob("zataku-import-*"))
    await store.close()


async def test_one_unfinished_import_says_nothing_of_another_store(
    export_folder: Path, tmp_path: Path, target_store: EmbeddedBackend
):
    store = Interrupted(tmp_path / "far.db")
    await store.start(BOTH)
    store.batches = 3
    with pytest.raises(StoreUnreachable):
        await import_store(store, BOTH, export_folder, calls=calls_without_retries(), workers=1)
    assert not (await import_store(target_store, BOTH, export_folder)).resumed
    assert await holds_all(target_store)
    assert len(list(export_folder.glob("zataku-import-*"))) == 1
    await store.close()


async def test_what_was_written_of_an_older_export_does_not_count_for_a_new_one(
    export_folder: Path, tmp_path: Path, source_store: EmbeddedBackend, clock: ManualClock
):
    store = Interrupted(tmp_path / "far.db")
    await store.start(BOTH)
    store.batches = 3
    with pytest.raises(StoreUnreachable):
        await import_store(store, BOTH, export_folder, calls=calls_without_retries(), workers=1)
    await clock.advance(1)
    await export_store(source_store, BOTH, export_folder, clock=clock, again=True)
    store.batches = 10**9
    with pytest.raises(BadInput, match="not empty"):
        await import_store(store, BOTH, export_folder)
    await import_store(store, BOTH, export_folder, merge=True)
    assert await holds_all(store)
    await store.close()


async def test_an_unfinished_import_of_some_tables_does_not_open_the_others(export_folder: Path, tmp_path: Path):
    store = Interrupted(tmp_path / "far.db")
    await store.start(BOTH)
    mine = {"PK": "mine", "SK": "mine"}
    await fill(store, FURNITURE, [mine])
    store.batches = 1
    with pytest.raises(StoreUnreachable):
        await import_store(store, [CURTAINS], export_folder, calls=calls_without_retries(), workers=1)
    store.batches = 10**9
    with pytest.raises(BadInput, match="FurnitureOfARoom is not empty"):
        await import_store(store, BOTH, export_folder)
    assert (await import_store(store, [CURTAINS], export_folder)).resumed
    assert await lines_in(store, FURNITURE) == lines_of([mine])
    await store.close()


async def test_two_imports_into_one_store_do_not_meet(export_folder: Path, target_store: EmbeddedBackend):
    results = await asyncio.gather(
        import_store(target_store, BOTH, export_folder),
        import_store(target_store, BOTH, export_folder),
        return_exceptions=True,
    )
    refused = [result for result in results if isinstance(result, BaseException)]
    assert len(refused) == 1
    assert isinstance(refused[0], BadInput)
    assert await holds_all(target_store)


async def test_an_export_that_is_being_made_is_not_imported(export_folder: Path, target_store: EmbeddedBackend):
    lock = PathLock(export_folder, shared=False).acquire()
    with pytest.raises(BadInput, match="is running"):
        await import_store(target_store, BOTH, export_folder)
    lock.release()


async def test_a_busy_store_that_leaves_items_unprocessed_gets_all_of_them(
    export_folder: Path, target_store: EmbeddedBackend
):
    strict = StrictBackend(target_store, random=Random(5), faults=Faults())
    await import_store(strict, BOTH, export_folder)
    assert await holds_all(target_store)


async def test_another_key_is_refused_before_anything_is_written(export_folder: Path, tmp_path: Path):
    other = structs.replace(FURNITURE, sk=KeyAttribute("SK", "N"), indexes=())
    store = await start_backend(tmp_path / "other.db", [other, CURTAINS])
    with pytest.raises(SchemaRefused, match=r"PK \(S\) and SK \(S\), but FurnitureOfARoom has PK \(S\) and SK \(N\)"):
        await import_store(store, [CURTAINS, other], export_folder)
    assert await lines_in(store, CURTAINS) == []
    await store.close()


async def test_an_item_that_a_new_index_cannot_take_is_refused_before_anything_is_written(
    export_folder: Path, tmp_path: Path
):
    weighed = IndexSchema("ByWeight", KeyAttribute("weight", "S"))
    other = structs.replace(FURNITURE, indexes=(weighed,))
    store = await start_backend(tmp_path / "other.db", [other, CURTAINS])
    with pytest.raises(SchemaRefused, match="weight is of type S") as refused:
        await import_store(store, [CURTAINS, other], export_folder)
    assert isinstance(refused.value.__cause__, WrongType)
    assert await lines_in(store, CURTAINS) == []
    await store.close()


async def test_a_table_that_the_export_lacks_is_named(export_folder: Path, target_store: EmbeddedBackend):
    with pytest.raises(SchemaRefused, match="no table Lamps. It holds CurtainsByNumber, FurnitureOfARoom"):
        await import_store(target_store, [TableSchema("Lamps", KeyAttribute("PK"))], export_folder)


async def test_some_tables_may_stay_behind_and_are_named(export_folder: Path, target_store: EmbeddedBackend):
    imported = await import_store(target_store, [CURTAINS], export_folder)
    assert imported.left_out == ("FurnitureOfARoom",)
    assert await lines_in(target_store, FURNITURE) == []


async def test_a_table_may_be_called_otherwise_in_its_new_home(export_folder: Path, tmp_path: Path):
    renamed = structs.replace(CURTAINS, name="CurtainsByNumber-dev")
    store = await start_backend(tmp_path / "other.db", [renamed])
    await import_store(store, [renamed], export_folder, names={"CurtainsByNumber-dev": "CurtainsByNumber"})
    assert await lines_in(store, renamed) == lines_of(items_for(CURTAINS, 40))
    await store.close()


class Meddled(EmbeddedBackend):
    """A store that somebody writes to right before it is read back."""

    pending: port.Write | None = None

    async def scan(self, read: port.ScanItems, consumed: ConsumedCapacity | None = None) -> port.Rows:
        await self._meddle()
        return await super().scan(read, consumed)

    async def batch_get(
        self, reads: Sequence[port.GetItem], consumed: ConsumedCapacity | None = None
    ) -> list[port.Row | Literal["unprocessed"] | None]:
        await self._meddle()
        return await super().batch_get(reads, consumed)

    async def _meddle(self) -> None:
        pending, self.pending = self.pending, None
        if pending is not None:
            await self.write(pending)


async def meddled(path: Path, export_folder: Path, write: port.Write, **options: Any) -> None:
    """Import into a fresh store that somebody meddles with."""
    store = Meddled(path)
    await store.start(BOTH)

    def phase(name: Phase) -> None:
        store.pending = write if name == "verify" else None

    try:
        await import_store(store, BOTH, export_folder, phase=phase, **options)
        assert store.pending is None
    finally:
        await store.close()


async def test_reading_back_finds_an_item_that_somebody_changed(export_folder: Path, tmp_path: Path):
    changed = {**items_for(FURNITURE, 1)[0], "changed": True}
    with pytest.raises(CopyDiffers, match=r"#0'\) differs"):
        await meddled(tmp_path / "spoilt.db", export_folder, port.PutItem(FURNITURE, changed))
    assert not list(export_folder.glob("zataku-import-*"))


async def test_reading_back_finds_an_item_that_came_from_elsewhere(export_folder: Path, tmp_path: Path):
    mine = {"PK": "mine", "SK": "mine"}
    with pytest.raises(CopyDiffers, match="holds 301 items, but the export holds 300"):
        await meddled(tmp_path / "spoilt.db", export_folder, port.PutItem(FURNITURE, mine))


async def test_an_item_that_expired_on_the_way_may_be_gone_but_no_other(export_folder: Path, tmp_path: Path):
    items = items_for(FURNITURE, 300)
    old = next(item for item in items if item.get("until") == PAST)
    young = next(item for item in items if "until" not in item)
    await meddled(tmp_path / "swept.db", export_folder, port.DeleteItem(FURNITURE, (old["PK"], old["SK"])))
    with pytest.raises(CopyDiffers, match="is missing"):
        await meddled(tmp_path / "spoilt.db", export_folder, port.DeleteItem(FURNITURE, (young["PK"], young["SK"])))


async def test_merged_items_are_read_back_one_by_one(export_folder: Path, tmp_path: Path):
    young = next(item for item in items_for(FURNITURE, 300) if "until" not in item)
    with pytest.raises(CopyDiffers, match="is missing"):
        await meddled(
            tmp_path / "spoilt.db", export_folder, port.DeleteItem(FURNITURE, (young["PK"], young["SK"])), merge=True
        )


async def test_progress_tells_of_the_check_the_writing_and_the_reading_back(
    export_folder: Path, target_store: EmbeddedBackend
):
    told: list[Any] = []
    await import_store(
        target_store,
        BOTH,
        export_folder,
        progress=lambda *words: told.append(words),
        phase=lambda name: told.append(name),
    )
    marks = [told.index(name) for name in ("check", "write", "verify")]
    for start, end in zip(marks, [*marks[1:], len(told)], strict=True):
        furniture = [words for words in told[start + 1 : end] if words[0] == "FurnitureOfARoom"]
        assert furniture[-1][1:3] == (300, 300)
        assert [words[1] for words in furniture] == sorted(words[1] for words in furniture)
        assert furniture[-1][3] > 10_000
