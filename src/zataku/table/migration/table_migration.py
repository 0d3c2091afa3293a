"""Migration of a store: upgrades every stored item of an earlier revision in place.

It may run during live traffic: each item is upgraded on condition that it has not changed since it was read. It may be
stopped at any time and restarted, from the beginning or from the `resume` token of its last progress.
"""

import asyncio
import base64
import binascii
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from zataku.table.backend.errors import BadInput, ConditionFailed, ItemUnreadable, TableError
from zataku.table.backend.port import Position, Row, Rows, ScanItems
from zataku.table.backend.values import Item, pack, unpack, unpack_row
from zataku.table.schema.revised_bindings import RevisedBinding
from zataku.table.schema.table import Table
from zataku.table.store.row_readers import binding_for_item
from zataku.table.store.store import Store

# Items read and upgraded before the segment yields to the event loop.
_PAGE_ITEMS = 100
_DONE = True


class MigrationCounts(Struct):
    """Item counts of one entity: `raced` items changed while they were being upgraded."""

    upgraded: int = 0
    current: int = 0
    raced: int = 0


class SkippedItem(Struct, frozen=True):
    """An item that was not upgraded, with the reason. `key` holds its stored key attributes."""

    table: str
    entity: str | None
    key: Item
    problem: str


class MigrationProgress(Struct, frozen=True):
    """Progress in items; `resume` is the token with which a later call continues."""

    done: int
    total: int
    resume: str


class MigrationResult(Struct):
    """Counts by entity name and skipped items; `resume` is None when the migration is complete."""

    entities: dict[str, MigrationCounts]
    skipped: list[SkippedItem]
    resume: str | None = None

    @property
    def upgraded(self) -> int:
        """Number of items upgraded."""
        return sum(counts.upgraded for counts in self.entities.values())


async def migrate(
    store: Store,
    tables: Iterable[Table] | None = None,
    *,
    progress: Callable[[MigrationProgress], None] | None = None,
    segments: int = 4,
    limit: int | None = None,
    dry_run: bool = False,
    resume: str | None = None,
) -> MigrationResult:
    """Upgrade every item of an earlier revision in place.

    Scans the given tables, by default those that have an entity with upgrades, in parallel `segments`, and reads at
    most `limit` items. A dry run writes nothing and counts what would be upgraded. An item that cannot be upgraded
    stays unchanged and is reported. `resume` is the token from the progress or result of an earlier call.
    """
    if segments < 1 or (limit is not None and limit < 1):
        raise BadInput("A migration needs at least one segment and a limit of at least one item. Give 1 or more.")
    chosen = [table for table in store.tables if _upgrades(table)] if tables is None else list(tables)
    migration = _Migration(store, chosen, segments, limit, dry_run, resume)
    await migration.count_items()
    for table in chosen:
        await migration.migrate_table(table, progress)
    return migration.result()


def _upgrades(table: Table) -> bool:
    return any((binding.revision or 1) > 1 for binding in table.bindings)


class _Migration:
    """One running migration."""

    def __init__(
        self, store: Store, tables: Sequence[Table], segments: int, limit: int | None, dry_run: bool, resume: str | None
    ) -> None:
        self._store = store
        self._names = {store.schema(table).name for table in tables}
        self._dry_run = dry_run
        self._remaining = limit
        self._counts: dict[str, MigrationCounts] = {}
        self._skipped: list[SkippedItem] = []
        self._total = 0
        earlier = _ResumeToken(0, {}) if resume is None else _decode_token(resume)
        self._done = earlier.done
        # By table and segment: None at the beginning, the position after the last page, or _DONE.
        self._places: dict[str, list[Position | bool | None]] = {
            name: earlier.places.get(name) or [None] * segments for name in sorted(self._names)
        }

    async def count_items(self) -> None:
        """Set the expected number of items, of which DynamoDB has an estimate."""
        sizes = await self._store.backend.sizes()
        self._total = sum(size.items for size in sizes if size.index is None and size.table in self._names)

    async def migrate_table(self, table: Table, progress: Callable[[MigrationProgress], None] | None) -> None:
        """Migrate one table, all segments in parallel; the first failure stops the others."""
        try:
            async with asyncio.TaskGroup() as group:
                for segment in range(len(self._places[self._store.schema(table).name])):
                    group.create_task(self._segment(table, segment, progress))
        except BaseExceptionGroup as problems:
            raise problems.exceptions[0] from None

    async def _segment(self, table: Table, segment: int, progress: Callable[[MigrationProgress], None] | None) -> None:
        places = self._places[self._store.schema(table).name]
        while places[segment] is not _DONE:
            limit = _PAGE_ITEMS if self._remaining is None else min(_PAGE_ITEMS, self._remaining)
            if limit == 0:
                return
            if self._remaining is not None:
                # Reserved before the read, since other segments read concurrently.
                self._remaining -= limit
            rows = await self._page(table, segment, limit)
            if self._remaining is not None:
                self._remaining += limit - rows.scanned
            for row in rows.rows:
                await self._migrate_item(table, row)
            places[segment] = _DONE if rows.resume is None else rows.resume
            self._done += rows.scanned
            if progress is not None:
                progress(MigrationProgress(self._done, max(self._total, self._done), self._token()))
            await asyncio.sleep(0)

    async def _page(self, table: Table, segment: int, limit: int) -> Rows:
        store, schema = self._store, self._store.schema(table)
        places = self._places[schema.name]
        # Strong, so that an item just written by a program of the old revision is not missed.
        read = ScanItems(
            schema,
            limit=limit,
            start=cast("Position | None", places[segment]),
            strong=True,
            segment=segment,
            segments=len(places),
        )
        return await store.calls(f"{table.name}.migrate", lambda consumed: store.backend.scan(read, consumed))

    async def _migrate_item(self, table: Table, row: Row) -> None:
        item = unpack_row(row)
        binding = None
        try:
            binding = binding_for_item(table.bindings, item)
            counts = self._counts.setdefault(binding.entity.__name__, MigrationCounts())
            if isinstance(binding, RevisedBinding):
                await self._upgrade(table, binding, item, counts)
            else:
                counts.current += 1
        except (ItemUnreadable, BadInput) as problem:
            key = {key.name: item[key.name] for key in table.keys}
            kind = None if binding is None else binding.entity.__name__
            self._skipped.append(SkippedItem(self._store.schema(table).name, kind, key, problem.message))

    async def _upgrade(self, table: Table, binding: RevisedBinding[Any], item: Item, counts: MigrationCounts) -> None:
        for attempt in range(1, self._store.retry.max_attempts + 1):
            upgraded = binding.upgrade_of(item)
            if upgraded is None:
                counts.current += 1
                return
            try:
                if not self._dry_run:
                    await self._store.upgrader.upgrade(binding, self._store.schema(table), upgraded)
                counts.upgraded += 1
                return
            except ConditionFailed as error:
                counts.raced += attempt == 1
                if error.current is None:
                    return  # It was deleted.
                row = cast("Row", error.current)
                item = unpack_row(row)
            await self._store.retry.wait(attempt)
        raise ItemUnreadable("The item kept changing while it was being upgraded. Run the migration again.")

    def result(self) -> MigrationResult:
        """The counts so far, and the resume token."""
        is_complete = all(place is _DONE for places in self._places.values() for place in places)
        return MigrationResult(self._counts, self._skipped, None if is_complete else self._token())

    def _token(self) -> str:
        return base64.urlsafe_b64encode(pack({"done": self._done, "places": self._places})).rstrip(b"=").decode()


class _ResumeToken(Struct, frozen=True):
    """Decoded resume token: items done, and the position of each segment."""

    done: int
    places: dict[str, list[dict[str, Any] | bool | None]]


def _decode_token(token: str) -> _ResumeToken:
    try:
        packed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        return msgspec.convert(unpack(packed), _ResumeToken)
    except (binascii.Error, msgspec.MsgspecError, ValueError, TableError):
        raise BadInput("The resume token is not valid. Start the migration from the beginning.") from None
