"""Import of an export into the tables of a store."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from zataku.clock import Clock, SystemClock
from zataku.table.backend.errors import CopyDiffers, ExportDamaged
from zataku.table.backend.limits import BATCH_WRITES
from zataku.table.backend.port import Backend, PutItem
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.values import Item
from zataku.table.store.batch import Batches
from zataku.table.store.capacity_meter import MeteredCalls
from zataku.table.transfer.atomic_files import PathLock
from zataku.table.transfer.export_reader import ExportedTable, open_export
from zataku.table.transfer.export_record import store_identity
from zataku.table.transfer.import_checks import CheckedParts, check_parts, match_tables, require_empty_tables
from zataku.table.transfer.import_journal import ImportJournal
from zataku.table.transfer.parts import Part
from zataku.table.transfer.reads import TransferProgress, TransferredTable, default_calls, first_error, item_batches
from zataku.table.transfer.verification import verify_import

# An import checks all parts, writes, then verifies; progress starts again in each phase.
Phase: TypeAlias = Literal["check", "write", "verify"]


class ImportResult(Struct, frozen=True):
    """A finished import. `left_out` names tables of the export that were not requested."""

    folder: Path
    tables: tuple[TransferredTable, ...]
    verified: bool
    resumed: bool = False
    left_out: tuple[str, ...] = ()


async def import_store(
    backend: Backend,
    tables: Sequence[TableSchema],
    folder: Path,
    *,
    clock: Clock | None = None,
    progress: TransferProgress | None = None,
    phase: Callable[[Phase], None] | None = None,
    verify: bool = True,
    merge: bool = False,
    names: Mapping[str, str] | None = None,
    workers: int = 16,
    calls: MeteredCalls | None = None,
) -> ImportResult:
    """Write the items of an export into tables that the backend was started with.

    All parts are checked before the first item is written, so a damaged export changes nothing. Tables that are not
    empty are refused unless `merge` allows replacing items with the same key. An interrupted import continues after its
    last finished part. Expired items are imported like all others.

    `names` maps a table to its name in the export where it differs. With `verify`, the store is read back: the tables
    must hold exactly the items of the export, or at least all of them when merging.
    """
    calls = calls or default_calls()
    report_phase: Callable[[Phase], None] = phase or (lambda _: None)
    lock = await asyncio.to_thread(_lock_folder, folder)
    try:
        export = await asyncio.to_thread(open_export, folder)
        pairs = match_tables(export, tables, names or {})
        report_phase("check")
        checked = {table.name: await check_parts(table, exported, progress) for table, exported in pairs}
        into = {table.name: exported.name for table, exported in pairs}
        journal = await asyncio.to_thread(ImportJournal, folder, await store_identity(backend), export.identity, into)
        run = _ImportRun(backend, calls, journal, pairs, checked, report_phase, progress)
        try:
            await run.prepare(merge)
            imported = await run.write(workers)
            if verify:
                await run.read_back(clock or SystemClock())
            await asyncio.to_thread(journal.delete)
        except CopyDiffers:
            # A resumed import would find all parts written, so the next one has to start from the beginning.
            await asyncio.to_thread(journal.delete)
            raise
        finally:
            await asyncio.to_thread(journal.close)
    finally:
        lock.release()
    left_out = tuple(sorted(export.tables.keys() - {exported.name for _, exported in pairs}))
    return ImportResult(folder, imported, verify, journal.resumed, left_out)


class _ImportRun(Struct):
    """An import whose export has passed all checks."""

    backend: Backend
    calls: MeteredCalls
    journal: ImportJournal
    pairs: list[tuple[TableSchema, ExportedTable]]
    checked: dict[str, CheckedParts]
    report_phase: Callable[[Phase], None]
    progress: TransferProgress | None

    async def prepare(self, merge: bool) -> None:
        """Check that the tables are empty where required, and record that the import has started."""
        if not merge and not self.journal.resumed:
            await require_empty_tables(self.backend, self.calls, [table for table, _ in self.pairs])
        await asyncio.to_thread(self.journal.begin, merge)

    async def write(self, workers: int) -> tuple[TransferredTable, ...]:
        """Write all parts that are not imported yet."""
        self.report_phase("write")
        writer = _Writer(self.backend, self.calls, workers, self.journal, self.progress)
        return tuple(
            [await writer.write(table, exported, self.checked[table.name].size) for table, exported in self.pairs]
        )

    async def read_back(self, clock: Clock) -> None:
        """Compare the store with the export."""
        self.report_phase("verify")
        for table, exported in self.pairs:
            expected = None if self.journal.merge else self.checked[table.name].checksum
            await verify_import(self.backend, self.calls, table, exported, expected, clock.now(), self.progress)


def _lock_folder(folder: Path) -> PathLock:
    if not folder.is_dir():
        raise ExportDamaged(f"{folder} is not a folder. Name the folder of an export.", path=str(folder))
    return PathLock(folder, shared=True).acquire()


def _part_name(table: ExportedTable, part: Part) -> str:
    return f"{table.name}/{part.path.name}"


class _Writer:
    """Writes the parts that are not imported yet."""

    def __init__(
        self,
        backend: Backend,
        calls: MeteredCalls,
        workers: int,
        journal: ImportJournal,
        progress: TransferProgress | None,
    ) -> None:
        self._batches = Batches(backend, calls)
        self._workers = workers
        self._journal = journal
        self._progress = progress

    async def write(self, table: TableSchema, exported: ExportedTable, size: int) -> TransferredTable:
        """Import the missing parts of a table."""
        missing = [part for part in exported.parts if not self._journal.has(_part_name(exported, part))]
        done = exported.items - sum(part.items for part in missing)
        self._report_progress(table, exported, done, size)
        for part in missing:
            async with aclosing(item_batches(part, self._workers * BATCH_WRITES)) as reading:
                async for items in reading:
                    await self._put(table, items)
                    done += len(items)
                    self._report_progress(table, exported, done, size)
            await asyncio.to_thread(self._journal.add, _part_name(exported, part))
        return TransferredTable(table.name, done, size)

    async def _put(self, table: TableSchema, items: list[Item]) -> None:
        puts = [PutItem(table, item) for item in items]
        steps = [puts[at : at + BATCH_WRITES] for at in range(0, len(puts), BATCH_WRITES)]
        try:
            async with asyncio.TaskGroup() as tasks:
                for step in steps:
                    tasks.create_task(self._batches.write(f"{table.name}.import", step))
        except BaseExceptionGroup as group:
            raise first_error(group) from None

    def _report_progress(self, table: TableSchema, exported: ExportedTable, done: int, size: int) -> None:
        if self._progress is not None:
            # The bytes of all items are known from the check; a proportional share is accurate enough.
            self._progress(table.name, done, exported.items, size * done // max(exported.items, 1))
