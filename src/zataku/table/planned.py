"""Carrying out a plan: the cheapest call of a store that does it."""

from typing import TYPE_CHECKING, Any, TypeVar

from zataku.table.entity import Entity
from zataku.table.plan import Plan, Step, lone_check
from zataku.table.transaction import Transaction

if TYPE_CHECKING:
    from zataku.table.store import Store

E = TypeVar("E", bound=Entity)


async def carried_out(store: "Store", plan: Plan[E], token: str | None) -> E | None:
    """The first item after the plan was carried out, where that is known."""
    with store.measured(plan.label):
        if len(plan.steps) == 1:
            return await _alone(store, plan.steps[0])
        async with store.transact(token) as tx:
            results = [_add(tx, step) for step in plan.steps]
        return results[0]


async def _alone(store: "Store", step: Step[E]) -> E | None:
    match step.verb, step.entity, step.was, step.key:
        case "put", entity, _, _ if entity is not None:
            return await store.put(entity, when=step.when, if_absent=step.if_absent)
        case "save", entity, was, _ if entity is not None and was is not None:
            return await store.save(entity, was=was)
        case "update", _, _, key if key is not None:
            return await store.update(key, *step.edits, when=step.when)
        case "delete", _, _, key if key is not None:
            return await store.delete(key, when=step.when)
        case _:
            raise lone_check(step)


def _add(tx: Transaction, step: Step[Any]) -> Any:
    match step.verb, step.entity, step.was, step.key:
        case "put", entity, _, _ if entity is not None:
            tx.put(entity, when=step.when, if_absent=step.if_absent)
            return entity
        case "save", entity, was, _ if entity is not None and was is not None:
            return tx.save(entity, was=was)
        case "update", _, _, key if key is not None:
            tx.update(key, *step.edits, when=step.when)
        case "delete", _, _, key if key is not None:
            tx.delete(key, when=step.when)
        case "check", _, _, key if key is not None:
            tx.check(key, step.when)
        case _, _, _, key:
            assert key is not None
            tx.check_absent(key)
    return None
