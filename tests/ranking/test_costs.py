"""What every access pattern costs, to the unit."""

import pytest

from tests.ranking.costs import CASES
from tests.ranking.people import snap
from tests.spending import budgets, spent
from zataku.ranking import writes  # noqa: F401 - declares the writes
from zataku.ranking.design import TABLES
from zataku.table import Store

BUDGETS = budgets(TABLES)


def test_every_access_pattern_has_a_budget_and_a_case():
    assert set(CASES) == set(BUDGETS)
    assert None not in BUDGETS.values()


@pytest.mark.parametrize("name", CASES)
async def test_a_pattern_costs_what_it_says(priced_store: Store, name: str):
    budget, used = BUDGETS[name], await spent(priced_store, CASES[name])
    assert budget is not None
    assert (used.reads, used.writes) == (budget.reads, budget.writes)


@pytest.mark.parametrize(
    ("ranks", "units"), [({}, 3), ({"level_rank": 100}, 4), ({"level_rank": 1, "power_rank": 1}, 5)]
)
async def test_a_snapshot_in_a_batch_costs_three_units_and_one_for_each_official_rank(
    priced_store: Store, ranks: dict[str, int], units: int
):
    day = snap("456e7890-e89b-12d3-a456-426614174001", "57.25", "123456", name="달빛여우님", **ranks)
    with priced_store.measured("a snapshot") as bill:
        await priced_store.write_many(put=[day])
    assert bill.writes == units
    with priced_store.measured("the same again") as again:
        await priced_store.write_many(put=[day])
    assert again.writes == 1
