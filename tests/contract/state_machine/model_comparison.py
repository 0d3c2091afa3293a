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

# An eventually consistent read may be stale so many times before it counts as wrong.
_STALE_READS = 60
_CONSUMERS = ("first", "second")
_limits = st.sampled_from([1, 2, 3, 7, 50])


class ModelComparisonMachine(WriteMachine):
    """Random writes with reads in between."""

    def __init__(self) -> None:
        super().__init__()
        self.delivered: dict[str, dict[str, Change]] = {name: {} for name in _CONSUMERS}
        self.acknowledged: dict[str, set[str]] = {name: set() for name in _CONSUMERS}
        # A page to be continued later: the query, the cursor, and the key it ended at.
        self.left_off: tuple[str, str, ModelKey] | None = None

    def teardown(self) -> None:
        """Compare everything once more."""
        try:
            self.everything_is_there()
            self.the_stream_tells_every_change_once_in_order()
        finally:
            super().teardown()

    def seen(self, found: Sequence[Item]) -> list[Item]:
        """Those of some items that have not expired."""
        return [item for item in found if not self.model.expired(item)]

    async def settled(self, read: Callable[[], Awaitable[object]], expected: object) -> None:
        """Repeat a read that may be stale until it returns this."""
        for _ in range(_STALE_READS):
            found = await read()
            if found == expected:
                return
        assert found == expected

    # Items

    @rule(item=items)
    def get(self, item: Item) -> None:
        """One item, strongly and eventually."""
        expected = self.model.alive(key_in_model(item))
        assert self.run(self.store.get(key_of(item), strong=True)) == expected
        self.run(self.settled(lambda: self.store.get(key_of(item)), expected))

    @rule(chosen=st.lists(items, min_size=1, max_size=6))
    def get_many(self, chosen: list[Item]) -> None:
        """Several items, in order, with repetitions."""
        expected = [self.model.alive(key_in_model(item)) for item in chosen]
        assert self.run(self.store.get_many([key_of(item) for item in chosen], strong=True)) == expected

    @rule(chosen=st.lists(items, min_size=1, max_size=6, unique_by=key_in_model))
    def snapshot(self, chosen: list[Item]) -> None:
        """Several items in one transaction."""
        expected = [self.model.alive(key_in_model(item)) for item in chosen]
        assert self.run(self.store.snapshot(*map(key_of, chosen))) == expected

    # Pages

    @rule(limit=_limits, back=st.booleans())
    def page_through_everything(self, limit: int, back: bool) -> None:
        """The table and its indexes, page by page, in either direction."""
        turn = -1 if back else 1
        for box in BOXES:
            whole = self.model.box(box)[::turn]
            query = box_back(box) if back else box_of(box)
            assert self.run(read_page_by_page(self.store, query, limit)) == self.seen(whole)
            assert self.run(self.store.count(query)) == len(self.seen(whole))
            assert self.run(self.store.first(query)) == next(iter(self.seen(whole)), None)
            weights = weighed_back(box) if back else weighed(box)
            self._compare_weights(box, self.run(read_page_by_page(self.store, weights, limit)), back)
            assert self.run(self.store.count(weights)) == len(self.seen(self.model.weighed(box)))
        for colour in COLOURS:
            expected = self.model.coloured(colour)[::turn]
            colours: Query[Any] = coloured_back(colour) if back else coloured(colour)
            self.run(
                self.settled(lambda query=colours: read_page_by_page(self.store, query, limit), self.seen(expected))
            )
            self.run(self.settled(lambda query=colours: self.store.count(query), len(self.seen(expected))))

    @invariant()
    def every_index_says_what_its_items_say(self) -> None:
        """After every step."""
        for box in BOXES:
            self._compare_weights(box, self.run(self._all(weighed(box))), False)
        for colour in COLOURS:
            expected = self.seen(self.model.coloured(colour))
            self.run(self.settled(lambda colour=colour: self._all(coloured(colour)), expected))

    def _compare_weights(self, box: str, found: list[Any], back: bool) -> None:
        # Where keys are equal, any order is right.
        assert Counter(found) == Counter(self.seen(self.model.weighed(box)))
        weights = [item.weight for item in found]
        assert weights == sorted(weights, reverse=back)

    async def _all(self, query: Query[Any]) -> list[Any]:
        return [item async for item in self.store.each(query)]

    @rule(box=boxes, limit=st.integers(1, 3))
    def begin_to_page(self, box: str, limit: int) -> None:
        """Read one page and keep its cursor for later."""
        page = self.run(self.store.page(box_of(box), limit=limit))
        self.left_off = (box, page.cursor, key_in_model(page.items[-1])) if page.cursor and page.items else None

    @precondition(lambda self: self.left_off is not None)
    @rule(limit=st.integers(1, 3))
    def go_on_paging(self, limit: int) -> None:
        """The next page after other things have happened: nothing before it, nothing between its items left out."""
        assert self.left_off is not None
        box, cursor, reached = self.left_off
        page = self.run(self.store.page(box_of(box), limit=limit, after=cursor))
        behind = [item for item in self.seen(self.model.box(box)) if key_in_model(item) > reached]
        if page.items:
            start = behind.index(page.items[0])
            assert page.items == behind[start : start + len(page.items)]
            reached = key_in_model(page.items[-1])
        self.left_off = (box, page.cursor, reached) if page.cursor else None

    @rule(segments=st.integers(1, 3))
    def everything_is_there(self, segments: int = 1) -> None:
        """A scan finds every item once."""
        found = [item for segment in range(segments) for item in self.run(self._scanned(segment, segments))]
        assert Counter(found) == Counter(self.model.everything())

    async def _scanned(self, segment: int, segments: int) -> list[Any]:
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
        told = sum(map(len, self.model.changes.values()))
        assert bool(fresh) == (len(self.acknowledged[consumer]) < told)
        if fresh and (upto := data.draw(st.integers(0, len(fresh)))):
            self.run(stream.acknowledge(fresh[upto - 1]))
            self.acknowledged[consumer] |= {change.position for change in fresh[:upto]}

    def the_stream_tells_every_change_once_in_order(self) -> None:
        """A consumer that reads to the end has received every change of each item once, in order."""
        for consumer in (*_CONSUMERS, "late"):
            delivered = self.delivered.get(consumer, {})
            rest = {change.position: change for change in self.run(drain(self.store.stream(pieces, consumer)))}
            told: defaultdict[ModelKey, list[ModelChange]] = defaultdict(list)
            for change in (delivered | rest).values():
                item = change.new or change.old
                told[key_in_model(item)].append(ModelChange(change.kind, change.old, change.new, change.expired))
            assert told == self.model.changes
