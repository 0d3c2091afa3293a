"""Carrying out a plan: the cheapest call of a store that does it."""

from typing import TYPE_CHECKING, Any, TypeVar

from zataku.table.schema.entity import Entity
from zataku.table.schema.plan import Check, CheckAbsent, Delete, Plan, Put, Save, Step, Update
from zataku.table.store.transaction import Transaction

if TYPE_CHECKING:
    from zataku.table.store.store import Store

E = TypeVar("E", bound=Entity)


async def carried_out(store: "Store", plan: Plan[E], token: str | None, at: float | None) -> E | None:
    """The first item after the plan was carried out, where that is known."""
    with store.measured(plan.label):
        if len(plan.steps) == 1 and token is None:
            return await _alone(store, plan.steps[0])
        async with store.transact(token, at=at) as tx:
            results = [_add(tx, step) for step in plan.steps]
        return results[0]


async def _alone(store: "Store", step: Step[E]) -> E | None:
    match step:
        case Put():
            return await store.put(step.entity, when=step.when, if_absent=step.if_absent)
        case Save():
            return await store.save(step.entity, was=step.was)
        case Update():
            return await store.update(step.key, *step.edits, when=step.when)
        case Delete():
            return await store.delete(step.key, when=step.when)
        case Check() | CheckAbsent():  # pragma: no cover - no plan consists of these alone
            raise AssertionError(step)


def _add(tx: Transaction, step: Step[Any]) -> Any:
    match step:
        case Put():
            tx.put(step.entity, when=step.when, if_absent=step.if_absent)
            return step.entity
        case Save():
            return tx.save(step.entity, was=step.was)
        case Update():
            tx.update(step.key, *step.edits, when=step.when)
        case Delete():
            tx.delete(step.key, when=step.when)
        case Check():
            tx.check(step.key, step.when)
        case CheckAbsent():
            tx.check_absent(step.key)
    return None
