"""State machine that compares all reads of a store with the model."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from tests.contract.state_machine.model import Item, ModelChange, ModelKey, key_in_model
from tests.contract.state_machine.operations import BOXES, COLOURS, boxes, items, key_of
from tests.contract.state_machine.write_machine import WriteMachine
from tests.support.designs.pieces import box_back, box_of, coloured, coloured_back, pieces, weighed, weighed_back
from tests.support.store_reads import drain, read_page_by_page
from zataku.table import Change, Query

# Attempts after which an eventually consistent read that is still stale counts as wrong.
_STALE_READS = 60
_CONSUMERS = ("first", "second")
_limits = st.sampled_from([1, 2, 3, 7, 50])


class ModelComparisonMachine(WriteMachine):
    """Random writes and reads; every read returns what the model holds."""

    def __init__(self) -> None:
        super().__init__()
        self.delivered: dict[str, dict[str, Change]] = {name: {} for name in _CONSUMERS}
        self.acknowledged: dict[str, set[str]] = {name: set() for name in _CONSUMERS}
        # The page to continue: its box, its cursor, and the key of its last item.
        self.open_page: tuple[str, str, ModelKey] | None = None

    def teardown(self) -> None:
        """Compare everything once more."""
        try:
            self.scan_everything()
            self.check_that_every_change_was_delivered_in_order()
        finally:
            super().teardown()

    def visible(self, items: Sequence[Item]) -> list[Item]:
        """The items that have not expired."""
        return [item for item in items if not self.model.expired(item)]

    async def assert_eventually(self, read: Callable[[], Awaitable[object]], expected: object) -> None:
        """Repeat an eventually consistent read until it returns the expected result."""
        for _ in range(_STALE_READS):
            result = await read()
            if result == expected:
                return
        assert result == expected

    # Items

    @rule(item=items)
    def get(self, item: Item) -> None:
        """Read one item, strongly and eventually."""
        expected = self.model.alive(key_in_model(item))
        assert self.run(self.store.get(key_of(item), strong=True)) == expected
        self.run(self.assert_eventually(lambda: self.store.get(key_of(item)), expected))

    @rule(chosen=st.lists(items, min_size=1, max_size=6))
    def get_many(self, chosen: list[Item]) -> None:
        """Read several items, in order, with repetitions."""
        expected = [self.model.alive(key_in_model(item)) for item in chosen]
        assert self.run(self.store.get_many([key_of(item) for item in chosen], strong=True)) == expected

    @rule(chosen=st.lists(items, min_size=1, max_size=6, unique_by=key_in_model))
    def snapshot(self, chosen: list[Item]) -> None:
        """Read several items in one transaction."""
        expected = [self.model.alive(key_in_model(item)) for item in chosen]
        assert self.run(self.store.snapshot(*map(key_of, chosen))) == expected

    # Pages

    @rule(limit=_limits, back=st.booleans())
    def page_through_everything(self, limit: int, back: bool) -> None:
        """Read the table and its indexes page by page, in either direction."""
        step = -1 if back else 1
        for box in BOXES:
            whole = self.model.box(box)[::step]
            query = box_back(box) if back else box_of(box)
            assert self.run(read_page_by_page(self.store, query, limit)) == self.visible(whole)
            assert self.run(self.store.count(query)) == len(self.visible(whole))
            assert self.run(self.store.first(query)) == next(iter(self.visible(whole)), None)
            weights = weighed_back(box) if back else weighed(box)
            self._compare_weights(box, self.run(read_page_by_page(self.store, weights, limit)), back)
            assert self.run(self.store.count(weights)) == len(self.visible(self.model.weighed(box)))
        for colour in COLOURS:
            expected = self.model.coloured(colour)[::step]
            colours: Query[Any] = coloured_back(colour) if back else coloured(colour)
            self.run(
                self.assert_eventually(
                    lambda query=colours: read_page_by_page(self.store, query, limit), self.visible(expected)
                )
            )
            self.run(self.assert_eventually(lambda query=colours: self.store.count(query), len(self.visible(expected))))

    @invariant()
    def every_index_agrees_with_its_items(self) -> None:
        """Checked after every step."""
        for box in BOXES:
            self._compare_weights(box, self.run(self._read_all(weighed(box))), False)
        for colour in COLOURS:
            expected = self.visible(self.model.coloured(colour))
            self.run(self.assert_eventually(lambda colour=colour: self._read_all(coloured(colour)), expected))

    def _compare_weights(self, box: str, items: list[Any], back: bool) -> None:
        # Items with equal keys may come in any order.
        assert Counter(items) == Counter(self.visible(self.model.weighed(box)))
        weights = [item.weight for item in items]
        assert weights == sorted(weights, reverse=back)

    async def _read_all(self, query: Query[Any]) -> list[Any]:
        return [item async for item in self.store.each(query)]

    @rule(box=boxes, limit=st.integers(1, 3))
    def start_paging(self, box: str, limit: int) -> None:
        """Read one page and keep its cursor."""
        page = self.run(self.store.page(box_of(box), limit=limit))
        self.open_page = (box, page.cursor, key_in_model(page.items[-1])) if page.cursor and page.items else None

    @precondition(lambda self: self.open_page is not None)
    @rule(limit=st.integers(1, 3))
    def continue_paging(self, limit: int) -> None:
        """Read the next page after other steps: no item before the cursor, none left out between its items."""
        assert self.open_page is not None
        box, cursor, last_key = self.open_page
        page = self.run(self.store.page(box_of(box), limit=limit, after=cursor))
        following = [item for item in self.visible(self.model.box(box)) if key_in_model(item) > last_key]
        if page.items:
            start = following.index(page.items[0])
            assert page.items == following[start : start + len(page.items)]
            last_key = key_in_model(page.items[-1])
        self.open_page = (box, page.cursor, last_key) if page.cursor else None

    @rule(segments=st.integers(1, 3))
    def scan_everything(self, segments: int = 1) -> None:
        """A scan returns every item once, whatever its number of segments."""
        items = [item for segment in range(segments) for item in self.run(self._scan(segment, segments))]
        assert Counter(items) == Counter(self.model.all_items())

    async def _scan(self, segment: int, segments: int) -> list[Any]:
        return [item async for item in self.store.scan(pieces, segment=segment, segments=segments)]

    # Changes

    @rule(data=st.data(), consumer=st.sampled_from(_CONSUMERS), limit=st.integers(1, 12))
    def follow_the_stream(self, data: st.DataObject, consumer: str, limit: int) -> None:
        """Read some changes and acknowledge some of them."""
        stream = self.store.stream(pieces, consumer)
        changes = self.run(stream.read(limit))
        assert len(changes) <= limit
        fresh = [change for change in changes if change.position not in self.acknowledged[consumer]]
        assert len(fresh) == len(changes) or self.kind.repeats_changes
        for change in fresh:
            assert self.delivered[consumer].setdefault(change.position, change) == change
        recorded = sum(map(len, self.model.changes.values()))
        assert bool(fresh) == (len(self.acknowledged[consumer]) < recorded)
        if fresh and (number := data.draw(st.integers(0, len(fresh)))):
            self.run(stream.acknowledge(fresh[number - 1]))
            self.acknowledged[consumer] |= {change.position for change in fresh[:number]}

    def check_that_every_change_was_delivered_in_order(self) -> None:
        """A consumer that reads to the end has received every change of each item once, in order."""
        for consumer in (*_CONSUMERS, "late"):
            delivered = self.delivered.get(consumer, {})
            rest = {change.position: change for change in self.run(drain(self.store.stream(pieces, consumer)))}
            recorded: defaultdict[ModelKey, list[ModelChange]] = defaultdict(list)
            for change in (delivered | rest).values():
                item = change.new or change.old
                recorded[key_in_model(item)].append(ModelChange(change.kind, change.old, change.new, change.expired))
            assert recorded == self.model.changes
