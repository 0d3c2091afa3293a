"""Every access pattern costs what it says."""

from tests.othello.costs import AI_CHANGE, AI_VOTE, CASES
from tests.spending import overspent, spent
from zataku.table import Budget, Store


async def test_every_access_pattern_costs_its_budget(priced: Store):
    assert await overspent(priced, CASES) == {}


async def test_a_vote_for_a_candidate_of_the_ai_costs_seven_units(priced: Store):
    assert await spent(priced, AI_VOTE) == Budget(writes=7)


async def test_changing_a_vote_between_candidates_of_the_ai_costs_nine_units(priced: Store):
    assert await spent(priced, AI_CHANGE) == Budget(writes=9)
