"""What each access pattern of a design costs, held against its budget."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from zataku.table import Budget, Store, Table
from zataku.table.entity import binding_of

# Prepares the case that the budget speaks of, and gives the call to be paid for.
Case = Callable[[Store], Awaitable[Callable[[], Awaitable[Any]]]]


def declared_budgets(tables: Sequence[Table]) -> dict[str, Budget | None]:
    """The budget of every declared read and write, by name."""
    return {
        name: made.facts.budget for table in tables for name, made in (*table.patterns.items(), *table.writes.items())
    }


async def measure_cost(store: Store, case: Case) -> Budget:
    """What the call of a case used."""
    call = await case(store)
    with store.measured("the case") as bill:
        await call()
    return Budget(reads=bill.reads, writes=bill.writes)


async def budget_mismatches(store: Store, cases: Mapping[str, Case]) -> dict[str, tuple[Budget, Budget | None]]:
    """The patterns that do not use exactly their budget, each with what it used and what it may use.

    One store serves all cases, emptied after each: a new one for each would take most of the time.
    """
    declared, found = declared_budgets(store.tables), dict[str, tuple[Budget, Budget | None]]()
    for name, case in cases.items():
        used, budget = await measure_cost(store, case), declared[name]
        if budget is None or (used.reads, used.writes) != (budget.reads, budget.writes):
            found[name] = used, budget
        left = [entity for table in store.tables async for entity in store.scan(table)]
        await store.write_many(delete=[binding_of(type(entity)).key_of(entity) for entity in left])
    return found
