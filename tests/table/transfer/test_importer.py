"""Imports: into empty tables, merged with others, resumed after an interruption, and verified."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
from msgspec import structs

from tests.support.manual_clock import ManualClock
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


class InterruptedBackend(EmbeddedBackend):
    """A backend that becomes unreachable after a number of batches."""

    batches = 10**9

    async def batch_write(
        self, writes: Sequence[port.PutItem | port.DeleteItem], consumed: ConsumedCapacity | None = None
    ) -> list[port.PutItem | port.DeleteItem]:
        self.batches -= 1
        if self.batches < 0:
            raise StoreUnreachable("Unreachable.")
        return await super().batch_write(writes, consumed)


def calls_without_retries() -> MeteredCalls:
    return MeteredCalls(Retry(Random(1), RetryPolicy(max_attempts=1)), Meter())


@pytest.fixture
async def export_folder(source_store: EmbeddedBackend, folder: Path, clock: ManualClock) -> Path:
    """An export of about twenty parts."""
    await export_store(source_store, BOTH, folder, clock=clock, page_items=20, part_bytes=1)
    return folder


async def has_all_items(store: port.Backend) -> bool:
    furniture = await lines_in(store, FURNITURE) == lines_of(items_for(FURNITURE, 300))
    return furniture and await lines_in(store, CURTAINS) == lines_of(items_for(CURTAINS, 40))


async def test_every_item_is_imported_exactly_including_expired_ones(
    export_folder: Path, target_store: EmbeddedBackend
):
    imported = await import_store(target_store, BOTH, export_folder)
    assert await has_all_items(target_store)
    assert [(table.name, table.items) for table in imported.tables] == [
        ("FurnitureOfARoom", 300),
        ("CurtainsByNumber", 40),
    ]
    assert (imported.verified, imported.resumed, imported.left_out) == (True, False, ())
    assert any(item.get("until") == PAST for item in items_for(FURNITURE, 300))


async def test_a_finished_import_leaves_no_files_in_the_export(export_folder: Path, target_store: EmbeddedBackend):
    before = sorted(export_folder.rglob("*"))
    await import_store(target_store, BOTH, export_folder)
    assert sorted(export_folder.rglob("*")) == before


async def test_a_table_that_is_not_empty_is_refused(export_folder: Path, target_store: EmbeddedBackend):
    existing = {"number": 77, "mine": True}
    await fill(target_store, CURTAINS, [existing])
    with pytest.raises(BadInput, match="CurtainsByNumber is not empty"):
        await import_store(target_store, BOTH, export_folder)
    assert await lines_in(target_store, FURNITURE) == []
    assert await lines_in(target_store, CURTAINS) == lines_of([existing])
    assert not list(export_folder.glob("zataku-import-*"))


async def test_merging_replaces_items_with_the_same_key_and_keeps_others(
    export_folder: Path, target_store: EmbeddedBackend
):
    curtains = items_for(CURTAINS, 40)
    existing = {"number": 77, "mine": True}
    await fill(target_store, CURTAINS, [existing, {"number": curtains[3]["number"], "old": True}])
    await import_store(target_store, BOTH, export_folder, merge=True)
    assert await lines_in(target_store, CURTAINS) == lines_of([existing, *curtains])


async def test_an_interrupted_import_resumes_after_its_last_finished_part(export_folder: Path, tmp_path: Path):
    store = InterruptedBackend(tmp_path / "far.db")
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
    assert await has_all_items(store)
    assert not list(export_folder.glob("zataku-import-*"))
    await store.close()


async def test_an_unfinished_import_does_not_affect_another_store(
    export_folder: Path, tmp_path: Path, target_store: EmbeddedBackend
):
    store = InterruptedBackend(tmp_path / "far.db")
    await store.start(BOTH)
    store.batches = 3
    with pytest.raises(StoreUnreachable):
        await import_store(store, BOTH, export_folder, calls=calls_without_retries(), workers=1)
    assert not (await import_store(target_store, BOTH, export_folder)).resumed
    assert await has_all_items(target_store)
    assert len(list(export_folder.glob("zataku-import-*"))) == 1
    await store.close()


async def test_an_import_of_a_replaced_export_is_not_resumed(
    export_folder: Path, tmp_path: Path, source_store: EmbeddedBackend, clock: ManualClock
):
    store = InterruptedBackend(tmp_path / "far.db")
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
    assert await has_all_items(store)
    await store.close()


async def test_resuming_an_import_of_some_tables_still_requires_the_others_to_be_empty(
    export_folder: Path, tmp_path: Path
):
    store = InterruptedBackend(tmp_path / "far.db")
    await store.start(BOTH)
    existing = {"PK": "existing", "SK": "existing"}
    await fill(store, FURNITURE, [existing])
    store.batches = 1
    with pytest.raises(StoreUnreachable):
        await import_store(store, [CURTAINS], export_folder, calls=calls_without_retries(), workers=1)
    store.batches = 10**9
    with pytest.raises(BadInput, match="FurnitureOfARoom is not empty"):
        await import_store(store, BOTH, export_folder)
    assert (await import_store(store, [CURTAINS], export_folder)).resumed
    assert await lines_in(store, FURNITURE) == lines_of([existing])
    await store.close()


async def test_of_two_concurrent_imports_into_one_store_one_is_refused(
    export_folder: Path, target_store: EmbeddedBackend
):
    results = await asyncio.gather(
        import_store(target_store, BOTH, export_folder),
        import_store(target_store, BOTH, export_folder),
        return_exceptions=True,
    )
    refused = [result for result in results if isinstance(result, BaseException)]
    assert len(refused) == 1
    assert isinstance(refused[0], BadInput)
    assert await has_all_items(target_store)


async def test_a_running_export_is_not_imported(export_folder: Path, target_store: EmbeddedBackend):
    lock = PathLock(export_folder, shared=False).acquire()
    with pytest.raises(BadInput, match="is running"):
        await import_store(target_store, BOTH, export_folder)
    lock.release()


async def test_a_store_that_throttles_and_leaves_items_unprocessed_receives_every_item(
    export_folder: Path, target_store: EmbeddedBackend
):
    strict = StrictBackend(target_store, random=Random(5), faults=Faults(throttle=0.2, unprocessed=0.5))
    await import_store(strict, BOTH, export_folder)
    assert min(strict.injected["throttle"], strict.injected["unprocessed"]) > 0
    assert await has_all_items(target_store)


async def test_a_different_key_schema_is_refused_before_anything_is_written(export_folder: Path, tmp_path: Path):
    other = structs.replace(FURNITURE, sk=KeyAttribute("SK", "N"), indexes=())
    store = await start_backend(tmp_path / "other.db", [other, CURTAINS])
    with pytest.raises(SchemaRefused, match=r"PK \(S\) and SK \(S\), but FurnitureOfARoom has PK \(S\) and SK \(N\)"):
        await import_store(store, [CURTAINS, other], export_folder)
    assert await lines_in(store, CURTAINS) == []
    await store.close()


async def test_an_item_with_the_wrong_type_for_an_index_is_refused_before_anything_is_written(
    export_folder: Path, tmp_path: Path
):
    by_weight = IndexSchema("ByWeight", KeyAttribute("weight", "S"))
    other = structs.replace(FURNITURE, indexes=(by_weight,))
    store = await start_backend(tmp_path / "other.db", [other, CURTAINS])
    with pytest.raises(SchemaRefused, match="weight is of type S") as raised:
        await import_store(store, [CURTAINS, other], export_folder)
    assert isinstance(raised.value.__cause__, WrongType)
    assert await lines_in(store, CURTAINS) == []
    await store.close()


async def test_importing_a_table_missing_from_the_export_is_refused(export_folder: Path, target_store: EmbeddedBackend):
    with pytest.raises(SchemaRefused, match="no table Lamps. It holds CurtainsByNumber, FurnitureOfARoom"):
        await import_store(target_store, [TableSchema("Lamps", KeyAttribute("PK"))], export_folder)


async def test_tables_that_are_not_imported_are_reported(export_folder: Path, target_store: EmbeddedBackend):
    imported = await import_store(target_store, [CURTAINS], export_folder)
    assert imported.left_out == ("FurnitureOfARoom",)
    assert await lines_in(target_store, FURNITURE) == []


async def test_a_table_may_be_imported_under_another_name(export_folder: Path, tmp_path: Path):
    renamed = structs.replace(CURTAINS, name="CurtainsByNumber-dev")
    store = await start_backend(tmp_path / "other.db", [renamed])
    await import_store(store, [renamed], export_folder, names={"CurtainsByNumber-dev": "CurtainsByNumber"})
    assert await lines_in(store, renamed) == lines_of(items_for(CURTAINS, 40))
    await store.close()


class TamperedBackend(EmbeddedBackend):
    """A backend that runs a foreign write just before its next read."""

    pending: port.Write | None = None

    async def scan(self, read: port.ScanItems, consumed: ConsumedCapacity | None = None) -> port.Rows:
        await self._run_pending_write()
        return await super().scan(read, consumed)

    async def batch_get(
        self, reads: Sequence[port.GetItem], consumed: ConsumedCapacity | None = None
    ) -> list[port.Row | Literal["unprocessed"] | None]:
        await self._run_pending_write()
        return await super().batch_get(reads, consumed)

    async def _run_pending_write(self) -> None:
        pending, self.pending = self.pending, None
        if pending is not None:
            await self.write(pending)


async def import_with_foreign_write(path: Path, export_folder: Path, write: port.Write, **options: Any) -> None:
    """Import into a new store, and run a foreign write between writing and verification."""
    store = TamperedBackend(path)
    await store.start(BOTH)

    def phase(name: Phase) -> None:
        store.pending = write if name == "verify" else None

    try:
        await import_store(store, BOTH, export_folder, phase=phase, **options)
        assert store.pending is None
    finally:
        await store.close()


async def test_verification_finds_an_item_changed_after_it_was_written(export_folder: Path, tmp_path: Path):
    changed = {**items_for(FURNITURE, 1)[0], "changed": True}
    with pytest.raises(CopyDiffers, match=r"#0'\) differs"):
        await import_with_foreign_write(tmp_path / "tampered.db", export_folder, port.PutItem(FURNITURE, changed))
    assert not list(export_folder.glob("zataku-import-*"))


async def test_verification_finds_an_item_that_is_not_in_the_export(export_folder: Path, tmp_path: Path):
    existing = {"PK": "existing", "SK": "existing"}
    with pytest.raises(CopyDiffers, match="holds 301 items, but the export holds 300"):
        await import_with_foreign_write(tmp_path / "tampered.db", export_folder, port.PutItem(FURNITURE, existing))


async def test_verification_tolerates_the_loss_of_expired_items_only(export_folder: Path, tmp_path: Path):
    items = items_for(FURNITURE, 300)
    expired = next(item for item in items if item.get("until") == PAST)
    lasting = next(item for item in items if "until" not in item)
    await import_with_foreign_write(
        tmp_path / "swept.db", export_folder, port.DeleteItem(FURNITURE, (expired["PK"], expired["SK"]))
    )
    with pytest.raises(CopyDiffers, match="is missing"):
        await import_with_foreign_write(
            tmp_path / "tampered.db", export_folder, port.DeleteItem(FURNITURE, (lasting["PK"], lasting["SK"]))
        )


async def test_verification_after_a_merge_finds_a_missing_item(export_folder: Path, tmp_path: Path):
    lasting = next(item for item in items_for(FURNITURE, 300) if "until" not in item)
    with pytest.raises(CopyDiffers, match="is missing"):
        await import_with_foreign_write(
            tmp_path / "tampered.db",
            export_folder,
            port.DeleteItem(FURNITURE, (lasting["PK"], lasting["SK"])),
            merge=True,
        )


async def test_progress_is_reported_for_check_write_and_verify(export_folder: Path, target_store: EmbeddedBackend):
    reports: list[Any] = []
    await import_store(
        target_store,
        BOTH,
        export_folder,
        progress=lambda *report: reports.append(report),
        phase=lambda name: reports.append(name),
    )
    starts = [reports.index(name) for name in ("check", "write", "verify")]
    for start, end in zip(starts, [*starts[1:], len(reports)], strict=True):
        furniture = [report for report in reports[start + 1 : end] if report[0] == "FurnitureOfARoom"]
        assert furniture[-1][1:3] == (300, 300)
        assert [report[1] for report in furniture] == sorted(report[1] for report in furniture)
        assert furniture[-1][3] > 10_000
