"""What each access pattern of a design costs, held against its budget."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from zataku.table import Budget, Store, Table

# Prepares the case that the budget speaks of, and gives the call to be paid for.
Case = Callable[[Store], Awaitable[Callable[[], Awaitable[Any]]]]


def budgets(tables: Sequence[Table]) -> dict[str, Budget | None]:
    """The budget of every declared read and write, by name."""
    return {
        name: made.facts.budget for table in tables for name, made in (*table.patterns.items(), *table.writes.items())
    }


async def spent(store: Store, case: Case) -> Budget:
    """What the call of a case used."""
    call = await case(store)
    with store.measured("the case") as bill:
        await call()
    return Budget(reads=bill.reads, writes=bill.writes)
