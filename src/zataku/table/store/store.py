"""The typed store and its contract: what each call promises on every backend.

It promises what Amazon DynamoDB promises and no more, so that a system written against it runs on either backend.

- **Durability.** When a write returns, it is on disk (or in DynamoDB); a crash right after loses nothing.
- **Atomicity.** A write that raises has changed nothing, with two exceptions: `ResultUnknown` means that the reply was
  lost and the write may or may not have happened: read before continuing. `WrittenUnreadable` means that an update was
  written to an item that did not fit its entity before, and still does not, or that breaks a rule in `__post_init__`.
- **Bounds.** No write stores a value that its field refuses. Values are validated before the write; the limits of a
  field that is edited in place (`add`, `append`, `include` ...) are part of the condition of the write, which raises
  `OutOfBounds`. A rule in `__post_init__` is not: `put` and `save` check it, an update needs a `when` that ensures it.
- **Foreign items.** An item that does not fit its entity, written by another program or damaged, raises
  `ItemUnreadable`, which names it. A page ends before such an item; the page that would begin with it raises the
  error, whose `cursor` continues after it. With `unreadable`, a function, reads pass such items to it and leave them
  out. The `current` of a failed condition is then an `UnreadableItem`.
- **Consistency.** Reads are eventually consistent by default and may miss recent writes. A strong read sees every write
  acknowledged before it began. A global index has no strong reads.
- **Order.** A page is sorted by its sort key: strings by UTF-8 bytes, numbers by value, bytes by value. The order of
  items with equal index sort keys is stable but unspecified.
- **Time to live.** An expired item is invisible to reads, and absent for `if_absent`, `update`, `upsert` and the
  checks of a transaction, even before a sweep deletes it; the stream reports a put over it as MODIFY. Other
  conditions, `save`, `delete` and the `current` of a failed condition still see it. Views and counts on an index that
  does not project the TTL attribute, or has it as a key, include it until it is swept.
- **Revisions.** An item of an earlier revision of its entity is read in the current shape, and upgraded in place before
  a write evaluates or edits it, which the stream reports as MODIFY. An item of a later revision raises
  `ItemUnreadable` and stays unchanged. An index keeps old items under their old keys until `migrate` has run.
- **Retries.** Throttling and transaction conflicts are retried with growing pauses, a bounded number of times; then the
  error is raised.
- **Limits.** DynamoDB's limits hold on every backend; exceeding one raises a `BadInput` that states what to do.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from os import PathLike, fspath
from random import Random
from types import TracebackType
from typing import Any, TypeVar

from zataku.clock import Clock, SystemClock
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import DesignError, ItemUnreadable, LacksCapability, TableError, TooManyItems
from zataku.table.backend.limits import TRANSACTION_ITEMS
from zataku.table.backend.port import Backend, GetItem, IndexState, Progress, Row, Written
from zataku.table.backend.table_schema import TableSchema
from zataku.table.schema.access_pattern import Query
from zataku.table.schema.entity import Entity, Key, View, binding_of
from zataku.table.schema.field_path import Condition, Edit
from zataku.table.schema.plan import Plan
from zataku.table.schema.table import Index, Table, required_capabilities
from zataku.table.store import upsert_requests, write_requests
from zataku.table.store.batch import Batches
from zataku.table.store.capacity_meter import Meter, MeteredCalls
from zataku.table.store.conditional_writes import ConditionalWrites
from zataku.table.store.item_upgrade import ItemUpgrader
from zataku.table.store.paging import Page, Paging
from zataku.table.store.permissions import Permissions
from zataku.table.store.restricted_backend import RestrictedBackend
from zataku.table.store.retry import Retry
from zataku.table.store.row_readers import Report, decode_unexpired, decode_written
from zataku.table.store.stream import Stream
from zataku.table.store.transaction import Transaction, execute_plan

E = TypeVar("E", bound=Entity)
R = TypeVar("R", bound=Entity | View)


class Store:
    """Typed reads and writes of the entities of some tables, over a backend."""

    def __init__(
        self,
        backend: Backend,
        tables: Sequence[Table],
        *,
        secret: bytes,
        env: str = "prod",
        clock: Clock | None = None,
        retry: Retry | None = None,
        calls: MeteredCalls | None = None,
    ) -> None:
        self.backend = backend
        self.tables = tuple(tables)
        self.env = env
        self.clock: Clock = clock or SystemClock()
        self.retry = retry or Retry(Random())
        self._schemas = {table: table.schema(env) for table in tables}
        self.calls = calls or MeteredCalls(self.retry, Meter())
        self.meter = self.calls.meter
        # Usage metered by shared calls is flushed by the store that made them.
        self._owns_meter = calls is None
        self._secret = secret
        self._batches = Batches(backend, self.calls)
        self.upgrader = ItemUpgrader(backend, self.calls)
        self.writes = ConditionalWrites(backend, self.calls, self.upgrader)
        self._paging = Paging(backend, self.calls, self.clock, secret, self.schema)

    @classmethod
    async def open(
        cls,
        backend: Backend,
        tables: Sequence[Table],
        *,
        env: str = "prod",
        clock: Clock | None = None,
        retry: Retry | None = None,
        secret: bytes | None = None,
    ) -> "Store":
        """Create or update the tables in the backend and return a store for them.

        Raises `LacksCapability` before it changes anything when the backend lacks something a table needs. New global
        indexes are filled in the background; a query on one raises `IndexNotReady` until it is complete.
        """
        schemas = [table.schema(env) for table in tables]
        names = [schema.name for schema in schemas]
        if len(set(names)) != len(names):
            raise DesignError(f"Two tables have the same name among {', '.join(sorted(names))}.")
        for table in tables:
            lacking = required_capabilities(table) - backend.capabilities
            if lacking:
                raise LacksCapability(f"{table.name} needs {', '.join(sorted(lacking))}, which this store cannot do.")
        await backend.start(schemas)
        signing = secret or await backend.secret()
        return cls(backend, tables, secret=signing, env=env, clock=clock, retry=retry)

    async def close(self) -> None:
        """Finish accepted writes and close the backend. Later calls raise `StoreClosed`."""
        try:
            await self.flush_usage()
        except TableError:
            # A store that is damaged, full or closed loses some statistics; it is closed in any case.
            pass
        await self.backend.close()

    async def __aenter__(self) -> "Store":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def schema(self, table: Table) -> TableSchema:
        """The schema of a table, under its name in this environment."""
        try:
            return self._schemas[table]
        except KeyError:
            raise DesignError(f"{table.name} was not opened with this store.") from None

    def schema_of(self, entity: type[Entity]) -> TableSchema:
        """The schema of the table that holds an entity."""
        return self.schema(binding_of(entity).table)

    def restricted(self, permissions: Permissions) -> "Store":
        """A handle on the same store that raises `NotGranted`, and does nothing, for calls that are not permitted.

        It shares the clock, the meter and the cursors of this store. Closing it leaves the store open.
        """
        grants = {self.schema(grant.table).name: grant for grant in permissions.grants}
        backend = RestrictedBackend(self.backend, permissions.function, grants)
        return Store(
            backend,
            self.tables,
            secret=self._secret,
            env=self.env,
            clock=self.clock,
            retry=self.retry,
            calls=self.calls,
        )

    # Reading

    async def get(self, key: Key[E], *, strong: bool = False) -> E | None:
        """One item, or None. The read is strong when requested here or declared in the access pattern."""
        binding = binding_of(key.entity)
        read = GetItem(self.schema(binding.table), (key.pk, key.sk), strong or key.strong)
        label = key.pattern or f"{binding.table.name}.get {key.entity.__name__}"
        row = await self.calls(label, partial(self.backend.get, read))
        return self._entity(key, row)

    async def get_many(
        self, keys: Sequence[Key[E]], *, strong: bool = False, unreadable: Report | None = None
    ) -> list[E | None]:
        """Any number of items in the order of their keys, None for an absent one. Not atomic: see `snapshot`."""
        schemas = {entity: self.schema_of(entity) for entity in {key.entity for key in keys}}
        reads = [GetItem(schemas[key.entity], (key.pk, key.sk), strong or key.strong) for key in keys]
        rows = await self._batches.get(_label("get_many", [key.entity for key in keys]), reads)
        return [self._entity(key, row, unreadable) for key, row in zip(keys, rows, strict=True)]

    async def snapshot(self, *keys: Key[E]) -> list[E | None]:
        """At most 100 items as of one moment: a transaction is visible entirely or not at all."""
        unique = list(dict.fromkeys(keys))
        if len(unique) > TRANSACTION_ITEMS:
            raise TooManyItems(f"A snapshot takes at most {TRANSACTION_ITEMS} items, not {len(unique)}. Request fewer.")
        reads = [GetItem(self.schema_of(key.entity), (key.pk, key.sk), strong=True) for key in unique]
        label = _label("snapshot", [key.entity for key in unique])
        results = await self.calls(label, partial(self.backend.snapshot, reads))
        rows = dict(zip(unique, results, strict=True))
        return [self._entity(key, rows[key]) for key in keys]

    async def page(
        self, query: Query[R], *, limit: int = 50, after: str | None = None, unreadable: Report | None = None
    ) -> Page[R]:
        """The next `limit` results after a cursor.

        A page with a cursor may hold fewer results, or none, where a filter or expiry excludes many; a full last page
        may have a cursor to an empty one. A cursor is valid for the same query only, in every process that shares the
        secret, and does not expire.
        """
        return await self._paging.page(query, limit, after, unreadable)

    def each(self, query: Query[R], *, unreadable: Report | None = None) -> AsyncIterator[R]:
        """Iterate over all results of a query, reading a page at a time."""
        return self._paging.each(query, unreadable)

    async def first(self, query: Query[R]) -> R | None:
        """The first result of a query, or None."""
        after = None
        while True:
            page = await self.page(query, limit=1, after=after)
            if page.items or page.cursor is None:
                return page.items[0] if page.items else None
            after = page.cursor

    async def count(self, query: Query[R]) -> int:
        """Number of items that the query matches. All of them are read and charged."""
        return await self._paging.count(query)

    def scan(
        self, table: Table, *, segment: int = 0, segments: int = 1, unreadable: Report | None = None
    ) -> AsyncIterator[Entity]:
        """Iterate over a table, for jobs: unordered, eventually consistent. Parallel workers take one segment each."""
        return self._paging.scan(table, segment, segments, unreadable)

    def scan_index(
        self, index: Index, kind: type[R], *, segment: int = 0, segments: int = 1, unreadable: Report | None = None
    ) -> AsyncIterator[R]:
        """Iterate over an index that holds one kind of item, for jobs: unordered, eventually consistent.

        A sparse index costs only what it holds, however large its table is.
        """
        return self._paging.scan_index(index, kind, segment, segments, unreadable)

    # Writing

    async def put(self, entity: E, *, when: Condition[E] | None = None, if_absent: bool = False) -> E:
        """Write a whole item; `if_absent` never replaces one. Raises `ConditionFailed` with the current item."""
        write = write_requests.put(self.schema_of(type(entity)), entity, when, if_absent, self.clock.now())
        await self.writes("put", type(entity), write)
        return entity

    async def save(self, entity: E, *, was: E) -> E:
        """Write the differences between two states of an item if the old state is still current; returns the new state.

        Raises `ConditionFailed` after a concurrent write: with a version field, after any `save` or `update`, and any
        `put` with another version; without one, after any write to the differing attributes.
        """
        entity, write = write_requests.save(self.schema_of(type(entity)), entity, was)
        if write is not None:
            await self.writes("save", type(entity), write)
        return entity

    async def update(self, key: Key[E], *edits: Edit[E], when: Condition[E] | None = None) -> E:
        """Edit an existing item without reading it first; returns the new state.

        Index keys that depend on the edits are recomputed. Raises `StaleIndexKey` when one cannot be computed,
        `ConditionFailed` when the item is absent or expired, and `OutOfBounds` when the item meets the condition but
        an edit would take a field out of its bounds.
        """
        write = write_requests.update(self.schema_of(key.entity), key, edits, when, self.clock.now())
        return _new_state(key, await self.writes("update", key.entity, write))

    async def upsert(self, key: Key[E], *edits: Edit[E], when: Condition[E] | None = None) -> E:
        """Edit an item, or create it from the edits when it is absent or expired; returns the new state.

        Every field without a default must be set, by `set`, `set_if_missing`, `add`, `append` or `include`: `BadUpdate`
        names those that are not. `when` is about an item that exists. The other errors are those of `update`.
        """
        now = self.clock.now()
        write = upsert_requests.upsert(self.schema_of(key.entity), key, edits, when, now)
        return _new_state(key, await self.writes.upsert(key.entity, write, now))

    async def delete(self, key: Key[E], *, when: Condition[E] | None = None) -> E | None:
        """Delete an item and return it; None when there was none, or it did not fit its entity."""
        written = await self.writes("delete", key.entity, write_requests.delete(self.schema_of(key.entity), key, when))
        try:
            return None if written.old is None else binding_of(key.entity).decode(written.old)
        except ItemUnreadable:
            return None

    async def write_many(self, *, put: Iterable[Entity] = (), delete: Iterable[Key[Any]] = ()) -> None:
        """Write and delete any number of items, not atomically: a failure leaves earlier writes in place.

        An invalid item is refused before anything is written. A batch has no conditions, so it is the one write that
        also replaces items of a later revision.
        """
        entities, keys = list(put), list(delete)
        puts = [write_requests.batched_put(self.schema_of(type(entity)), entity) for entity in entities]
        deletes = [write_requests.batched_delete(self.schema_of(key.entity), key) for key in keys]
        label = _label("write_many", [*map(type, entities), *(key.entity for key in keys)])
        await self._batches.write(label, [*puts, *deletes])

    def transact(self, token: str | None = None, *, at: float | None = None) -> Transaction:
        """An atomic transaction of at most 100 items: `async with store.transact() as tx: tx.put(...)`.

        Conditions are evaluated on the state before the transaction. Raises `TransactionCancelled` with a reason for
        each failed item. With a token the transaction is idempotent for ten minutes, so a lost reply is retried
        automatically. A repetition must be identical, so on tables with a TTL pass the time of the first attempt as
        `at`: expiry is evaluated at that time.
        """
        return Transaction(self, token, self.clock.now() if at is None else at)

    async def write(self, plan: Plan[E], *, token: str | None = None, at: float | None = None) -> E | None:
        """Execute a plan: a single step as one conditional write; several steps, or any with a token, as a transaction.

        Returns the item of the first step where it is known: the item put or saved; for a single step also the new
        state of an updated item, and the deleted item. Otherwise None. `token`, `at` and the errors are those of
        `transact`.
        """
        return await execute_plan(self, plan, token, at)

    # Streams, maintenance and metering

    def stream(self, table: Table, consumer: str) -> Stream:
        """The changes of a table for a named consumer, which starts at the oldest retained change.

        Changes of one item are delivered in order, each at least once; records are retained for at least 24 hours. A
        consumer continues after its last acknowledgement, also after a restart; an acknowledged record may be
        delivered again occasionally.
        """
        if table.stream is None:
            raise DesignError(f"{table.name} has no stream. Declare it with `stream=`.")
        return Stream(self, table, consumer)

    async def sweep(self, limit: int = 1000) -> int:
        """Delete expired items, at most `limit` per table; returns how many."""
        total = 0
        for schema in self._schemas.values():
            if schema.ttl is not None:
                now = self.clock.now()
                total += await self.retry(partial(self.backend.sweep, schema, now, limit), repeatable=True)
        return total

    async def index_states(self) -> list[IndexState]:
        """The fill state of each index."""
        return await self.backend.index_states()

    async def backup(self, destination: str | PathLike[str], progress: Progress | None = None) -> None:
        """Make a complete online backup: a file at that path, or a DynamoDB backup of that name.

        A file is consistent over all tables; DynamoDB makes one backup for each table, each consistent in itself.
        """
        await self.backend.backup(fspath(destination), progress)

    async def restore(self, source: str | PathLike[str], progress: Progress | None = None) -> None:
        """Replace all content by a backup. Concurrent calls wait; a damaged backup changes nothing."""
        await self.backend.restore(fspath(source), progress)

    def measured(self, label: str) -> AbstractContextManager[ConsumedCapacity]:
        """Meter the calls of a block as one call of this label: `with store.measured("cast_vote") as consumed: ...`.

        Yields the capacity that the block uses. Outside such a block, calls are summed by access pattern, and writes by
        operation and entity.
        """
        return self.meter.measured(label)

    async def flush_usage(self) -> None:
        """Add the usage since the last flush to the sums stored in the backend; `close` does it too."""
        usage = self.meter.take_unsaved() if self._owns_meter else []
        if usage:
            await self.backend.add_usage(usage)

    def _entity(self, key: Key[E], row: Row | None, report: Report | None = None) -> E | None:
        if row is None:
            return None
        binding = binding_of(key.entity)
        return decode_unexpired(binding.table, binding.decode, row, self.clock.now(), report)


def _new_state(key: Key[E], written: Written) -> E:
    assert written.new is not None
    binding = binding_of(key.entity)
    return decode_written(binding.table, binding.decode, written.new)


def _label(operation: str, entities: Sequence[type[Entity]]) -> str:
    """The metering label of a call on several kinds of entity."""
    kinds = sorted({entity.__name__ for entity in entities})
    table = binding_of(entities[0]).table.name if entities else ""
    return f"{table}.{operation} {' + '.join(kinds)}"
