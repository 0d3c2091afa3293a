"""What each access pattern of the drawing game costs, on both stores that count."""

from tests.drawing.conftest import TABLES
from tests.drawing.costs import CASES
from tests.spending import budgets, spent
from zataku.drawing.design import esiritori
from zataku.table import Budget, Store
from zataku.table.entity import binding_of

BUDGETS = budgets(TABLES)


def test_every_pattern_has_a_case():
    assert CASES.keys() == BUDGETS.keys()


async def emptied(store: Store) -> Store:
    keys = [binding_of(type(found)).key_of(found) async for found in store.scan(esiritori)]
    await store.write_many(delete=keys)
    return store


async def test_a_pattern_costs_what_its_budget_says(priced: Store):
    declared = {name: Budget(reads=it.reads, writes=it.writes) for name, it in BUDGETS.items() if it is not None}
    assert {name: await spent(await emptied(priced), case) for name, case in CASES.items()} == declared
