"""The cost of each access pattern of the drawing game, on both metered stores."""

from tests.drawing.costs import CASES
from tests.support.cost_assertions import budget_mismatches
from zataku.table import Store


async def test_every_access_pattern_costs_its_budget(priced: Store):
    assert await budget_mismatches(priced, CASES) == {}
