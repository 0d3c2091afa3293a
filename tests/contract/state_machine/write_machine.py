"""State machine that makes the same random writes to a store and to the model: both accept or both refuse them."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from msgspec.structs import replace

from tests.contract.state_machine.model import Item, Model, ModelConditionFailed, ModelWrite, fits, key_in_model
from tests.contract.state_machine.operations import changes_for, conditions_for, items, key_of, lifetimes
from tests.contract.stores import StoreKind
from tests.support.designs.pieces import pieces
from tests.support.manual_clock import ManualClock
from zataku.table import ConditionFailed, OutOfBounds, ResultUnknown, Transaction, TransactionCancelled

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
        self.known_items: list[Item] = []
        self.last_transaction: tuple[str, list[Step], float] | None = None

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a call of the store to its end. `Runner.run` handles signals, which takes longer than the call."""
        return self.runner.get_loop().run_until_complete(call)

    def teardown(self) -> None:
        """Close the store and delete its files."""
        self.run(self.store.close())
        self.run(self.location.clear())
        self.runner.close()
        self.folder.cleanup()

    # Writes

    def write(self, plan: Callable[[], ModelWrite], call: Callable[[], Awaitable[object]]) -> object:
        """Write to the store and to the model: both accept it, or both refuse it and return the same current item."""
        try:
            planned = plan()
        except ModelConditionFailed as refused:
            self.run(self._assert_refused(call, refused))
            return None
        result = self.run(self._write_until_known(planned, call))
        self.model.apply(planned)
        return result

    async def _assert_refused(self, call: Callable[[], Awaitable[object]], refused: ModelConditionFailed) -> None:
        while True:
            try:
                await call()
            except (ConditionFailed, OutOfBounds) as problem:
                shown = problem.code, problem.current
                break
            except ResultUnknown:
                continue
            raise AssertionError(f"The store accepted a write that the model refuses: {refused.code} {refused.current}")
        assert shown == (refused.code, refused.current)

    async def _write_until_known(self, planned: ModelWrite, call: Callable[[], Awaitable[object]]) -> object:
        while True:
            try:
                return await call()
            except ResultUnknown:
                # The stored item shows whether the write happened.
                key, after = planned
                before = self.model.items.get(key)
                example = after or before
                if example is None or (after is None and self.model.alive(key) is None):
                    continue
                if await self.store.get(key_of(example), strong=True) == after and before != after:
                    return after if after is not None else before

    @rule(data=st.data(), item=items, lifetime=lifetimes, if_absent=st.booleans())
    def put(self, data: st.DataObject, item: Item, lifetime: int | None, if_absent: bool) -> None:
        condition = data.draw(conditions_for(item))
        item = self._expiring(item, lifetime)
        self.known_items.append(item)
        self.write(
            lambda: self.model.put(item, if_absent, condition and condition.holds),
            lambda: self.store.put(item, if_absent=if_absent, when=condition and condition.when),
        )

    def _expiring(self, item: Item, lifetime: int | None) -> Item:
        return item if lifetime is None else replace(item, until=self.model.now + lifetime)

    @rule(data=st.data(), item=items)
    def update(self, data: st.DataObject, item: Item) -> None:
        condition, change = data.draw(conditions_for(item)), data.draw(changes_for(item))
        key = key_in_model(item)
        result = self.write(
            lambda: self.model.update(key, change.apply, condition and condition.holds),
            lambda: self.store.update(key_of(item), *change.edits, when=condition and condition.when),
        )
        if result is not None:
            assert result == self.model.items[key]
            self.known_items.append(result)

    @precondition(lambda self: any(self.model.alive(key_in_model(item)) for item in self.known_items))
    @rule(data=st.data())
    def save(self, data: st.DataObject) -> None:
        was = data.draw(st.sampled_from([item for item in self.known_items if self.model.alive(key_in_model(item))]))
        now = data.draw(changes_for(was).filter(lambda change: fits(change.apply(was)))).apply(was)
        result = self.write(lambda: self.model.save(now, was), lambda: self.store.save(now, was=was))
        if result is not None:
            self.known_items.append(result)

    @rule(data=st.data(), item=items)
    def delete(self, data: st.DataObject, item: Item) -> None:
        condition = data.draw(conditions_for(item))
        key = key_in_model(item)
        current = self.model.items.get(key)
        if current is not None and self.model.expired(current):
            # After a lost reply nothing would show whether the delete happened.
            condition = None
        result = self.write(
            lambda: self.model.delete(key, condition and condition.holds),
            lambda: self.store.delete(key_of(item), when=condition and condition.when),
        )
        assert result is None or result == current

    @initialize(put=st.lists(items, min_size=4, max_size=8, unique_by=key_in_model), lifetime=lifetimes)
    def fill(self, put: list[Item], lifetime: int | None) -> None:
        self.write_many([self._expiring(item, lifetime if at % 2 else None) for at, item in enumerate(put)], [])
        self.known_items += put

    @rule(
        put=st.lists(items, max_size=6, unique_by=key_in_model),
        delete=st.lists(items, max_size=3, unique_by=key_in_model),
    )
    def write_many(self, put: list[Item], delete: list[Item]) -> None:
        keys = {key_in_model(item) for item in put}
        deleted = [item for item in delete if key_in_model(item) not in keys]
        self.run(self.store.write_many(put=put, delete=[key_of(item) for item in deleted]))
        self.model.apply(*(ModelWrite(key_in_model(item), item) for item in put))
        self.model.apply(*(ModelWrite(key_in_model(item), None) for item in deleted))

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
                refusals.append((refused.code, refused.current))
        self.tokens += 1
        token = f"token-{self.tokens}"
        if any(code for code, _ in refusals):
            problem = self.run(self._expect_cancellation(token, steps))
            assert [(reason.code, reason.current) for reason in problem.reasons] == refusals
        else:
            self.run(self._transact(token, steps))
            self.model.apply(*plans)
            self.last_transaction = (token, steps, self.clock.now())

    def _step(self, data: st.DataObject, item: Item) -> tuple[Callable[[], ModelWrite], Step]:
        condition = data.draw(conditions_for(item))
        when, holds = condition or (None, None)
        key, model_key, model = key_of(item), key_in_model(item), self.model
        kind = data.draw(st.sampled_from(["put", "if_absent", "update", "delete", "check", "check_absent", "save"]))
        if kind == "update":
            change = data.draw(changes_for(item))
            return (
                lambda: model.update(model_key, change.apply, holds),
                lambda tx: tx.update(key, *change.edits, when=when),
            )
        if kind == "delete":
            return lambda: model.delete(model_key, holds), lambda tx: tx.delete(key, when=when)
        if kind == "check":
            return lambda: model.check(model_key, True, holds), lambda tx: tx.check(key, when)
        if kind == "check_absent":
            return lambda: model.check(model_key, False, None), lambda tx: tx.check_absent(key)
        states = [item for item in self.known_items if key_in_model(item) == model_key]
        if kind == "save" and states:
            was = data.draw(st.sampled_from(states))
            now = data.draw(changes_for(was).filter(lambda change: fits(change.apply(was)))).apply(was)
            if now != was:
                return lambda: model.save(now, was), lambda tx: tx.save(now, was=was)
        if_absent = kind == "if_absent"
        stored = self._expiring(item, data.draw(lifetimes))
        return (
            lambda: model.put(stored, if_absent, holds),
            lambda tx: tx.put(stored, if_absent=if_absent, when=when),
        )

    async def _transact(self, token: str, steps: list[Step]) -> None:
        async with self.store.transact(token) as tx:
            for step in steps:
                step(tx)

    async def _expect_cancellation(self, token: str, steps: list[Step]) -> TransactionCancelled:
        try:
            await self._transact(token, steps)
        except TransactionCancelled as problem:
            return problem
        raise AssertionError("The store accepted a transaction that the model refuses.")

    @precondition(lambda self: self.last_transaction is not None and self.last_transaction[2] == self.clock.now())
    @rule()
    def repeat_a_transaction(self) -> None:
        assert self.last_transaction is not None
        self.run(self._transact(self.last_transaction[0], self.last_transaction[1]))

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
