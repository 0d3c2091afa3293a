"""The same random calls on two stores: both return the same results and errors, at the same cost."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from msgspec.structs import replace

from tests.support.dynamodb_servers import shared_server
from tests.support.manual_clock import ManualClock
from tests.support.plain_client import PlainClient
from tests.table.differential import strategies
from tests.table.differential.departures import differ_by_padding, explained, may_pad, sums_numbers
from tests.table.differential.number_alignment import holds_other_sizes
from tests.table.differential.outcome import Outcome, outcome, typed_item
from tests.table.differential.sample_table import (
    BY_WEIGHT,
    COLOURS,
    INDEXES,
    KEYS,
    bad_items,
    comparison_table,
    items,
    keys,
    sort_number,
)
from zataku.table.backend import port as port
from zataku.table.backend.cost import ConsumedCapacity
from zataku.table.backend.table_schema import IndexSchema
from zataku.table.backend.values import unpack_row
from zataku.table.dynamodb.backend import DynamoBackend
from zataku.table.embedded import EmbeddedBackend

T = TypeVar("T")
Call = Callable[[port.Backend, ConsumedCapacity], Awaitable[object]]
_numbers = count()
_ATTRIBUTES = ("PK", "SK", "colour", "n", "weight", "text", "count", "list", "map")


@st.composite
def writes(draw: st.DrawFn, table: port.TableSchema, key: port.ItemKey, checks: bool = False) -> port.TransactWrite:
    """Any write under a key."""
    condition = draw(strategies.conditions)
    kinds = ["put", "put", "update", "update", "delete", "check"] if checks else ["put", "update", "update", "delete"]
    kind = draw(st.sampled_from(kinds))
    if kind == "put":
        return port.PutItem(table, draw(items(key)), condition)
    if kind == "update":
        return port.UpdateItem(table, key, draw(strategies.changes(key)), condition)
    if kind == "check" and condition is not None:
        return port.CheckItem(table, key, condition)
    return port.DeleteItem(table, key, condition)


@st.composite
def ranges(draw: st.DrawFn, index: IndexSchema | None) -> port.KeyRange | None:
    """Any range of sort keys, or None."""
    sign = draw(st.sampled_from([None, "=", "<", "<=", ">", ">=", "between", "begins"]))
    if sign is None:
        return None
    ends = st.sampled_from(["a", "ab", "b", "が", "aa"]) if index is None else sort_number(draw(keys))
    if sign == "between":
        low, high = sorted([draw(ends), draw(ends)])
        return port.KeyRange(sign, low, high)
    return port.KeyRange(sign, draw(ends))


def _key(row: port.Row) -> tuple[str, str]:
    item = unpack_row(row)
    return item["PK"], item["SK"]


class DifferentialMachine(RuleBasedStateMachine):
    """An embedded store and one over HTTP, side by side."""

    def __init__(self) -> None:
        super().__init__()
        endpoint = shared_server("dynoxide").endpoint
        self.runner = asyncio.Runner()
        self.folder = TemporaryDirectory(prefix="zataku-differential-")
        self.table = comparison_table(f"ComparedTable-{next(_numbers):05d}")
        clock = ManualClock()
        self.ours: port.Backend = EmbeddedBackend(Path(self.folder.name) / "store.db", clock=clock)
        self.client = PlainClient(endpoint)
        self.theirs: port.Backend = DynamoBackend(self.client, clock=clock, random=Random(1))
        self.run(self.ours.start([self.table]))
        self.run(self.theirs.start([self.table]))
        self.next_page: port.QueryItems | None = None
        self.tokens: list[tuple[str, list[port.TransactWrite]]] = []

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a call of a store to its end."""
        return self.runner.get_loop().run_until_complete(call)

    def teardown(self) -> None:
        """Compare all stored items."""
        try:
            self.scan_everything()
        finally:
            # A long run makes thousands of tables.
            self.run(self.client.call("DeleteTable", TableName=self.table.name))
            self.run(self.ours.close())
            self.run(self.theirs.close())
            self.runner.close()
            self.folder.cleanup()

    def both(self, request: object, call: Call) -> Outcome:
        """Make one call on both stores; after a difference, which must be a known departure, make the stores equal."""
        ours = self.run(outcome(lambda consumed: call(self.ours, consumed)))
        theirs = self.run(outcome(lambda consumed: call(self.theirs, consumed)))
        has_other_sizes = sums_numbers(request) and self.run(self._remove_other_sizes())
        if ours != theirs and not (has_other_sizes and ours.answer == theirs.answer):
            assert explained(request, ours, theirs), f"{request}\nours:   {ours}\ntheirs: {theirs}"
        if may_pad(request) and ours.answer == theirs.answer:
            self.run(self._remove_padding())
        elif ours != theirs:
            self.run(self._make_equal())
        return ours

    async def _remove_other_sizes(self) -> bool:
        """Delete items with a sum whose size the stores count differently; True when there were any."""
        found = False
        for key in KEYS:
            stored = await self.ours.get(port.GetItem(self.table, key, strong=True))
            if stored is not None and holds_other_sizes(unpack_row(stored)):
                found = True
                for store in (self.ours, self.theirs):
                    await store.write(port.DeleteItem(self.table, key))
        return found

    async def _remove_padding(self) -> None:
        """Make lists equal that one store has padded: the result of the write is the same, a later read is not."""
        for key in KEYS:
            read = port.GetItem(self.table, key, strong=True)
            ours, theirs = [typed_item(await store.get(read)) for store in (self.ours, self.theirs)]
            assert differ_by_padding(ours, theirs), f"{key}\nours:   {ours}\ntheirs: {theirs}"
            if ours != theirs:
                await self._copy(key)

    async def _make_equal(self) -> None:
        for key in KEYS:
            await self._copy(key)

    async def _copy(self, key: port.ItemKey) -> None:
        stored = await self.ours.get(port.GetItem(self.table, key, strong=True))
        if stored is None:
            await self.theirs.write(port.DeleteItem(self.table, key))
        else:
            await self.theirs.write(port.PutItem(self.table, unpack_row(stored)))

    # Writes

    @initialize(data=st.data())
    def fill(self, data: st.DataObject) -> None:
        for key in KEYS[:6]:
            put = port.PutItem(self.table, data.draw(items(key)))
            self.both(put, lambda store, consumed, put=put: store.write(put, consumed))

    @rule(data=st.data(), key=keys)
    def write(self, data: st.DataObject, key: port.ItemKey) -> None:
        write = data.draw(writes(self.table, key))
        assert not isinstance(write, port.CheckItem)
        self.both(write, lambda store, consumed: store.write(write, consumed))

    @rule(data=st.data(), key=keys)
    def write_a_bad_item(self, data: st.DataObject, key: port.ItemKey) -> None:
        put = port.PutItem(self.table, data.draw(bad_items(key)))
        ours = self.both(put, lambda store, consumed: store.write(put, consumed))
        assert ours.answer == "bad input"

    @rule(data=st.data(), chosen=st.lists(keys, min_size=1, max_size=5))
    def write_a_batch(self, data: st.DataObject, chosen: list[port.ItemKey]) -> None:
        batch = [
            port.PutItem(self.table, data.draw(items(key)))
            if data.draw(st.booleans())
            else port.DeleteItem(self.table, key)
            for key in chosen
        ]
        self.both(batch, lambda store, consumed: store.batch_write(batch, consumed))

    @rule(data=st.data(), chosen=st.lists(keys, min_size=1, max_size=4), with_token=st.booleans())
    def transact(self, data: st.DataObject, chosen: list[port.ItemKey], with_token: bool) -> None:
        plan = [data.draw(writes(self.table, key, checks=True)) for key in chosen]
        token = f"token-{next(_numbers)}" if with_token else None
        result = self.both(plan, lambda store, consumed: store.transact(plan, token, consumed))
        if token is not None and result.answer is None:
            self.tokens.append((token, plan))

    @precondition(lambda self: bool(self.tokens))
    @rule(data=st.data(), same=st.booleans(), key=keys)
    def repeat_a_transaction(self, data: st.DataObject, same: bool, key: port.ItemKey) -> None:
        token, plan = data.draw(st.sampled_from(self.tokens))
        again = plan if same else [*plan[1:], port.PutItem(self.table, {"PK": "new", "SK": key[1]})]
        self.both(again, lambda store, consumed: store.transact(again, token, consumed))

    # Reads

    @rule(key=keys, strong=st.booleans(), partial=st.booleans())
    def get(self, key: port.ItemKey, strong: bool, partial: bool) -> None:
        read = port.GetItem(self.table, key, strong, ("text", "n") if partial else None)
        self.both(read, lambda store, consumed: store.get(read, consumed))

    @rule(chosen=st.lists(keys, min_size=1, max_size=6), strong=st.booleans())
    def get_a_batch(self, chosen: list[port.ItemKey], strong: bool) -> None:
        reads = [port.GetItem(self.table, key, strong) for key in chosen]
        self.both(reads, lambda store, consumed: store.batch_get(reads, consumed))

    @rule(chosen=st.lists(keys, min_size=1, max_size=6))
    def snapshot(self, chosen: list[port.ItemKey]) -> None:
        reads = [port.GetItem(self.table, key, strong=True) for key in chosen]
        self.both(reads, lambda store, consumed: store.snapshot(reads, consumed))

    @rule(
        data=st.data(),
        index=st.sampled_from([None, *INDEXES]),
        newest_first=st.booleans(),
        limit=st.sampled_from([None, 1, 2, 3, 50]),
        strong=st.booleans(),
        shape=st.sampled_from(["all", "all", "some", "count"]),
    )
    def query(
        self,
        data: st.DataObject,
        index: IndexSchema | None,
        newest_first: bool,
        limit: int | None,
        strong: bool,
        shape: str,
    ) -> None:
        partitions = ["p", "q#1", "nowhere"] if index is None or index.local else [*COLOURS, "nowhere"]
        read = port.QueryItems(
            self.table,
            data.draw(st.sampled_from(partitions)),
            index,
            data.draw(ranges(index)),
            newest_first,
            limit,
            filter=data.draw(strategies.filters) if index is not BY_WEIGHT else None,
            attributes=_ATTRIBUTES[: data.draw(st.integers(1, 9))] if shape == "some" else None,
            strong=strong,
            count_only=shape == "count",
        )
        self._page(read)

    @precondition(lambda self: self.next_page is not None)
    @rule()
    def continue_paging(self) -> None:
        assert self.next_page is not None
        self._page(self.next_page)

    def _page(self, read: port.QueryItems) -> None:
        resume: list[port.Position | None] = []

        async def page(store: port.Backend, consumed: ConsumedCapacity) -> port.Rows:
            rows = await store.query(read, consumed)
            resume.append(rows.resume)
            return rows

        self.both(read, page)
        has_more = bool(resume) and resume[0] is not None
        self.next_page = replace(read, start=resume[0]) if has_more else None

    @rule(segments=st.integers(1, 3), index=st.sampled_from([None, *INDEXES]))
    def scan_everything(self, segments: int = 1, index: IndexSchema | None = None) -> None:
        scans = [port.ScanItems(self.table, index, segment=at, segments=segments) for at in range(segments)]

        async def scan(store: port.Backend, consumed: ConsumedCapacity) -> list[port.Row]:
            # Each store decides which items are in which segment and in which order they come. The cost of several
            # segments, each rounded up, depends on that too.
            used = consumed if segments == 1 else ConsumedCapacity()
            rows = [row for read in scans for row in (await store.scan(read, used)).rows]
            return sorted(rows, key=_key)

        self.both(scans[0], scan)
