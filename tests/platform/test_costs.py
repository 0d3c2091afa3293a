"""Every access pattern costs what its budget says."""

from tests.platform.costs import ALSO, CASES, ME, SESSIONS, USER
from tests.platform.items import hashed
from tests.support.cost_assertions import budget_mismatches, measure_cost
from zataku.platform.design import account, platform, session
from zataku.table import Store
from zataku.table.schema.entity import binding_of


async def test_every_access_pattern_costs_its_budget(priced: Store):
    assert await budget_mismatches(priced, CASES) == {}


async def test_the_other_cases_that_budgets_name_cost_as_much_as_they_say(priced: Store):
    for name, (case, reads, written) in ALSO.items():
        used = await measure_cost(priced, case)
        assert (used.reads, used.writes) == (reads, written), name
        left = [binding_of(type(each)).key_of(each) async for each in priced.scan(platform)]
        await priced.write_many(delete=left)


async def test_telling_who_somebody_is_takes_one_call_and_two_units(priced: Store):
    await priced.write_many(put=[USER, SESSIONS[1]])
    with priced.measured("who is it") as consumed:
        found = await priced.get_many([session(ME, hashed(1)), account(ME)])
    assert found == [SESSIONS[1], USER]
    assert (consumed.reads, consumed.writes) == (2, 0)
