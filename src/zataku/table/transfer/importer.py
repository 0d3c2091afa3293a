"""Moving in: the items of an export into the tables of a store."""

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
from zataku.table.store.metering import MeteredCalls
from zataku.table.transfer.atomic_files import PathLock
from zataku.table.transfer.export_reader import ExportedTable, open_export
from zataku.table.transfer.export_record import store_identity
from zataku.table.transfer.import_checks import Checked, check_parts, matched, refuse_filled
from zataku.table.transfer.import_journal import ImportJournal
from zataku.table.transfer.parts import Part
from zataku.table.transfer.reads import TransferProgress, TransferredTable, default_calls, first_error, portions
from zataku.table.transfer.verification import verify_copy

# An import first looks at everything, then writes, then reads back; each begins to count anew.
Phase: TypeAlias = Literal["check", "write", "verify"]


class ImportResult(Struct, frozen=True):
    """A finished import. `left_out` names tables of the export that nobody asked for."""

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
    """Write the items of an export into tables that the store has been started with.

    All parts are checked before the first item is written, so a damaged export changes nothing. Tables that are not
    empty are refused unless `merge` allows to replace items with the same key. An import that was interrupted goes on
    after its last finished part. Expired items move like all others.

    `names` says what a table is called in the export, where it is called otherwise. With `verify`, the store is read
    back: the tables must hold exactly the items of the export, or at least all of them when merging.
    """
    making = calls or default_calls()
    tell: Callable[[Phase], None] = phase or (lambda _: None)
    lock = await asyncio.to_thread(_entered, folder)
    try:
        export = await asyncio.to_thread(open_export, folder)
        pairs = matched(export, tables, names or {})
        tell("check")
        checked = {table.name: await check_parts(table, found, progress) for table, found in pairs}
        into = {table.name: found.name for table, found in pairs}
        state = await asyncio.to_thread(ImportJournal, folder, await store_identity(backend), export.identity, into)
        journey = _Journey(backend, making, state, pairs, checked, tell, progress)
        try:
            await journey.prepare(merge)
            moved = await journey.write(workers)
            if verify:
                await journey.read_back(clock or SystemClock())
            await asyncio.to_thread(state.finished)
        except CopyDiffers:
            # Going on would find all parts written: the next import has to begin anew.
            await asyncio.to_thread(state.finished)
            raise
        finally:
            await asyncio.to_thread(state.close)
    finally:
        lock.release()
    left_out = tuple(sorted(export.tables.keys() - {found.name for _, found in pairs}))
    return ImportResult(folder, moved, verify, state.resumed, left_out)


class _Journey(Struct):
    """An import whose export has been seen to be whole."""

    backend: Backend
    calls: MeteredCalls
    state: ImportJournal
    pairs: list[tuple[TableSchema, ExportedTable]]
    checked: dict[str, Checked]
    tell: Callable[[Phase], None]
    progress: TransferProgress | None

    async def prepare(self, merge: bool) -> None:
        """See that there is room for the items, and note that the import has begun."""
        if not merge and not self.state.resumed:
            await refuse_filled(self.backend, self.calls, [table for table, _ in self.pairs])
        await asyncio.to_thread(self.state.begin, merge)

    async def write(self, workers: int) -> tuple[TransferredTable, ...]:
        """Put everything into the store that is not there yet."""
        self.tell("write")
        writer = _Writer(self.backend, self.calls, workers, self.state, self.progress)
        return tuple([await writer.write(table, found, self.checked[table.name].size) for table, found in self.pairs])

    async def read_back(self, clock: Clock) -> None:
        """Compare what lies in the store with the export."""
        self.tell("verify")
        for table, found in self.pairs:
            sums = None if self.state.merge else self.checked[table.name].checksum
            await verify_copy(self.backend, self.calls, table, found, sums, clock.now(), self.progress)


def _entered(folder: Path) -> PathLock:
    if not folder.is_dir():
        raise ExportDamaged(f"{folder} is no folder. Name the folder of an export.", path=str(folder))
    return PathLock(folder, shared=True).take()


def _name(table: ExportedTable, part: Part) -> str:
    return f"{table.name}/{part.path.name}"


class _Writer:
    """Writes the parts that are not in the store yet."""

    def __init__(
        self,
        backend: Backend,
        calls: MeteredCalls,
        workers: int,
        state: ImportJournal,
        progress: TransferProgress | None,
    ) -> None:
        self._batches = Batches(backend, calls)
        self._workers = workers
        self._state = state
        self._progress = progress

    async def write(self, table: TableSchema, found: ExportedTable, size: int) -> TransferredTable:
        """All items of a table."""
        missing = [part for part in found.parts if not self._state.has(_name(found, part))]
        done = found.items - sum(part.items for part in missing)
        self._told(table, found, done, size)
        for part in missing:
            async with aclosing(portions(part, self._workers * BATCH_WRITES)) as reading:
                async for items in reading:
                    await self._put(table, items)
                    done += len(items)
                    self._told(table, found, done, size)
            await asyncio.to_thread(self._state.add, _name(found, part))
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

    def _told(self, table: TableSchema, found: ExportedTable, done: int, size: int) -> None:
        if self._progress is not None:
            # The lines of all items were measured by the check; their share is near enough.
            self._progress(table.name, done, found.items, size * done // max(found.items, 1))
