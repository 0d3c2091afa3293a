"""A walk over a store that brings every old item into today's shape.

It may run beside live traffic: each item is upgraded on condition that nothing of it has changed since it was read. It
may be stopped at any moment and started again, from the beginning or from where its last progress says.
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
from zataku.table.backend.values import Item, pack, unpack
from zataku.table.schema.revised_binding import RevisedBinding
from zataku.table.schema.table import Table
from zataku.table.store.row_readers import owner
from zataku.table.store.store import Store

# So many items are looked at between two breaths of the event loop.
_PAGE = 100
_DONE = True


class Tally(Struct):
    """What became of the items of one entity: `raced` are those that changed while they were being upgraded."""

    upgraded: int = 0
    current: int = 0
    raced: int = 0


class Left(Struct, frozen=True):
    """An item that was left as it is, and why. `key` is its key as it lies."""

    table: str
    entity: str | None
    key: Item
    problem: str


class Migrating(Struct, frozen=True):
    """How far the walk is, in items; `resume` is where a later call can go on."""

    done: int
    total: int
    resume: str


class Migrated(Struct):
    """What a walk has done, by the names of the entities; `resume` is None when it came to the end."""

    entities: dict[str, Tally]
    left: list[Left]
    resume: str | None = None

    @property
    def upgraded(self) -> int:
        """How many items were old and are not any more."""
        return sum(tally.upgraded for tally in self.entities.values())


async def migrate(
    store: Store,
    tables: Iterable[Table] | None = None,
    *,
    progress: Callable[[Migrating], None] | None = None,
    segments: int = 4,
    limit: int | None = None,
    dry_run: bool = False,
    resume: str | None = None,
) -> Migrated:
    """Upgrade every item of an earlier revision where it lies.

    Walks the tables that have an entity with upgrades, or those that are named, in `segments` stretches at once. Looks
    at no more than `limit` items. A dry run writes nothing and counts what would be upgraded. An item that cannot be
    upgraded is left as it is and told. `resume` is what the progress or result of an earlier call said.
    """
    if segments < 1 or (limit is not None and limit < 1):
        raise BadInput("A migration has at least one segment, and a limit of one item or more.")
    chosen = [table for table in store.tables if _upgrades(table)] if tables is None else list(tables)
    walk = _Walk(store, chosen, segments, limit, dry_run, resume)
    await walk.measure()
    for table in chosen:
        await walk.over(table, progress)
    return walk.result()


def _upgrades(table: Table) -> bool:
    return any((binding.revision or 1) > 1 for binding in table.bindings)


class _Walk:
    """One migration under way."""

    def __init__(
        self, store: Store, tables: Sequence[Table], segments: int, limit: int | None, dry_run: bool, resume: str | None
    ) -> None:
        self._store = store
        self._names = {store.schema(table).name for table in tables}
        self._dry_run = dry_run
        self._left_to_see = limit
        self._tallies: dict[str, Tally] = {}
        self._left: list[Left] = []
        self._total = 0
        before = _Standing(0, {}) if resume is None else _standing(resume)
        self._done = before.done
        # By table, for each segment: None at its beginning, the position after the last page, or that it is done.
        self._places: dict[str, list[Position | bool | None]] = {
            name: before.places.get(name) or [None] * segments for name in sorted(self._names)
        }

    async def measure(self) -> None:
        """Find out how many items there are, as far as the store knows."""
        sizes = await self._store.backend.sizes()
        self._total = sum(size.items for size in sizes if size.index is None and size.table in self._names)

    async def over(self, table: Table, progress: Callable[[Migrating], None] | None) -> None:
        """Walk over one table, all segments at once; the first that fails stops the others."""
        try:
            async with asyncio.TaskGroup() as group:
                for segment in range(len(self._places[self._store.schema(table).name])):
                    group.create_task(self._segment(table, segment, progress))
        except BaseExceptionGroup as problems:
            raise problems.exceptions[0] from None

    async def _segment(self, table: Table, segment: int, progress: Callable[[Migrating], None] | None) -> None:
        places = self._places[self._store.schema(table).name]
        while places[segment] is not _DONE:
            room = _PAGE if self._left_to_see is None else min(_PAGE, self._left_to_see)
            if room == 0:
                return
            if self._left_to_see is not None:
                # Set aside before the read, since other segments ask meanwhile.
                self._left_to_see -= room
            rows = await self._page(table, segment, room)
            if self._left_to_see is not None:
                self._left_to_see += room - rows.scanned
            for row in rows.rows:
                await self._item(table, row)
            places[segment] = _DONE if rows.resume is None else rows.resume
            self._done += rows.scanned
            if progress is not None:
                progress(Migrating(self._done, max(self._total, self._done), self._token()))
            await asyncio.sleep(0)

    async def _page(self, table: Table, segment: int, limit: int) -> Rows:
        store, schema = self._store, self._store.schema(table)
        places = self._places[schema.name]
        # Strong, so that an item which an old program wrote just before is not missed.
        read = ScanItems(
            schema,
            limit=limit,
            start=cast("Position | None", places[segment]),
            strong=True,
            segment=segment,
            segments=len(places),
        )
        return await store.calls(f"{table.name}.migrate", lambda consumed: store.backend.scan(read, consumed))

    async def _item(self, table: Table, row: Row) -> None:
        item = unpack(row) if isinstance(row, bytes) else row
        binding = None
        try:
            binding = owner(table.bindings, item)
            tally = self._tallies.setdefault(binding.entity.__name__, Tally())
            if isinstance(binding, RevisedBinding):
                await self._renew(table, binding, item, tally)
            else:
                tally.current += 1
        except (ItemUnreadable, BadInput) as problem:
            key = {key.name: item[key.name] for key in table.keys}
            kind = None if binding is None else binding.entity.__name__
            self._left.append(Left(self._store.schema(table).name, kind, key, problem.message))

    async def _renew(self, table: Table, binding: RevisedBinding[Any], item: Item, tally: Tally) -> None:
        for tries in range(1, self._store.retry.tries + 1):
            upgraded = binding.upgraded(item)
            if upgraded is None:
                tally.current += 1
                return
            try:
                if not self._dry_run:
                    await self._store.upgrader.renew(binding, self._store.schema(table), upgraded)
                tally.upgraded += 1
                return
            except ConditionFailed as refused:
                tally.raced += tries == 1
                if refused.current is None:
                    return  # It was deleted.
                row = cast("Row", refused.current)
                item = unpack(row) if isinstance(row, bytes) else row
            await self._store.retry.wait(tries)
        raise ItemUnreadable("The item changed again and again while it was being upgraded. Migrate once more.")

    def result(self) -> Migrated:
        """What was done, and where to go on."""
        whole = all(place is _DONE for places in self._places.values() for place in places)
        return Migrated(self._tallies, self._left, None if whole else self._token())

    def _token(self) -> str:
        return base64.urlsafe_b64encode(pack({"done": self._done, "places": self._places})).rstrip(b"=").decode()


class _Standing(Struct, frozen=True):
    """Where an earlier walk stopped."""

    done: int
    places: dict[str, list[dict[str, Any] | bool | None]]


def _standing(token: str) -> _Standing:
    try:
        packed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        return msgspec.convert(unpack(packed), _Standing)
    except (binascii.Error, msgspec.MsgspecError, ValueError, TableError):
        raise BadInput("This is not where a migration stopped. Start it from the beginning.") from None
