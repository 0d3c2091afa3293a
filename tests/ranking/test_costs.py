"""Every access pattern costs exactly its budget."""

import pytest

from tests.ranking.costs import CASES
from tests.ranking.players import a_snapshot
from tests.support.cost_assertions import budget_mismatches
from zataku.table import Store


async def test_every_access_pattern_costs_its_budget(priced: Store):
    assert await budget_mismatches(priced, CASES) == {}


@pytest.mark.parametrize(
    ("ranks", "units"), [({}, 3), ({"level_rank": 100}, 4), ({"level_rank": 1, "power_rank": 1}, 5)]
)
async def test_a_snapshot_in_a_batch_costs_three_units_and_one_for_each_official_rank(
    priced: Store, ranks: dict[str, int], units: int
):
    snapshot = a_snapshot("456e7890-e89b-12d3-a456-426614174001", "57.25", "123456", name="달빛여우님", **ranks)
    with priced.measured("a snapshot") as consumed:
        await priced.write_many(put=[snapshot])
    assert consumed.writes == units
    with priced.measured("the same again") as second_write:
        await priced.write_many(put=[snapshot])
    assert second_write.writes == 1
