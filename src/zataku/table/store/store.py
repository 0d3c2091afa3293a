"""The contract of a store: what each call promises, wherever the items lie.

It promises what Amazon DynamoDB promises and no more, so that a system written against it runs on either.

- **Acknowledged is kept.** When a write returns, it is on disk (or in DynamoDB); a crash right after loses nothing.
- **Refused is nothing.** A write that raises has changed nothing at all, with one exception: `ResultUnknown` says that
  the reply was lost and that the write may or may not have happened. Read before going on.
- **Consistency.** Reads are eventually consistent unless asked to be strong: they may miss writes of the last moments.
  A strong read sees every write acknowledged before it began. A global index is never strong.
- **Order.** A page comes in the order of its sort key: strings by UTF-8 bytes, numbers by value, bytes by value. Items
  with equal index sort keys come in an order that is stable but not promised.
- **Time to live.** An item whose time has passed is invisible to reads here, and absent for `if_absent`, `update` and
  the checks of a transaction, even before a sweep has deleted it; a put over it is told by the stream as MODIFY. Other
  conditions, `save`, `delete` and the `current` of a refused write still see it. Views and counts on an index that does
  not hold the TTL attribute, or has it as a key, show it until it is swept.
- **Revisions.** An item that was written in an earlier revision of its entity is read in today's shape and upgraded
  where it lies before a write judges or edits it, which a stream tells as MODIFY; one of a later revision raises
  `ItemUnreadable` and is left as it is. An index has old items under their old keys until `migrate` has passed.
- **Busy stores.** Throttling and conflicts between transactions are tried again, with growing pauses, a bounded number
  of times; then the error reaches the caller.
- **Limits.** DynamoDB's limits hold everywhere; crossing one is a `BadInput` that says what to do.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from os import PathLike, fspath
from random import Random
from types import TracebackType
from typing import Any, TypeVar, cast

from zataku.clock import Clock, SystemClock
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.errors import ConditionFailed, DesignError, LacksCapability, TableError, TooManyItems
from zataku.table.backend.limits import TRANSACTION_ITEMS
from zataku.table.backend.port import (
    Backend,
    GetItem,
    IndexState,
    Progress,
    Row,
    ScanItems,
    Write,
    Written,
)
from zataku.table.backend.table_schema import TableSchema
from zataku.table.schema.access_pattern import Query
from zataku.table.schema.entity import Entity, Key, View, binding_of
from zataku.table.schema.field_path import Condition, Edit
from zataku.table.schema.plan import Plan
from zataku.table.schema.table import Index, Table, needs
from zataku.table.store import write_requests
from zataku.table.store.batch import Batches
from zataku.table.store.item_upgrade import ItemUpgrader, find_outdated
from zataku.table.store.metering import Meter, MeteredCalls
from zataku.table.store.paging import Page, Paging
from zataku.table.store.permissions import Permissions
from zataku.table.store.restricted_backend import RestrictedBackend
from zataku.table.store.retry import Retry
from zataku.table.store.row_readers import expired, reader_for
from zataku.table.store.stream import Stream
from zataku.table.store.transaction import Transaction, execute_plan

E = TypeVar("E", bound=Entity)
R = TypeVar("R", bound=Entity | View)


class Store:
    """Entities of some tables, kept by a backend."""

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
        # The sums of calls that were handed in are kept by whoever made them.
        self._keeps_usage = calls is None
        self._secret = secret
        self._batches = Batches(backend, self.calls)
        self.upgrader = ItemUpgrader(backend, self.calls)
        self._expiring = any(table.ttl is not None for table in tables)
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
        """Create or update the tables in the backend and give a store for them.

        Fails before anything is touched when the backend lacks something a table needs. New global indexes fill in
        the background; a query on one raises `IndexNotReady` until it is whole.
        """
        schemas = [table.schema(env) for table in tables]
        names = [schema.name for schema in schemas]
        if len(set(names)) != len(names):
            raise DesignError(f"Two tables have the same name among {', '.join(sorted(names))}.")
        for table in tables:
            lacking = needs(table) - backend.capabilities
            if lacking:
                raise LacksCapability(f"{table.name} needs {', '.join(sorted(lacking))}, which this store cannot do.")
        await backend.start(schemas)
        signing = secret or await backend.secret()
        return cls(backend, tables, secret=signing, env=env, clock=clock, retry=retry)

    async def close(self) -> None:
        """Finish accepted writes and let go of the store. Later calls raise `StoreClosed`."""
        try:
            await self.flush_usage()
        except TableError:
            # A store that is damaged, full or closed loses some statistics; closing goes on.
            pass
        await self.backend.close()

    async def __aenter__(self) -> "Store":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def schema(self, table: Table) -> TableSchema:
        """The table under its name in this environment."""
        try:
            return self._schemas[table]
        except KeyError:
            raise DesignError(f"{table.name} was not opened with this store.") from None

    def schema_of(self, entity: type[Entity]) -> TableSchema:
        """The table an entity lies in."""
        return self.schema(binding_of(entity).table)

    def restricted(self, rights: Permissions) -> "Store":
        """A handle on the same store that can do what the rights grant; all else raises `NotGranted` and does nothing.

        It shares the clock, the meter and the cursors of this store. Closing it ends the handle, not the store.
        """
        grants = {self.schema(grant.table).name: grant for grant in rights.grants}
        backend = RestrictedBackend(self.backend, rights.function, grants)
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
        """One item, or None. Strong when asked here or declared so in the access pattern."""
        binding = binding_of(key.entity)
        read = GetItem(self.schema(binding.table), (key.pk, key.sk), strong or key.strong)
        label = key.pattern or f"{binding.table.name}.get {key.entity.__name__}"
        row = await self.calls(label, partial(self.backend.get, read))
        if row is None:
            return None
        entity = binding.decode(row)
        return None if self._expiring and expired(entity, self.clock.now()) else entity

    async def get_many(self, keys: Sequence[Key[E]], *, strong: bool = False) -> list[E | None]:
        """Any number of items, in the order of their keys, None where there is none. Not one moment: see `snapshot`."""
        schemas = {entity: self.schema_of(entity) for entity in {key.entity for key in keys}}
        reads = [GetItem(schemas[key.entity], (key.pk, key.sk), strong or key.strong) for key in keys]
        rows = await self._batches.get(_label("get_many", [key.entity for key in keys]), reads)
        return [self._entity(key, row) for key, row in zip(keys, rows, strict=True)]

    async def snapshot(self, *keys: Key[E]) -> list[E | None]:
        """At most 100 items as they all were at one moment, no transaction half visible."""
        unique = list(dict.fromkeys(keys))
        if len(unique) > TRANSACTION_ITEMS:
            raise TooManyItems(f"A snapshot takes at most {TRANSACTION_ITEMS} items, not {len(unique)}. Ask for fewer.")
        reads = [GetItem(self.schema_of(key.entity), (key.pk, key.sk), strong=True) for key in unique]
        label = _label("snapshot", [key.entity for key in unique])
        found = await self.calls(label, partial(self.backend.snapshot, reads))
        rows = dict(zip(unique, found, strict=True))
        return [self._entity(key, rows[key]) for key in keys]

    async def page(self, query: Query[R], *, limit: int = 50, after: str | None = None) -> Page[R]:
        """The next `limit` results after a cursor.

        A page with a cursor may hold fewer, where a filter or expiry leaves out much; an empty page with a cursor is
        possible, and a last page that is just full leads to an empty one. A cursor works for the very same query only,
        on any process that shares the secret, for ever.
        """
        return await self._paging.page(query, limit, after)

    def each(self, query: Query[R]) -> AsyncIterator[R]:
        """All results of a query, one after the other, read a page at a time."""
        return self._paging.each(query)

    async def first(self, query: Query[R]) -> R | None:
        """The first result of a query, or None."""
        after = None
        while True:
            page = await self.page(query, limit=1, after=after)
            if page.items or page.cursor is None:
                return page.items[0] if page.items else None
            after = page.cursor

    async def count(self, query: Query[R]) -> int:
        """How many items the query finds. They are all read, and paid for."""
        return await self._paging.count(query)

    async def scan(self, table: Table, *, segment: int = 0, segments: int = 1) -> AsyncIterator[Entity]:
        """Every item of a table, for jobs: in no order, eventually consistent. Workers can share the segments."""
        schema, start = self.schema(table), None
        while True:
            read = ScanItems(schema, start=start, segment=segment, segments=segments)
            rows = await self.calls(f"{table.name}.scan", partial(self.backend.scan, read))
            for row in rows.rows:
                entity = self.read_row(table, row)
                if not expired(entity, self.clock.now()):
                    yield entity
            start = rows.resume
            if start is None:
                return

    def scan_index(self, index: Index, kind: type[R], *, segment: int = 0, segments: int = 1) -> AsyncIterator[R]:
        """Every item of an index, which holds one kind alone, for jobs: in no order, eventually consistent.

        A sparse index costs only what it holds, however large its table is.
        """
        return self._paging.scan_index(index, kind, segment, segments)

    # Writing

    async def put(self, entity: E, *, when: Condition[E] | None = None, if_absent: bool = False) -> E:
        """Write a whole item; `if_absent` refuses to replace one. Raises `ConditionFailed` with what lies there."""
        write = write_requests.put(self.schema_of(type(entity)), entity, when, if_absent, self.clock.now())
        await self._write("put", type(entity), write)
        return entity

    async def save(self, entity: E, *, was: E) -> E:
        """Write what differs between two states of an item, if the old one still holds; gives the new state.

        With a version field, any `save` or `update` in between is noticed, and any `put` with another version; without
        one, any write to what differs.
        """
        entity, write = write_requests.save(self.schema_of(type(entity)), entity, was)
        if write is not None:
            await self._write("save", type(entity), write)
        return entity

    async def update(self, key: Key[E], *edits: Edit[E], when: Condition[E] | None = None) -> E:
        """Change parts of an item that is there, without reading it first; gives the new state.

        Index keys that depend on the edits change with them. Raises `StaleIndexKey` when one cannot be told, and
        `ConditionFailed` when the item is absent or expired.
        """
        write = write_requests.update(self.schema_of(key.entity), key, edits, when, self.clock.now())
        written = await self._write("update", key.entity, write)
        assert written.new is not None
        return binding_of(key.entity).decode(written.new)

    async def delete(self, key: Key[E], *, when: Condition[E] | None = None) -> E | None:
        """Take an item away and give it back; None, and no error, when there was none."""
        written = await self._write("delete", key.entity, write_requests.delete(self.schema_of(key.entity), key, when))
        return None if written.old is None else binding_of(key.entity).decode(written.old)

    async def write_many(self, *, put: Iterable[Entity] = (), delete: Iterable[Key[Any]] = ()) -> None:
        """Write and delete any number of items, each by itself: a failure in the middle leaves those before it done.

        A bad item is refused before anything is written. A batch has no conditions, so that it is the one write that
        also replaces what a program of a later revision wrote.
        """
        entities, keys = list(put), list(delete)
        puts = [write_requests.batched_put(self.schema_of(type(it)), it) for it in entities]
        deletes = [write_requests.batched_delete(self.schema_of(key.entity), key) for key in keys]
        label = _label("write_many", [*map(type, entities), *(key.entity for key in keys)])
        await self._batches.write(label, [*puts, *deletes])

    def transact(self, token: str | None = None, *, at: float | None = None) -> Transaction:
        """All or nothing for at most 100 items: `async with store.transact() as tx: tx.put(...)`.

        Every condition is about the state before the transaction. Raises `TransactionCancelled` with a reason for each
        item in the way. With a token, repeating the transaction within ten minutes does nothing more, so that a lost
        reply is tried again by itself. It must be the same to the letter, so on tables with a TTL pass the moment of
        the first attempt as `at`: expiry is judged by it.
        """
        return Transaction(self, token, self.clock.now() if at is None else at)

    async def write(self, plan: Plan[E], *, token: str | None = None, at: float | None = None) -> E | None:
        """Carry out a plan: a single step as one conditional write; several, or any with a token, as a transaction.

        Gives what its first step is about, where that is known: the item put or saved; alone, also the new state of an
        updated item, and the deleted item. Else None. Raises, and takes `token` and `at`, as the calls it stands for.
        """
        return await execute_plan(self, plan, token, at)

    # Beside the items

    def stream(self, table: Table, consumer: str) -> Stream:
        """The changes of a table for a named consumer, which starts at the oldest kept change.

        Changes of one item come in order, each at least once; records are kept 24 hours at least. A consumer goes on
        after what it acknowledged last, also after a restart; now and then a record may come again all the same.
        """
        if table.stream is None:
            raise DesignError(f"{table.name} has no stream. Declare it with `stream=`.")
        return Stream(self, table, consumer)

    async def sweep(self, limit: int = 1000) -> int:
        """Delete items whose time has passed, at most `limit` per table; gives how many."""
        total = 0
        for schema in self._schemas.values():
            if schema.ttl is not None:
                now = self.clock.now()
                total += await self.retry(partial(self.backend.sweep, schema, now, limit), repeatable=True)
        return total

    async def index_states(self) -> list[IndexState]:
        """How far each index is filled."""
        return await self.backend.index_states()

    async def backup(self, destination: str | PathLike[str], progress: Progress | None = None) -> None:
        """Write a complete copy while the store goes on: a file of that path, or DynamoDB's own backup of that name.

        A file is a copy of one moment; DynamoDB makes one of each table, each of one moment.
        """
        await self.backend.backup(fspath(destination), progress)

    async def restore(self, source: str | PathLike[str], progress: Progress | None = None) -> None:
        """Replace everything by a backup. Calls made meanwhile wait; nothing changes when the backup is damaged."""
        await self.backend.restore(fspath(source), progress)

    def measured(self, heading: str) -> AbstractContextManager[ConsumedCapacity]:
        """Count what the block does as one call of this name: `with store.measured("cast_vote") as consumed: ...`.

        It yields what the block used. Without it, calls are summed by access pattern, and writes by their kind.
        """
        return self.meter.measured(heading)

    async def flush_usage(self) -> None:
        """Add what was used since the last time to the sums that outlive the process; `close` does it too."""
        usage = self.meter.take_unsaved() if self._keeps_usage else []
        if usage:
            await self.backend.add_usage(usage)

    # Inside

    def read_row(self, table: Table, row: Row) -> Entity:
        """A row of any kind that the table holds."""
        return reader_for(table, tuple(made.entity for made in table.bindings))(row)

    def _entity(self, key: Key[E], row: Row | None) -> E | None:
        if row is None:
            return None
        entity = binding_of(key.entity).decode(row)
        return None if self._expiring and expired(entity, self.clock.now()) else entity

    async def _write(self, verb: str, entity: type[Entity], write: Write) -> Written:
        binding, tries = binding_of(entity), 0
        label = f"{binding.table.name}.{verb} {entity.__name__}"
        while True:
            try:
                return await self.calls(label, partial(self.backend.write, write))
            except ConditionFailed as refused:
                row, tries = cast("Row | None", refused.current), tries + 1
                old = find_outdated(binding, write, row)
                if old is None:
                    current = None if row is None else self.read_row(binding.table, row)
                    raise ConditionFailed(refused.message, current, **refused.details) from None
            await self.upgrader.clear([old], tries)


def _label(verb: str, entities: Sequence[type[Entity]]) -> str:
    """The name of a call about several kinds."""
    kinds = sorted({entity.__name__ for entity in entities})
    table = binding_of(entities[0]).table.name if entities else ""
    return f"{table}.{verb} {' + '.join(kinds)}"
