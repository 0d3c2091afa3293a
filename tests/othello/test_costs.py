"""Every access pattern costs what it says."""

import pytest

from tests.othello.costs import AI_CHANGE, AI_VOTE, CASES
from tests.spending import budgets, spent
from zataku.othello import writes
from zataku.othello.design import board_game
from zataku.table import Budget, Store

assert writes.cast_vote.facts.name in board_game.writes
DECLARED = budgets([board_game])


def test_every_pattern_has_a_budget_and_a_case():
    assert set(CASES) == set(DECLARED)
    assert all(budget is not None and budget.of for budget in DECLARED.values())


@pytest.mark.parametrize("name", CASES)
async def test_a_pattern_costs_its_budget(priced: Store, name: str):
    budget = DECLARED[name]
    assert budget is not None
    assert await spent(priced, CASES[name]) == Budget(reads=budget.reads, writes=budget.writes)


async def test_a_vote_for_a_candidate_of_the_ai_costs_seven_units(priced: Store):
    assert await spent(priced, AI_VOTE) == Budget(writes=7)


async def test_changing_a_vote_between_candidates_of_the_ai_costs_nine_units(priced: Store):
    assert await spent(priced, AI_CHANGE) == Budget(writes=9)
