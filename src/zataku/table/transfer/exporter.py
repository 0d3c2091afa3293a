"""Export of tables to a folder in the format of DynamoDB's export to S3."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import msgspec
from msgspec import Struct

from zataku.clock import Clock
from zataku.table.backend.port import Backend, Position
from zataku.table.backend.table_schema import TableSchema
from zataku.table.backend.wire import wire_item
from zataku.table.store.capacity_meter import MeteredCalls
from zataku.table.transfer.atomic_files import Journal, PathLock, write_errors
from zataku.table.transfer.dynamodb_json import decode_item
from zataku.table.transfer.export_folder import ExportFolder, prepare_export_folder
from zataku.table.transfer.export_reader import open_export
from zataku.table.transfer.export_record import store_identity
from zataku.table.transfer.parts import PartRecord, PartWriter
from zataku.table.transfer.reads import TransferProgress, TransferredTable, default_calls, first_error, prefetched_pages

PART_BYTES = 64 << 20


class ExportResult(Struct, frozen=True):
    """A complete export; `was_complete` before this run, or `resumed` after an earlier run had started it."""

    folder: Path
    tables: tuple[TransferredTable, ...]
    was_complete: bool = False
    resumed: bool = False


async def export_store(
    backend: Backend,
    tables: Sequence[TableSchema],
    folder: Path,
    *,
    clock: Clock,
    progress: TransferProgress | None = None,
    part_bytes: int = PART_BYTES,
    page_items: int | None = None,
    segments: int = 1,
    strong: bool = True,
    again: bool = False,
    calls: MeteredCalls | None = None,
) -> ExportResult:
    """Write all items of the tables into a folder, in DynamoDB's own export format.

    An interrupted run continues after its last finished part, with the segments it started with. A complete export is
    kept, unless `again` replaces it. Each item is as of some moment of the run; the export is consistent only when the
    store is not written to during the run.

    The `segments` are read in parallel; memory holds two pages for each. `strong` reads cost twice on DynamoDB.
    """
    source, facts = await store_identity(backend), await backend.facts()

    def prepare() -> tuple[PathLock, ExportFolder]:
        with write_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        lock = PathLock(folder, shared=False).acquire()
        try:
            return lock, prepare_export_folder(folder, tables, source, facts, clock.now(), segments, again=again)
        except BaseException:
            lock.release()
            raise

    lock, export = await asyncio.to_thread(prepare)
    try:
        if export.record.state == "complete":
            await asyncio.to_thread(open_export, folder)
        else:
            sizes = {size.table: size.items for size in await backend.sizes() if size.index is None}
            for table in tables:
                table_export = _TableExport(backend, table, calls or default_calls(), part_bytes, page_items, strong)
                table_export.report(progress, sizes.get(table.name))
                await table_export.run(export)
            export = await asyncio.to_thread(export.completed, clock.now())
    finally:
        lock.release()
    exported = tuple(TransferredTable(table.schema.name, table.items, table.bytes) for table in export.record.tables)
    return ExportResult(folder, exported, export.was_complete, export.resumed)


class _TableExport:
    """The export of one table."""

    def __init__(
        self,
        backend: Backend,
        table: TableSchema,
        calls: MeteredCalls,
        part_bytes: int,
        page_items: int | None,
        strong: bool,
    ) -> None:
        self._backend = backend
        self._table = table
        self._calls = calls
        self._part_bytes = part_bytes
        self._page_items = page_items
        self._strong = strong
        self._progress: TransferProgress | None = None
        self._expected: int | None = None
        self._items = self._bytes = 0

    def report(self, progress: TransferProgress | None, expected: int | None) -> None:
        """Set the progress callback. DynamoDB's item count is hours old, so it may be too small."""
        self._progress, self._expected = progress, expected or None

    async def run(self, export: ExportFolder) -> None:
        """Export the remaining items."""
        journal = await asyncio.to_thread(export.journal, self._table)
        try:
            records = [msgspec.json.decode(line, type=PartRecord) for line in journal.lines]
            self._report_progress(sum(part.items for part in records), sum(part.text for part in records))
            segments = export.record.segments
            async with asyncio.TaskGroup() as tasks:
                for number in range(segments):
                    done = [part for part in records if part.segment == number]
                    tasks.create_task(self._segment(export, journal, number, segments, done))
        except BaseExceptionGroup as group:
            raise first_error(group) from None
        finally:
            journal.close()

    async def _segment(
        self, export: ExportFolder, journal: Journal, number: int, segments: int, done: list[PartRecord]
    ) -> None:
        after = done[-1].after if done else None
        if done and after is None:
            return
        start = None if after is None else decode_item(after)
        count = len(done)
        part: PartWriter | None = None
        try:
            reading = prefetched_pages(
                self._backend,
                self._calls,
                "export",
                self._table,
                start=start,
                limit=self._page_items,
                strong=self._strong,
                segment=number,
                segments=segments,
            )
            async with aclosing(reading) as pages:
                async for page in pages:
                    if part is None:
                        part = await asyncio.to_thread(PartWriter, export.part_path(self._table, number, count))
                    size = await asyncio.to_thread(part.add, page.rows)
                    self._report_progress(len(page.rows), size)
                    if part.text >= self._part_bytes or page.resume is None:
                        await asyncio.to_thread(_finish, part, journal, number, page.resume)
                        part, count = None, count + 1
        finally:
            if part is not None:
                part.abandon()

    def _report_progress(self, items: int, size: int) -> None:
        self._items += items
        self._bytes += size
        if self._progress is not None:
            is_plausible = self._expected is not None and self._expected >= self._items
            self._progress(self._table.name, self._items, self._expected if is_plausible else None, self._bytes)


def _finish(part: PartWriter, journal: Journal, number: int, resume: Position | None) -> None:
    record = part.finish(number, None if resume is None else wire_item(resume))
    journal.add(msgspec.json.encode(record))
