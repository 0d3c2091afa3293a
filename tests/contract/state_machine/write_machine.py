"""State machine that makes the same random writes on a store and on the model: both accept or both refuse them."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from msgspec.structs import replace

from tests.contract.state_machine.model import Item, Model, ModelConditionFailed, ModelWrite, key_in_model
from tests.contract.state_machine.operations import changes_for, demands_for, items, key_of, lives
from tests.contract.stores import StoreKind
from tests.support.designs.pieces import pieces
from zataku.clock import ManualClock
from zataku.table import ConditionFailed, ResultUnknown, Transaction, TransactionCancelled

T = TypeVar("T")
Step = Callable[[Transaction], object]


class WriteMachine(RuleBasedStateMachine):
    """Random writes to a store and to the model."""

    kind: ClassVar[StoreKind]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = TemporaryDirectory(prefix="zataku-model-")
        self.clock = ManualClock(self.kind.now)
        self.model = Model(int(self.clock.now()))
        self.location = self.kind.machine_location(Path(self.folder.name))
        self.store = self.run(self.location.open((pieces,), self.clock))
        self.tokens = 0
        self.known: list[Item] = []
        self.last: tuple[str, list[Step], float] | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry out a call of the store. The runner itself would take longer for its signals than the store."""
        return self.runner.get_loop().run_until_complete(work)

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.run(self.store.close())
        self.run(self.location.clear())
        self.runner.close()
        self.folder.cleanup()

    # Writes

    def write(self, plan: Callable[[], ModelWrite], call: Callable[[], Awaitable[object]]) -> object:
        """Carry out a write on both sides; both accept it or both refuse it, showing the same item."""
        try:
            planned = plan()
        except ModelConditionFailed as refused:
            self.run(self._refused(call, refused.current))
            return None
        answer = self.run(self._accepted(planned, call))
        self.model.apply(planned)
        return answer

    async def _refused(self, call: Callable[[], Awaitable[object]], current: Item | None) -> None:
        while True:
            try:
                await call()
            except ConditionFailed as problem:
                shown = problem.current
                break
            except ResultUnknown:
                continue
            raise AssertionError(f"The store accepted what the model refuses; there current {current}.")
        assert shown == current

    async def _accepted(self, planned: ModelWrite, call: Callable[[], Awaitable[object]]) -> object:
        while True:
            try:
                return await call()
            except ResultUnknown:
                # Whether it happened shows in what lies there now.
                place, after = planned
                before = self.model.items.get(place)
                example = after or before
                if example is None or (after is None and self.model.alive(place) is None):
                    continue
                if await self.store.get(key_of(example), strong=True) == after and before != after:
                    return after if after is not None else before

    @rule(data=st.data(), item=items, life=lives, if_absent=st.booleans())
    def put(self, data: st.DataObject, item: Item, life: int | None, if_absent: bool) -> None:
        demand = data.draw(demands_for(item))
        item = self._living(item, life)
        self.known.append(item)
        self.write(
            lambda: self.model.put(item, if_absent, demand and demand.rule),
            lambda: self.store.put(item, if_absent=if_absent, when=demand and demand.condition),
        )

    def _living(self, item: Item, life: int | None) -> Item:
        return item if life is None else replace(item, until=self.model.now + life)

    @rule(data=st.data(), item=items)
    def update(self, data: st.DataObject, item: Item) -> None:
        demand, change = data.draw(demands_for(item)), data.draw(changes_for(item))
        place = key_in_model(item)
        answer = self.write(
            lambda: self.model.update(place, change.change, demand and demand.rule),
            lambda: self.store.update(key_of(item), *change.edits, when=demand and demand.condition),
        )
        if answer is not None:
            assert answer == self.model.items[place]
            self.known.append(answer)

    @precondition(lambda self: any(self.model.alive(key_in_model(it)) for it in self.known))
    @rule(data=st.data())
    def save(self, data: st.DataObject) -> None:
        was = data.draw(st.sampled_from([it for it in self.known if self.model.alive(key_in_model(it))]))
        now = data.draw(changes_for(was)).change(was)
        answer = self.write(lambda: self.model.save(now, was), lambda: self.store.save(now, was=was))
        if answer is not None:
            self.known.append(answer)

    @rule(data=st.data(), item=items)
    def delete(self, data: st.DataObject, item: Item) -> None:
        demand = data.draw(demands_for(item))
        place = key_in_model(item)
        current = self.model.items.get(place)
        if current is not None and self.model.expired(current):
            # A lost reply would leave no trace that tells whether it happened.
            demand = None
        answer = self.write(
            lambda: self.model.delete(place, demand and demand.rule),
            lambda: self.store.delete(key_of(item), when=demand and demand.condition),
        )
        assert answer is None or answer == current

    @initialize(put=st.lists(items, min_size=4, max_size=8, unique_by=key_in_model), life=lives)
    def fill(self, put: list[Item], life: int | None) -> None:
        self.write_many([self._living(item, life if at % 2 else None) for at, item in enumerate(put)], [])
        self.known += put

    @rule(
        put=st.lists(items, max_size=6, unique_by=key_in_model),
        delete=st.lists(items, max_size=3, unique_by=key_in_model),
    )
    def write_many(self, put: list[Item], delete: list[Item]) -> None:
        places = {key_in_model(item) for item in put}
        gone = [item for item in delete if key_in_model(item) not in places]
        self.run(self.store.write_many(put=put, delete=[key_of(item) for item in gone]))
        self.model.apply(*(ModelWrite(key_in_model(item), item) for item in put))
        self.model.apply(*(ModelWrite(key_in_model(item), None) for item in gone))

    @rule(data=st.data(), chosen=st.lists(items, min_size=2, max_size=4, unique_by=key_in_model))
    def transact(self, data: st.DataObject, chosen: list[Item]) -> None:
        plans: list[ModelWrite] = []
        refusals: list[tuple[str | None, Item | None]] = []
        steps: list[Step] = []
        for item in chosen:
            plan, step = self._step(data, item)
            steps.append(step)
            try:
                plans.append(plan())
                refusals.append((None, None))
            except ModelConditionFailed as refused:
                refusals.append(("condition_failed", refused.current))
        self.tokens += 1
        token = f"token-{self.tokens}"
        if any(code for code, _ in refusals):
            problem = self.run(self._cancelled(token, steps))
            assert [(reason.code, reason.current) for reason in problem.reasons] == refusals
        else:
            self.run(self._together(token, steps))
            self.model.apply(*plans)
            self.last = (token, steps, self.clock.now())

    def _step(self, data: st.DataObject, item: Item) -> tuple[Callable[[], ModelWrite], Step]:
        demand = data.draw(demands_for(item))
        condition, wanted = (demand.condition, demand.rule) if demand else (None, None)
        key, place, model = key_of(item), key_in_model(item), self.model
        kind = data.draw(st.sampled_from(["put", "if_absent", "update", "delete", "check", "check_absent", "save"]))
        if kind == "update":
            change = data.draw(changes_for(item))
            return (
                lambda: model.update(place, change.change, wanted),
                lambda tx: tx.update(key, *change.edits, when=condition),
            )
        if kind == "delete":
            return lambda: model.delete(place, wanted), lambda tx: tx.delete(key, when=condition)
        if kind == "check":
            return lambda: model.check(place, True, wanted), lambda tx: tx.check(key, condition)
        if kind == "check_absent":
            return lambda: model.check(place, False, None), lambda tx: tx.check_absent(key)
        states = [it for it in self.known if key_in_model(it) == place]
        if kind == "save" and states:
            was = data.draw(st.sampled_from(states))
            now = data.draw(changes_for(was)).change(was)
            if now != was:
                return lambda: model.save(now, was), lambda tx: tx.save(now, was=was)
        absent = kind == "if_absent"
        living = self._living(item, data.draw(lives))
        return (
            lambda: model.put(living, absent, wanted),
            lambda tx: tx.put(living, if_absent=absent, when=condition),
        )

    async def _together(self, token: str, steps: list[Step]) -> None:
        async with self.store.transact(token) as tx:
            for step in steps:
                step(tx)

    async def _cancelled(self, token: str, steps: list[Step]) -> TransactionCancelled:
        try:
            await self._together(token, steps)
        except TransactionCancelled as problem:
            return problem
        raise AssertionError("The store carried out a transaction that the model refuses.")

    @precondition(lambda self: self.last is not None and self.last[2] == self.clock.now())
    @rule()
    def repeat_a_transaction(self) -> None:
        assert self.last is not None
        self.run(self._together(self.last[0], self.last[1]))

    # Time

    @rule(seconds=st.integers(1, 6))
    def advance(self, seconds: int) -> None:
        self.run(self.clock.advance(seconds))
        self.model.now += seconds

    @rule()
    def sweep(self) -> None:
        swept = self.model.sweep() if "sweeping" in self.kind.capabilities else 0
        assert self.run(self.store.sweep()) == swept

    @rule()
    def reopen(self) -> None:
        self.run(self.store.close())
        self.store = self.run(self.location.open((pieces,), self.clock))
