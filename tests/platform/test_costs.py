"""Every access pattern costs what its budget says."""

import pytest

from tests.platform.costs import ALSO, CASES, ME, SESSIONS, USER
from tests.platform.people import hashed
from tests.spending import overspent, spent
from zataku.platform.design import account, session
from zataku.table import Store


async def test_every_access_pattern_costs_its_budget(priced: Store):
    assert await overspent(priced, CASES) == {}


@pytest.mark.parametrize("name", ALSO)
async def test_the_other_case_that_a_budget_names_costs_as_much_as_it_says(name: str, priced: Store):
    case, reads, written = ALSO[name]
    used = await spent(priced, case)
    assert (used.reads, used.writes) == (reads, written)


async def test_telling_who_somebody_is_takes_one_call_and_two_units(priced: Store):
    await priced.write_many(put=[USER, SESSIONS[1]])
    with priced.measured("who is it") as bill:
        found = await priced.get_many([session(ME, hashed(1)), account(ME)])
    assert found == [SESSIONS[1], USER]
    assert (bill.reads, bill.writes) == (2, 0)
