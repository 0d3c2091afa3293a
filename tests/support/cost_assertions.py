"""Measured cost of each access pattern of a design, compared with its declared budget."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from zataku.table import Budget, Store, Table
from zataku.table.schema.entity import binding_of

# Sets up the situation that the budget is declared for and returns the call to measure.
Case = Callable[[Store], Awaitable[Callable[[], Awaitable[Any]]]]


def declared_budgets(tables: Sequence[Table]) -> dict[str, Budget | None]:
    """The budget of every declared read and write, by name."""
    return {
        name: pattern.metadata.budget
        for table in tables
        for name, pattern in (*table.patterns.items(), *table.writes.items())
    }


async def measure_cost(store: Store, case: Case) -> Budget:
    """The units that the call of a case used."""
    call = await case(store)
    with store.measured("the case") as consumed:
        await call()
    return Budget(reads=consumed.reads, writes=consumed.writes)


async def budget_mismatches(store: Store, cases: Mapping[str, Case]) -> dict[str, tuple[Budget, Budget | None]]:
    """The patterns whose cost is not exactly their budget, each with its measured cost and its budget.

    All cases share one store, which is emptied after each: opening a store for each case would dominate the run time.
    """
    declared, mismatches = declared_budgets(store.tables), dict[str, tuple[Budget, Budget | None]]()
    for name, case in cases.items():
        used, budget = await measure_cost(store, case), declared[name]
        if budget is None or (used.reads, used.writes) != (budget.reads, budget.writes):
            mismatches[name] = used, budget
        entities = [entity for table in store.tables async for entity in store.scan(table)]
        await store.write_many(delete=[binding_of(type(entity)).key_of(entity) for entity in entities])
    return mismatches
